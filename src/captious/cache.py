"""Where derived files live, and how they are written: atomically, and by one process at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from captious.errors import InputError


def cache_directory() -> Path:
    """The user's cache folder for captious (``CAPTIOUS_CACHE``, else the platform's usual place)."""
    given = os.environ.get("CAPTIOUS_CACHE")
    if given:
        return Path(given).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base).expanduser() if base else Path.home() / ".cache") / "captious"


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its name when the block succeeds, and vanishes when it fails."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if os.name == "posix":
            # mkstemp makes private files; an output should have the permissions of any other new file.
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


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
