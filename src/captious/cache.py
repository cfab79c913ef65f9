"""Files that are derived from others and kept: where they live, how one process at a time makes them, and whom to trust.

A kept file is used only if its content is what was written: its checksums say so, or it has not been touched since they
did. A bad one is made again. Where nothing can be kept, things are made for one run in a temporary folder.
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

from captious.errors import InputError, WriteError
from captious.writing import atomic_write

__all__ = ["CacheWarning", "atomic_write", "cache_directory", "content_digest", "derived", "lock", "stamp", "warn_once"]

Made = TypeVar("Made")


class CacheWarning(UserWarning):
    """Something could not be kept for the next run, so that it will be slower than it need be."""


_said: set[str] = set()


def warn_once(message: str, topic: str | None = None) -> None:
    """Warn, once in the life of the process for each topic (by default, for each message)."""
    if (topic or message) not in _said:
        _said.add(topic or message)
        warnings.warn(CacheWarning(message), stacklevel=3)


def cache_directory() -> Path | None:
    """The user's cache folder for captious (``CAPTIOUS_CACHE``, else the platform's usual place); nothing without a home."""
    given = os.environ.get("CAPTIOUS_CACHE")
    try:
        if given:
            return Path(given).expanduser()
        base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        return (Path(base).expanduser() if base else Path.home() / ".cache") / "captious"
    except RuntimeError:  # the user has no home
        return None


@lru_cache(maxsize=1)
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for this run; it goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="captious-", ignore_cleanup_errors=True)


def derived(name: str, what: str, load: Callable[[Path], Made | None], make: Callable[[Path], None]) -> Made:
    """Something kept in the cache under ``name``, made first if there is no good one.

    ``load`` opens it, or says that it is missing or bad (nothing); ``make`` writes it. ``what`` is for messages. Where the
    cache cannot be written it is made for this run only, with a warning.
    """
    folder = cache_directory()
    if folder is None:
        why: object = "there is no home folder"
    else:
        path = folder / name
        found = load(path)
        if found is not None:
            return found
        try:
            with lock(path.with_name(path.name + ".lock")):
                # Another process may have made it while this one waited.
                found = load(path)
                if found is None:
                    make(path)
                    found = load(path)
        except (OSError, WriteError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or error
        else:
            if found is not None:
                return found
            why = f"{path} cannot be read back"
    warn_once(
        f"{what} cannot be kept ({why}), so the work is done again in each run; set CAPTIOUS_CACHE to a folder that can be written"
    )
    path = Path(_temporary_folder().name) / name
    found = load(path)
    if found is None:
        make(path)
        found = load(path)
    if found is None:
        raise InputError(f"{what}: {path} is damaged just after being written; check the disk")
    return found


def stamp(path: Path) -> str:
    """What changes whenever somebody touches a file, at the price of one look at its directory entry.

    The time of the last change of the entry (ctime) cannot be set back as that of the content can.
    """
    found = path.stat()
    return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ctime_ns}-{found.st_ino}"


def content_digest(path: Path) -> str:
    """The digest of a file's whole content (32 hexadecimal digits), remembered for as long as nobody touches the file."""
    try:
        before = stamp(path)
        known = remembered(path)
        if known is not None:
            return known
        state = hashlib.blake2b(digest_size=16)
        with path.open("rb") as handle:
            while block := handle.read(1 << 20):
                state.update(block)
        found = state.hexdigest()
        if stamp(path) == before:
            remember(path, found)
        return found
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def remember(path: Path, digest: str) -> None:
    """Note the digest of a file that has just been read or written as a whole. Where it cannot be noted, nothing is lost."""
    note = _note_of(path)
    if note is not None:
        with suppress(OSError, WriteError), atomic_write(note) as temporary:
            temporary.write_text(json.dumps({"path": str(path.resolve()), "stamp": stamp(path), "digest": digest}))


def remembered(path: Path) -> str | None:
    """The digest that was noted, if nobody touched the file since."""
    note = _note_of(path)
    if note is None:
        return None
    try:
        found = json.loads(note.read_text())
        if found["stamp"] == stamp(path) and found["path"] == str(path.resolve()):
            digest = str(found["digest"])
            return digest if len(digest) == 32 and set(digest) <= set("0123456789abcdef") else None
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def _note_of(path: Path) -> Path | None:
    folder = cache_directory()
    name = hashlib.blake2b(os.fsencode(path.resolve()), digest_size=12).hexdigest()
    return None if folder is None else folder / "digests" / f"{name}.json"


@contextmanager
def lock(path: str | Path) -> Iterator[None]:
    """Hold an inter-process lock on ``path`` (a small file made for it) while the block runs."""
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
