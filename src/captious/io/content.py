"""From a path to bytes to text: gzip, encodings, and everything that can be wrong with a file as such."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from captious.errors import InputError, did_you_mean

_GZIP = b"\x1f\x8b"
_PICKLE = "a Python pickle, which is not read because it could run code; save the captions as JSON"
_OTHER_KINDS = {
    b"PK\x03\x04": "a ZIP archive (or a spreadsheet); unpack it, or save the sheet as CSV",
    b"BZh": "compressed with bzip2; decompress it, or use gzip",
    b"\xfd7zXZ": "compressed with xz; decompress it, or use gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; decompress it, or use gzip",
    b"\x80\x02": _PICKLE,
    b"\x80\x03": _PICKLE,
    b"\x80\x04": _PICKLE,
    b"\x80\x05": _PICKLE,
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


def read_bytes(path: Path) -> bytes:
    """The content of a file, decompressed when it is gzip."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file{_near(path)}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; give a file with captions") from None
    except (OSError, ValueError) as problem:  # no permission, a name too long, a NUL in the name
        reason = getattr(problem, "strerror", None) or str(problem)
        raise InputError(f"{str(path)[:200]!r} cannot be read: {reason}") from None
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except EOFError:
            raise InputError(
                f"{path}: the gzip file ends too early (truncated); copy or download it again"
            ) from None
        except (OSError, zlib.error) as problem:
            raise InputError(
                f"{path}: the gzip file is damaged ({problem}); copy or download it again"
            ) from None
    for magic, what in _OTHER_KINDS.items():
        if data.startswith(magic):
            raise InputError(f"{path} is {what}")
    if not data.strip():
        raise InputError(f"{path} is empty")
    return data


def decode(data: bytes, name: str) -> str:
    """UTF-8 text, with or without a byte order mark."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise InputError(
            f"{name}: not valid UTF-8 at byte {problem.start} (0x{data[problem.start]:02x}, line {line}): "
            f"{problem.reason}; save the file as UTF-8"
        ) from None
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError(f"{name} is empty")
    return text


def read_json(path: str | Path, what: str) -> Any:
    """The JSON value in a file (also gzip); ``what`` says what was expected, for messages."""
    source = Path(path)
    text = decode(read_bytes(source), str(source))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source} is not JSON ({error}); {what}") from None


def _near(path: Path) -> str:
    try:
        return did_you_mean(path.name, [other.name for other in path.parent.iterdir()])
    except OSError:
        return f" (nor a folder {path.parent})"
