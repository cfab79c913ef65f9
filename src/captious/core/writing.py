"""Atomic writing of files. Links are followed; pipes and devices are written to, not replaced."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from captious.core.errors import WriteError, printable

#: File name of standard input and output.
STANDARD = "-"

_STDOUT = {STANDARD, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
#: Error codes of a full disk, a quota and a limit on file sizes.
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
#: Age in seconds at which a temporary file counts as abandoned, on systems without file locks.
_OLD = 86_400.0
#: Prefix of folders for temporary files, and the file in them that is locked.
_SCRATCH, _SCRATCH_LOCK = ".captious-", "lock"


def is_standard(path: str | os.PathLike[str] | None) -> bool:
    """Whether a path means standard input or output."""
    return path is not None and os.fspath(path) == STANDARD


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path. Its content becomes that of ``path`` if the block succeeds, and is
    removed if it fails.

    A regular file is replaced in one step and keeps its permissions. A link stays, and its target is
    replaced. A pipe, a device or standard output (``-``) receives the content when it is complete.
    A missing folder, a folder in place of a file and a full disk raise `WriteError`.
    """
    name = os.fspath(path)
    try:
        writer = (
            _write_stream(name) if _is_stream(name) else _replace_file(Path(os.path.realpath(name)), name)
        )
        with writer as temporary:
            yield temporary
    except OSError as error:
        # Other errors inside the block can concern other files.
        if error.errno not in _NO_ROOM:
            raise
        if is_standard(name):
            raise WriteError(f"cannot write to standard output: {error.strerror}") from error
        raise WriteError(f"cannot write {printable(name)}: {error.strerror}; nothing was written") from error


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise `WriteError` if a file cannot be written there. Nothing is created."""
    name = os.fspath(path)
    if not _is_stream(name):
        _check_target(Path(os.path.realpath(name)), name)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise `WriteError` if files cannot be written into that folder. It may be new, its parent may not."""
    folder, name = Path(path), os.fspath(path)
    try:
        if folder.exists():
            if not folder.is_dir():
                raise WriteError(f"cannot write into {printable(name)}: it is a file; name a folder")
            if not os.access(folder, os.W_OK):
                raise PermissionError(errno.EACCES, "it is write-protected")
        else:
            _check_parent(Path(os.path.abspath(name)), name)  # noqa: PTH100 - resolves no links
    except (OSError, ValueError) as error:
        if isinstance(error, WriteError):
            raise
        raise _refused(name, error) from error


def make_folder(path: str | os.PathLike[str]) -> None:
    """Create a folder unless it exists. Its parent must exist, so that a misspelt path is noticed."""
    check_folder(path)
    Path(path).mkdir(exist_ok=True)


def _check_parent(target: Path, name: str) -> None:
    parent = target.parent
    if not parent.exists():
        raise WriteError(
            f"cannot write {printable(name)}: there is no folder {printable(str(parent))}; "
            "create it, or correct the path"
        )
    if not parent.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{printable(str(parent))} is not a folder")
    if not os.access(parent, os.W_OK):
        raise PermissionError(errno.EACCES, f"the folder {printable(str(parent))} is write-protected")


def _check_target(target: Path, name: str) -> int | None:
    """Check that a regular file can be written. Return the permissions of an existing one."""
    try:
        _check_parent(target, name)
        if not target.exists():
            return None
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "it is write-protected")
        return target.stat().st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, WriteError):
            raise
        raise _refused(name, error) from error


def _is_stream(name: str) -> bool:
    """Whether a path is a pipe, a device, a socket or standard output, which must not be replaced."""
    if name in _STDOUT or _DESCRIPTOR.fullmatch(name):
        return True
    try:
        kind = Path(name).stat().st_mode
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise _refused(name, error) from error
    if stat.S_ISDIR(kind):
        raise WriteError(f"cannot write {printable(name)}: it is a folder; name a file")
    return not stat.S_ISREG(kind)


def _refused(name: str, error: OSError | ValueError) -> WriteError:
    reason = getattr(error, "strerror", None) or str(error)
    return WriteError(f"cannot write {printable(name)[:200]}: {reason}")


