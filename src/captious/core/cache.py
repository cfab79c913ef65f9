"""Cache of files that are derived from others.

A cached file is used only if its checksums are right, or if it has not changed since they were last
verified. A damaged file is rebuilt, by one process at a time. Without a writable cache folder, files are
built for one run in a temporary folder.

The folder can hold files of other programs. Only files with names that this or an earlier version of captious
writes are listed or removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from captious.core import limits
from captious.core.errors import InputError, WriteError
from captious.core.writing import atomic_write, remove_stale

T = TypeVar("T")


class Kind(NamedTuple):
    """One kind of cached file, ``NAME/KEY-vVERSION``.

    The mtime of the empty ``….lock`` beside it is the time of last use.
    """

    name: str
    #: Incremented whenever the layout of the files changes.
    version: int
    purpose: str

    def file(self, key: str) -> str:
        """Return the name of a file in the cache folder. ``key`` identifies its source."""
        return f"{self.name}/{key}-v{self.version}"


PARAPHRASES = Kind("paraphrases", 5, "METEOR's paraphrase table, indexed")
VECTORS = Kind("vectors", 4, "word vectors, converted")
ENCODERS = Kind("sentences", 2, "sentence encoders, unpacked")
GRAMMAR = Kind("grammar", 2, "the exact parser's grammar, as arrays")
DIGESTS = Kind("digests", 1, "digests of files, valid until the files change")
OLD = Kind("old", 0, "files of earlier versions and of interrupted runs, no longer used")
KINDS = (PARAPHRASES, VECTORS, ENCODERS, GRAMMAR, DIGESTS, OLD)

_DERIVED = (PARAPHRASES, VECTORS, ENCODERS, GRAMMAR)
_CURRENT = {kind: re.compile(rf"[0-9a-f-]{{8,64}}-v{kind.version}(\.lock)?") for kind in _DERIVED} | {
    DIGESTS: re.compile(r"[0-9a-f]{3}\.json")
}
#: Names of files of earlier versions, by folder ('' for the cache folder itself).
_OUTDATED = {
    "": (
        r"meteor-paraphrases-v\d+-[0-9a-f]{8}-\d+\.index|meteor-lists-v1-[0-9a-f]{32}\.table"
        r"|synonyms-v1-[0-9a-f]{32}\.table"
        r"|parser-v\d+-[0-9a-f]{32}\.model|ptb-v1-[0-9a-f]{16}\.table|grammar-[0-9a-f]{16}\.bin"
    ),
    "kernels": r"\w+-[0-9a-f]{16}-[0-9a-f]{16}\.kernel",
    "digests": r"[0-9a-f]{24}\.json|[0-9a-f]{3}\.json",
    **{kind.name: r"[0-9a-f-]{8,64}-v\d+" for kind in _DERIVED},
}
_OLD = {
    folder: re.compile(rf"({names})(\.lock)?|\.({names})\.[0-9a-f]{{12}}\.tmp")
    for folder, names in _OUTDATED.items()
}


class CachedFile(NamedTuple):
    """A file in the cache folder."""

    path: Path
    kind: Kind
    size: int
    #: Time of last use, in seconds since 1970.
    used: float

    def remove(self) -> None:
        """Remove the file and its lock, unless it is a temporary file that a process is writing."""
        with suppress(OSError):
            if self.path.suffix == ".tmp":
                remove_stale(str(self.path))
                return
            self.path.unlink()
            _lock_of(self.path).unlink(missing_ok=True)


def entries(folder: Path) -> list[CachedFile]:
    """Return all files of captious in a cache folder. Locks are listed only if their file is gone."""
    return [entry for name in _OLD for entry in _entries(folder, name)]


def _entries(folder: Path, name: str) -> Iterator[CachedFile]:
    place = folder / name
    if name and place.is_symlink():  # it can lead to files of other programs
        return
    with suppress(OSError), os.scandir(place) as listing:
        files = {file.name: file for file in listing if file.is_file(follow_symlinks=False)}
        for file in files.values():
            kind = _kind(name, file.name)
            if kind is None or (file.name.endswith(".lock") and file.name.removesuffix(".lock") in files):
                continue
            lock = files.get(file.name + ".lock", file)
            yield CachedFile(
                place / file.name, kind, file.stat().st_size, max(file.stat().st_mtime, lock.stat().st_mtime)
            )


def _kind(folder: str, name: str) -> Kind | None:
    for kind, pattern in _CURRENT.items():
        if kind.name == folder and pattern.fullmatch(name):
            return kind
    return OLD if _OLD[folder].fullmatch(name) else None


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def clear(folder: Path, kinds: Sequence[Kind] = KINDS) -> list[CachedFile]:
    """Remove all files of some kinds and return them."""
    removed = [entry for entry in entries(folder) if entry.kind in kinds]
    for entry in removed:
        entry.remove()
    for subfolder in {entry.path.parent for entry in removed} - {folder}:
        with suppress(OSError):  # it holds other files
            subfolder.rmdir()
    return removed


def mark_used(path: Path) -> None:
    """Set the time of last use to now."""
    with suppress(OSError):
        os.utime(_lock_of(path))


def tidy(folder: Path, keep: Path) -> None:
    """Remove files of earlier versions, then the least recently used ones down to
    ``CAPTIOUS_CACHE_LIMIT``. ``keep`` stays."""
    clear(folder, [OLD])
    derived = sorted(
        (entry for entry in entries(folder) if entry.kind in _DERIVED), key=lambda entry: entry.used
    )
    total = sum(entry.size for entry in derived)
    for entry in derived:
        if total <= limits.CACHE.value():
            break
        if entry.path != keep:
            entry.remove()
            total -= entry.size


class CacheWarning(UserWarning):
    """A derived file cannot be cached, so the next run will be slower."""


_issued: set[str] = set()


def warn_once(message: str) -> None:
    """Warn once per process."""
    if message not in _issued:
        _issued.add(message)
        warnings.warn(CacheWarning(message), stacklevel=3)


def cache_directory() -> Path | None:
    """Return the cache folder: ``CAPTIOUS_CACHE``, else the platform's usual place, or None if the user
    has no home."""
    configured = os.environ.get("CAPTIOUS_CACHE")
    try:
        if configured:
            return Path(configured).expanduser()
        base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        return (Path(base).expanduser() if base else Path.home() / ".cache") / "captious"
    except RuntimeError:  # the user has no home
        return None


@lru_cache(maxsize=1)
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="captious-", ignore_cleanup_errors=True)


def derived(
    kind: Kind, key: str, what: str, load: Callable[[Path], T | None], make: Callable[[Path], None]
) -> T:
    """Load a derived file from the cache, and build it first if it is missing or damaged.

    ``key`` identifies the source of the file and ``what`` names it in messages. ``load`` returns None
    for a missing or damaged file, and ``make`` writes it. If the cache cannot be written, the file is
    built for this run only, with a warning.
    """
    folder, name = cache_directory(), kind.file(key)
    if folder is None:
        why: object = "there is no home folder"
    else:
        path = folder / name
        loaded = load(path)
        if loaded is not None:
            mark_used(path)
            return loaded
        try:
            with lock(path.with_name(path.name + ".lock")):
                # Another process may have built it while this one waited.
                loaded = load(path)
                if loaded is None:
                    make(path)
                    loaded = load(path)
            tidy(folder, path)
        except (OSError, WriteError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or error
        else:
            if loaded is not None:
                return loaded
            why = f"{path} cannot be read back"
    warn_once(
        f"{what} cannot be cached ({why}), so every run repeats the work; set CAPTIOUS_CACHE to a writable "
        "folder"
    )
    path = Path(_temporary_folder().name) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    loaded = load(path)
    if loaded is None:
        make(path)
        loaded = load(path)
    if loaded is None:
        raise InputError(f"{what}: {path} is damaged right after it was written; check the disk")
    return loaded


def stamp(path: Path) -> str:
    """Return a text that differs after every change of a file, from its metadata alone.

    It includes the ctime, which programs cannot set back as they can the mtime.
    """
    status = path.stat()
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}"


def content_digest(path: Path) -> str:
    """Return the digest of a file's content (32 hexadecimal digits). It is cached until the file changes."""
    try:
        before = stamp(path)
        cached = remembered(path)
        if cached is not None:
            return cached
        state = hashlib.blake2b(digest_size=16)
        with path.open("rb") as handle:
            while block := handle.read(1 << 20):
                state.update(block)
        digest = state.hexdigest()
        if stamp(path) == before:
            remember(path, digest)
        return digest
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def remember(path: Path, digest: str) -> None:
    """Cache the digest of a file that was just read or written as a whole, if the cache can be written."""
    note = _note_of(path)
    if note is not None:
        with suppress(OSError, WriteError):
            note.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(note) as temporary:
                temporary.write_text(
                    json.dumps({"path": str(path.resolve()), "stamp": stamp(path), "digest": digest})
                )


def remembered(path: Path) -> str | None:
    """Return the cached digest of a file, or None if the file has changed since."""
    note = _note_of(path)
    if note is None:
        return None
    try:
        content = json.loads(note.read_text())
        if content["stamp"] == stamp(path) and content["path"] == str(path.resolve()):
            digest = str(content["digest"])
            return digest if len(digest) == 32 and set(digest) <= set("0123456789abcdef") else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def _note_of(path: Path) -> Path | None:
    folder = cache_directory()
    # Several files can share a note, which holds the path of its file. So there are at most 4096 notes.
    name = hashlib.blake2b(os.fsencode(path.resolve()), digest_size=2).hexdigest()[:3]
    return None if folder is None else folder / DIGESTS.name / f"{name}.json"


@contextmanager
def lock(path: str | Path) -> Iterator[None]:
    """Hold an inter-process lock on ``path``, an empty file created for it, while the block runs."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("a+b") as handle:
        if os.name == "posix":
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(handle, fcntl.LOCK_UN)
        else:  # pragma: no cover - Windows
            import msvcrt

            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
            try:
                yield
            finally:
                handle.seek(0)
                msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]
