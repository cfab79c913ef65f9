"""Content of files: reading, gzip, encodings, JSON, and their errors."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import re
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

import numpy as np

from captious.core.errors import InputError, did_you_mean
from captious.core.limits import CONTENT, DEPTH, LINE
from captious.core.writing import is_standard

_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 22
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


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a text file, decompressed if it is gzip. ``-`` is standard input."""
    return check_bytes(read_raw(path), shown_name(path))


def check_bytes(data: bytes, name: str) -> bytes:
    """Return the content of a text file, or raise an error if it is of another kind."""
    for magic, what in _OTHER_KINDS.items():
        if data.startswith(magic):
            raise InputError(f"{name} is {what}")
    if not data.strip():
        raise InputError(f"{name} is empty")
    return data


def read_raw(path: str | os.PathLike[str]) -> bytes:
    """Return the content of any file within the limits, decompressed if it is gzip.

    ``-`` is standard input.
    """
    source, name = Path(path), shown_name(path)
    try:
        if is_standard(path):
            return _limited(_standard_input(), name)
        with source.open("rb") as stream:
            return _limited(stream, name)
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file{_near(source)}") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder; give a file with captions") from None
    except (OSError, ValueError) as problem:  # such as missing permission, or a NUL in the name
        if isinstance(problem, InputError):
            raise
        reason = getattr(problem, "strerror", None) or str(problem)
        raise InputError(f"{str(path)[:200]!r} cannot be read: {reason}") from None


def content_of_pipe(path: str | os.PathLike[str]) -> bytes | None:
    """Return the content of a pipe or of standard input (``-``), which can be read only once, else None."""
    source = Path(path)
    is_pipe = is_standard(path) or (source.exists() and not source.is_file() and not source.is_dir())
    return read_raw(path) if is_pipe else None


def shown_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file for messages."""
    return "standard input" if is_standard(path) else os.fspath(path)


_standard_taken = False


def _standard_input() -> BinaryIO:
    global _standard_taken
    if _standard_taken:
        raise InputError("standard input ('-') can be read only once; give the other input as a file")
    _standard_taken = True
    return sys.stdin.buffer


def _limited(stream: BinaryIO, name: str) -> bytes:
    """Return the bytes of a stream. Data is unpacked by blocks, so that bombs are stopped early."""
    limit = CONTENT.value()
    start = stream.read(2)
    whole = _Rejoined(start, stream)
    if start != _GZIP:
        if stream.seekable() and not is_standard(name):
            if stream.seek(0, os.SEEK_END) > limit:
                raise CONTENT.exceeded(name)
            stream.seek(0)
            return stream.read()
        return _collected(whole, limit, name)
    try:
        with gzip.GzipFile(fileobj=whole) as unpacked:  # type: ignore[arg-type,unused-ignore]
            return _collected(unpacked, limit, name)
    except EOFError:
        raise InputError(
            f"{name}: the gzip file ends too early (truncated); copy or download it again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as problem:
        raise InputError(f"{name}: the gzip file is damaged ({problem}); copy or download it again") from None


def _collected(stream: Any, limit: int, name: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    while block := stream.read(_BLOCK):
        parts.append(block)
        size += len(block)
        if size > limit:
            raise CONTENT.exceeded(name)
    return b"".join(parts)


class _Rejoined(io.RawIOBase):
    """Stream whose first bytes have been read already, for pipes, which cannot seek."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start, self._rest = start, rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._start:
            taken, self._start = self._start, b""
            return taken + self._rest.read(max(size - len(taken), 0) if size >= 0 else -1)
        return self._rest.read(size)


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8 text, with or without a byte order mark."""
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


def check_lines(lines: Iterable[str], name: str) -> None:
    """Raise an error for the first line (or caption) beyond the limit."""
    limit = LINE.value()
    for number, line in enumerate(lines, 1):
        if len(line) > limit:
            raise LINE.exceeded(f"{name}, line {number:,}")


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a text file, without their ends. An empty last line is dropped."""
    name = shown_name(path)
    return split_lines(decode(read_bytes(path), name), name)


