"""Reader of MATLAB files of version 5 to 7: texts, numbers, cells and structures.

SciPy reads them, too, but damaged files can crash its compiled code, and with it the process.
"""

from __future__ import annotations

import math
import zlib
from typing import Any, NamedTuple

import numpy as np

from captious.core.errors import InputError
from captious.core.limits import CONTENT

#: Text (str), numbers (array), cells (list), or structures (list of dicts). Lists are in column order.
Value = Any

#: NumPy types of stored numbers by their code in the file.
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15
#: Classes of arrays.
_CELL, _STRUCT, _CHAR, _NUMBERS = 1, 2, 4, range(6, 16)
_COMPLEX = 0x0800
_HEADER, _DEEPEST = 128, 16


class _Element(NamedTuple):
    """Part of a file: its type and its data."""

    kind: int
    data: memoryview


def read_variables(data: bytes, name: str) -> dict[str, Value]:
    """Return the variables of a file by name."""
    try:
        return _MatlabReader(data, name).variables()
    except (ValueError, UnicodeDecodeError, zlib.error, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: the MATLAB file is damaged ({error}); get a fresh copy") from None


class _MatlabReader:
    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.order = {b"IM": "<", b"MI": ">"}.get(data[126:128], "")
        if not self.order:
            raise ValueError("its byte order is unknown")
        self.data = memoryview(data)

    def variables(self) -> dict[str, Value]:
        variables: dict[str, Value] = {}
        at = _HEADER
        while at < len(self.data):
            element, at = self._element(self.data, at)
            if element.kind == _COMPRESSED:
                element, _ = self._element(memoryview(self._unpacked(element.data)), 0)
            if element.kind != _MATRIX:
                raise ValueError(f"a part of type {element.kind}")
            name, value = self._matrix(element.data, 0)
            variables[name] = value
        return variables

    def _unpacked(self, data: memoryview) -> bytes:
        unpacker, limit = zlib.decompressobj(), CONTENT.value()
        content = unpacker.decompress(data, limit + 1)
        CONTENT.check(len(content), self.name)
        if not unpacker.eof:
            raise ValueError("a compressed part is cut off")
        return content

    def _element(self, data: memoryview, at: int) -> tuple[_Element, int]:
        """Return the element at an index, and the index after it."""
        if at + 8 > len(data):
            raise ValueError("it ends too early")
        kind, size = np.frombuffer(data[at : at + 8], self.order + "u4").tolist()
        # Up to four bytes are stored in the tag itself.
        start, short = at + 8, kind >> 16
        if short:
            kind, size, start = kind & 0xFFFF, short, at + 4
            if size > 4:
                raise ValueError(f"a short part of {size} bytes")
        if start + size > len(data):
            raise ValueError("it ends too early")
        end = at + 8 if short else start + size + (-size % 8 if kind != _COMPRESSED else 0)
        return _Element(kind, data[start : start + size]), end

    def _numbers(self, element: _Element) -> Any:
        kind = _TYPES.get(element.kind)
        if kind is None or len(element.data) % int(kind[1:]):
            raise ValueError(f"numbers of type {element.kind} in {len(element.data):,} bytes")
        return np.frombuffer(element.data, self.order + kind)

    def _matrix(self, data: memoryview, depth: int) -> tuple[str, Value]:
        """Return the name and the value of an array."""
        if not data:
            return "", []
        if depth > _DEEPEST:
            raise ValueError(f"cells are nested deeper than {_DEEPEST} levels")
        flags, at = self._element(data, 0)
        shape, at = self._element(data, at)
        name, at = self._element(data, at)
        flag = int(self._numbers(flags)[0]) if len(flags.data) == 8 else 0
        sides = [int(side) for side in self._numbers(shape)]
        if len(sides) < 2 or min(sides) < 0:
            raise ValueError(f"an array of the shape {sides}")
        count = math.prod(sides)
        kind = flag & 0xFF
        if kind in (_CELL, _STRUCT):
            value = self._parts(data, at, count, kind, depth)
        elif kind == _CHAR:
            value = self._text(self._element(data, at)[0], sides)
        elif kind in _NUMBERS and not flag & _COMPLEX:
            numbers = self._numbers(self._element(data, at)[0])
            if len(numbers) != count:
                raise ValueError(f"{len(numbers):,} numbers for the shape {sides}")
            value = numbers.reshape(sides, order="F")
        else:
            raise ValueError(f"an array of class {kind}")
        return bytes(name.data).decode("ascii"), value

    def _parts(self, data: memoryview, at: int, count: int, kind: int, depth: int) -> Value:
        """Return cells as a list, or structures as a list of dicts."""
        fields: list[str] = []
        if kind == _STRUCT:
            length, at = self._element(data, at)
            names, at = self._element(data, at)
            width = int(self._numbers(length)[0]) if len(length.data) == 4 else 0
            if not 1 <= width <= 4096 or len(names.data) % width:
                raise ValueError("the names of a structure")
            listed = bytes(names.data)
            fields = [
                listed[k : k + width].partition(b"\0")[0].decode("ascii")
                for k in range(0, len(listed), width)
            ]
        # Each part takes at least the eight bytes of its tag.
        if count * max(len(fields), kind == _CELL) > (len(data) - at) // 8:
            raise ValueError(f"{count:,} cells in {len(data) - at:,} bytes")
        values: list[Value] = []
        for _ in range(count):
            row: list[Value] = []
            for _ in fields or [""]:
                part, at = self._element(data, at)
                if part.kind != _MATRIX:
                    raise ValueError(f"a cell of type {part.kind}")
                row.append(self._matrix(part.data, depth + 1)[1])
            values.append(dict(zip(fields, row)) if kind == _STRUCT else row[0])
        return values

    def _text(self, element: _Element, sides: list[int]) -> str | list[str]:
        """Return a text, or a list of the rows of a table of characters."""
        encoding = _TEXTS.get(element.kind)
        if encoding is None:
            raise ValueError(f"text of type {element.kind}")
        suffix = {"<": "-le", ">": "-be"}[self.order] if encoding in ("utf-16", "utf-32") else ""
        text = bytes(element.data).decode(encoding + suffix)
        rows, count = sides[0], math.prod(sides)
        if len(text) > count or (rows > 1 and len(text) < count):
            raise ValueError(f"{len(text):,} characters for the shape {sides}")
        return text if rows <= 1 else [text[row::rows] for row in range(rows)]
