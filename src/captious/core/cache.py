"""Cache of files that are derived from others.

A cached file is used only if its checksums are right, or if it has not changed since they were last
verified. A damaged file is rebuilt, by one process at a time. Without a writable cache folder, files are
built for one run in a temporary folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from captious.core.cache_files import DIGESTS, Kind, mark_used, tidy
from captious.core.errors import InputError, WriteError
from captious.core.writing import atomic_write

__all__ = [
    "CacheWarning",
    "atomic_write",
    "cache_directory",
    "content_digest",
    "derived",
    "lock",
    "stamp",
    "warn_once",
]

T = TypeVar("T")


class CacheWarning(UserWarning):
    """A derived file cannot be cached, so the next run will be slower."""


_issued: set[str] = set()


def warn_once(message: str, topic: str | None = None) -> None:
    """Warn once per process and topic. The default topic is the message."""
    if (topic or message) not in _issued:
        _issued.add(topic or message)
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