def split_lines(text: str, name: str) -> list[str]:
    """Return the lines of a text, without their ends. An empty last line is dropped."""
    lines = text.split("\n")
    check_lines(lines, name)
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_json(path: str | os.PathLike[str], what: str) -> Any:
    """Return the JSON value of a file (also gzip). ``what`` completes messages: the expected content."""
    return parse_json(read_bytes(path), shown_name(path), what)


def parse_json(data: bytes, name: str, what: str) -> Any:
    """Return the JSON value of the content of a file. ``what`` completes messages: the expected content."""
    try:
        return loads(decode(data, name), name)
    except json.JSONDecodeError as error:
        raise InputError(f"{name} is not JSON ({error}); {what}") from None


def read_json_or_lines(path: str | os.PathLike[str], what: str) -> Any:
    """Return the value of a JSON file, or the list of values of JSON lines (also gzip)."""
    name = shown_name(path)
    text = decode(read_bytes(path), name)
    try:
        return loads(text, name)
    except json.JSONDecodeError:
        return json_lines(text, name, what)


def json_lines(text: str, name: str, what: str) -> list[Any]:
    """Return the values of JSON lines. Blank lines are skipped."""
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{name}, line {number:,}"
            try:
                values.append(loads(line, where))
            except json.JSONDecodeError as error:
                raise InputError(f"{where}: not JSON ({error}); {what}") from None
    return values


def loads(text: str, name: str, shallow: bool = False) -> Any:
    """Parse JSON. Invalid JSON raises ``json.JSONDecodeError``.

    Deep nesting, keys that occur twice with different values and numbers of thousands of digits raise
    `InputError`. ``shallow`` means that the depth has been checked.
    """
    if not shallow:
        check_depth(text, name)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except _RepeatedKeyError as repeated:
        raise InputError(
            f"{name}: {_cut(repeated.key)} occurs twice in one object, with different values "
            f"({_cut(repeated.first)} and "
            f"{_cut(repeated.second)}); give each key once, with a list where there are several values"
        ) from None
    except RecursionError:  # brackets within strings can hide the depth from `check_depth`
        raise DEPTH.exceeded(name) from None
    except ValueError as problem:  # a number of thousands of digits
        raise InputError(f"{name}: JSON that cannot be read: {str(problem).split(';')[0]}") from None


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value of a file is a finite number. Whole numbers beyond the range of floats are not."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


class _RepeatedKeyError(Exception):
    def __init__(self, key: object, first: object, second: object) -> None:
        super().__init__(key)
        self.key, self.first, self.second = key, first, second


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dict and refuse repeated keys with different values, of which Python would drop all but one."""
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: dict[str, Any] = {}
        for key, item in pairs:
            if key in seen and seen[key] != item:
                raise _RepeatedKeyError(key, seen[key], item)
            seen[key] = item
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def first_value(text: str, whole: bool = False) -> Any:
    """Return the JSON value at the start of a text; with ``whole``, nothing may follow it.

    Raises the errors of :func:`loads`.
    """
    try:
        return _DECODER.decode(text) if whole else _DECODER.raw_decode(text)[0]
    except json.JSONDecodeError:
        raise
    except (_RepeatedKeyError, RecursionError, ValueError) as problem:
        raise InputError(str(problem)) from None


_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def check_depth(text: str, name: str) -> None:
    """Refuse JSON that is nested too deeply, before it is parsed."""
    limit = DEPTH.value()
    if len(text) <= limit:
        return
    data = text.encode("utf-8", "surrogatepass")
    # The quick count includes brackets within strings. Remove the strings only if it is beyond the limit.
    if _depth(data) > limit and _depth(_TEXTS.sub(b"", data)) > limit:
        raise DEPTH.exceeded(name)


def _depth(data: bytes) -> int:
    brackets = np.frombuffer(data.translate(None, _NO_BRACKETS), np.uint8)
    if not len(brackets):
        return 0
    return int(np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1).cumsum(dtype=np.int64).max())


def _cut(value: object) -> str:
    try:
        shown = repr(value)
    except RecursionError:
        return "…"
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def _near(path: Path) -> str:
    try:
        return did_you_mean(path.name, [other.name for other in path.parent.iterdir()])
    except OSError:
        return f" (nor a folder {path.parent})"