# Pipes and devices --------------------------------------------------------------------------------


@contextmanager
def _write_stream(name: str) -> Iterator[Path]:
    handle, spool = tempfile.mkstemp(prefix="captious-", suffix=".tmp")
    os.close(handle)
    try:
        yield Path(spool)
        with Path(spool).open("rb") as source, _stream(name) as target:
            while block := memoryview(source.read(1 << 20)):
                # With PYTHONUNBUFFERED, standard output may take a part only.
                while block:
                    block = block[target.write(block) :]
            target.flush()
    finally:
        Path(spool).unlink(missing_ok=True)


@contextmanager
def _stream(name: str) -> Iterator[BinaryIO]:
    if name in _STDOUT:
        sys.stdout.flush()
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is not None:
            yield buffer
            return
        with tempfile.TemporaryFile() as held:  # a text-only replacement of stdout, as in notebooks
            yield held
            held.seek(0)
            sys.stdout.write(held.read().decode("utf-8", "replace"))
        return
    descriptor = _DESCRIPTOR.fullmatch(name)
    try:
        # An open descriptor is duplicated. Opening it again would truncate the file.
        opened = os.dup(int(descriptor[1])) if descriptor else os.open(name, os.O_WRONLY)
    except OSError as error:
        raise _refused(name, error) from error
    with os.fdopen(opened, "wb") as target:
        yield target


# Regular files ------------------------------------------------------------------------------------


@contextmanager
def _replace_file(target: Path, name: str) -> Iterator[Path]:
    existing = _check_target(target, name)
    try:
        _remove_abandoned(target)
        handle, temporary = _temporary(target)
    except (OSError, ValueError) as error:
        raise _refused(name, error) from error
    try:
        yield temporary
        # The block wrote through another handle. Late errors of a full disk appear here.
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        if existing is not None:
            temporary.chmod(stat.S_IMODE(existing))
        if os.name != "posix":  # pragma: no cover - Windows renames no open file
            os.close(handle)
            handle = -1
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
        if handle >= 0:
            os.close(handle)


def _stem(target: Path) -> str:
    return f".{target.name.encode('utf-8', 'surrogateescape')[:100].decode('utf-8', 'ignore')}."


def _temporary(target: Path) -> tuple[int, Path]:
    """Create a file beside the target with the usual permissions, locked while its handle is open."""
    while True:
        path = target.with_name(f"{_stem(target)}{secrets.token_hex(6)}.tmp")
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o666)
        except FileExistsError:  # pragma: no cover - one chance in 2**48
            continue
        try:
            if os.name != "posix" or (_locked(handle) and os.fstat(handle).st_nlink):
                return handle, path
        except OSError:
            path.unlink(missing_ok=True)
            os.close(handle)
            raise
        os.close(handle)  # another process removed it as stale between the two steps


def _locked(handle: int) -> bool:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files of this target that killed processes left."""
    stem = _stem(target)
    with suppress(OSError):
        for entry in list(os.scandir(target.parent)):
            if entry.name.startswith(stem) and entry.name.endswith(".tmp"):
                with suppress(OSError):
                    remove_stale(entry.path)


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Create a folder for temporary files, and remove those that killed processes left in ``parent``.

    A process holds a lock in its folder while it runs.
    """
    for old in parent.glob(f"{_SCRATCH}*"):
        with suppress(OSError):
            handle = os.open(old / _SCRATCH_LOCK, os.O_RDONLY)
            try:
                if os.name == "posix":
                    import fcntl

                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(old, ignore_errors=True)
            finally:
                os.close(handle)
    folder = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=parent)).resolve()
    try:
        with (folder / _SCRATCH_LOCK).open("wb") as lock:
            if os.name == "posix":
                _locked(lock.fileno())
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale(path: str) -> None:
    """Remove a temporary file unless a process is writing it."""
    if os.name == "posix":
        import fcntl

        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            Path(path).unlink()
        finally:
            os.close(handle)
    elif time.time() - Path(path).stat().st_mtime > _OLD:  # pragma: no cover - Windows
        Path(path).unlink()
