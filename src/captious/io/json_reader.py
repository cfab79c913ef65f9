"""Reader of JSON files: COCO annotations, COCO results and JSON lines.

Compiled loops (:mod:`captious.io.json_scan`) locate ids and captions, and captions stay bytes. They handle
well-formed files in the shapes that tools write. :mod:`captious.io.json_formats` remains for the rest: it
reads Python objects and the rarer shapes (``{id: captions}``, Karpathy's splits, ids of mixed types), and it
reports errors with line and row. A file that this module cannot read is read again there, so this module
never reports an error.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.container import Grouped, StoredTexts
from captious.core.errors import InputError
from captious.core.limits import DEPTH, LINE
from captious.core.ragged import IntArray, offsets_of, positions_of
from captious.corpus.corpus import distinct_runs
from captious.io import json_scan as scan
from captious.io.caption_files import CaptionFile, Role, numbered_names
from captious.io.content import first_value
from captious.io.data_set_files import is_sample
from captious.io.json_formats import UNUSABLE, is_coco, pick_caption, pick_id
from captious.io.json_scan import hex_digit
from captious.kernels import inner, kernel
from captious.kernels.types import Int64, Int64x2, Out, UInt8


@inner
def _code_unit(data: UInt8, at: int) -> int:
    """Return the value of the four hexadecimal digits at ``at``."""
    return (
        (hex_digit(int(data[at])) << 12)
        | (hex_digit(int(data[at + 1])) << 8)
        | (hex_digit(int(data[at + 2])) << 4)
        | hex_digit(int(data[at + 3]))
    )


@kernel
def copy_texts(
    data: UInt8, spans: Int64x2, order: Int64, longest: int, out: Out[UInt8], offsets: Out[Int64]
) -> int:
    """Concatenate texts as UTF-8 with escapes resolved. Return the number of bytes.

    ``offsets`` receives the end of each text. Returns −1 if a text is longer than ``longest`` bytes or
    has an unpaired surrogate.
    """
    used = 0
    for i in range(order.shape[0]):
        at, stop = spans[order[i], 0], spans[order[i], 1]
        if stop - at > longest:
            return -1
        while at < stop:
            byte = data[at]
            at += 1
            if byte != 92:  # a backslash begins an escape
                out[used] = byte
                used += 1
                continue
            byte = data[at]
            at += 1
            if byte != 117:  # \u
                if byte == 98:  # \b
                    byte = 8
                elif byte == 102:  # \f
                    byte = 12
                elif byte == 110:  # \n
                    byte = 10
                elif byte == 114:  # \r
                    byte = 13
                elif byte == 116:  # \t
                    byte = 9
                out[used] = byte
                used += 1
                continue
            unit = _code_unit(data, at)
            at += 4
            if 0xD800 <= unit <= 0xDFFF:
                if unit >= 0xDC00 or at + 6 > stop or data[at] != 92 or data[at + 1] != 117:
                    return -1
                low = _code_unit(data, at + 2)
                if not 0xDC00 <= low <= 0xDFFF:
                    return -1
                at += 6
                unit = 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00
            if unit < 0x80:
                out[used] = unit
                used += 1
                continue
            if unit < 0x800:
                out[used] = 0xC0 | (unit >> 6)
                used += 1
            else:
                if unit < 0x10000:
                    out[used] = 0xE0 | (unit >> 12)
                    used += 1
                else:
                    out[used] = 0xF0 | (unit >> 18)
                    out[used + 1] = 0x80 | ((unit >> 12) & 63)
                    used += 2
                out[used] = 0x80 | ((unit >> 6) & 63)
                used += 1
            out[used] = 0x80 | (unit & 63)
            used += 1
        offsets[i + 1] = used
    return used


#: Greatest supported depth of nesting, and number of keys of all objects that are open at a time.
_DEEPEST, _KEYS = 24, 256
#: Bytes in which the first row must end.
_BEGINNING = 1 << 16
_BLOCK = 1 << 20


class _UnsupportedError(Exception):
    """The file needs the reader of :mod:`captious.io.json_formats`."""


class _Rows(NamedTuple):
    """Positions of rows in the file (see :func:`captious.io.json_scan.scan_rows`)."""

    ids: IntArray
    text_ids: bool
    spans: IntArray
    row_of: IntArray
    has_lists: bool
    #: Index after the last row.
    end: int


def read_rows(
    data: bytes, name: str, role: Role, several: bool | None = None, path: Path | None = None
) -> CaptionFile | None:
    """Read the captions of a file, or return None if it needs the other reader.

    ``name`` names the file in messages.
    """
    try:
        return _File(data, name, role).read(several, path)
    except (_UnsupportedError, InputError):
        return None


class _File:
    """State of one file while it is read."""

    def __init__(self, data: bytes, name: str, role: Role) -> None:
        self.data, self.name, self.role = data, name, role
        self.units = np.frombuffer(data, np.uint8)
        self.deepest = min(_DEEPEST, DEPTH.value())
        self.longest = LINE.value()
        if self.longest < _BEGINNING:
            raise _UnsupportedError
        self.keys = np.zeros((_KEYS, 2), np.int64)
        self.frames = np.zeros(_DEEPEST, np.int64)

    def read(self, several: bool | None, path: Path | None) -> CaptionFile:
        _check_encoding(self.data)
        start = len(self.data) - len(self.data.lstrip(b" \t\r\n"))
        opening = self.data[start : start + 1]
        if opening == b"[":
            rows, form = self._rows(start + 1, self._first_item(start), depth=2), "coco-results"
            self._check_end(rows.end)
        elif opening == b"{":
            rows, form = self._lines(start) or self._annotations(start)
        else:
            raise _UnsupportedError
        return self._gather(rows, form, several, path)

    def _first_item(self, at: int) -> list[Any]:
        """Return the first item of the list at ``at``, in a list. It is empty if that list is empty."""
        beginning = self.data[at + 1 : at + _BEGINNING].decode("utf-8", "ignore").lstrip(" \t\r\n")
        if beginning.startswith("]"):
            return []
        try:
            return [first_value(beginning)]
        except (json.JSONDecodeError, InputError):  # invalid, or very long
            raise _UnsupportedError from None

    def _check_end(self, at: int) -> None:
        if self.data[at:].strip(b" \t\r\n"):
            raise _UnsupportedError

    def _rows(self, at: int, first: list[Any], depth: int, lines: bool = False) -> _Rows:
        """Read the rows from ``at`` on by the keys of the first row. The values of a row are at ``depth``."""
        if not first or not isinstance(first[0], Mapping) or numbered_names(list(first[0]), self.role):
            raise _UnsupportedError
        if is_sample(first[0]):
            raise _UnsupportedError
        id_key, caption_key = (
            pick_id(first[0], self.name, ""),
            pick_caption(first[0], self.name, "", self.role),
        )
        wanted = [
            np.frombuffer(key.encode("utf-8", "surrogatepass"), np.uint8) for key in (id_key, caption_key)
        ]
        state = np.zeros(scan.STATE, np.int64)
        state[scan.AT] = at
        room = len(self.data) // 64 + 1
        ids, spans, row_of = (
            np.zeros((room, 2), np.int64),
            np.zeros((room, 2), np.int64),
            np.zeros(room, np.int64),
        )
        while True:
            status = scan.scan_rows(
                self.units,
                len(self.data),
                lines,
                wanted[0],
                wanted[1],
                state,
                self.keys,
                self.frames,
                self.deepest - depth,
                ids,
                spans,
                row_of,
            )
            if status != scan.FULL:
                break
            ids, spans, row_of = (
                np.concatenate([part, np.zeros_like(part)]) for part in (ids, spans, row_of)
            )
        if status != scan.DONE:
            raise _UnsupportedError
        count, captions = int(state[scan.ROWS]), int(state[scan.CAPTIONS])
        return _Rows(
            ids[:count],
            bool(state[scan.TEXT_IDS]),
            spans[:captions],
            row_of[:captions],
            bool(state[scan.LISTS]),
            int(state[scan.AT]),
        )

    def _lines(self, start: int) -> tuple[_Rows, str] | None:
        """Read JSON lines. Return None unless the first line is a complete object and others follow."""
        end = self.data.find(b"\n", start)
        if end < 0 or end - start > _BEGINNING or not self.data[end:].strip(b" \t\r\n"):
            return None
        try:
            first = first_value(self.data[start:end].decode("utf-8").strip(" \t\r"), whole=True)
        except (json.JSONDecodeError, UnicodeDecodeError):
            return None  # an object over several lines, or an error
        return self._rows(start, [first], depth=1, lines=True), "jsonl"

    def _annotations(self, start: int) -> tuple[_Rows, str]:
        """Read the rows of COCO annotations."""
        state = np.zeros(scan.STATE, np.int64)
        state[scan.AT] = start
        spans = np.zeros((_KEYS, 4), np.int64)
        wanted = np.frombuffer(b"annotations", np.uint8)
        arguments = self.units, len(self.data), wanted, state, self.keys, self.frames, self.deepest, spans
        if any(mark.encode() in self.data for mark in UNUSABLE):
            raise _UnsupportedError  # captions that do not count
        if self.role != "references" or scan.members(*arguments) != scan.FOUND:
            raise _UnsupportedError
        first = self._first_item(int(state[scan.AT]))
        keys = self.keys.copy()
        rows = self._rows(int(state[scan.AT]) + 1, first, depth=3)
        self.keys[:] = keys
        state[scan.AT] = rows.end
        if scan.members(*arguments) != scan.DONE:
            raise _UnsupportedError
        self._check_end(int(state[scan.AT]))
        # `is_coco` inspects only the first item of each list.
        small: dict[str, Any] = {}
        for low, high, at, _ in spans[: int(state[scan.ROWS])].tolist():
            key = self.data[low:high].decode("utf-8")
            small[key] = (
                first
                if key == "annotations"
                else self._first_item(at)
                if self.data[at : at + 1] == b"["
                else None
            )
        if not is_coco(small):
            raise _UnsupportedError
        return rows, "coco-annotations"

    def _gather(self, rows: _Rows, form: str, several: bool | None, path: Path | None) -> CaptionFile:
        """Group captions by image, as :func:`captious.io.caption_files.gather` does."""
        image, first = self._images(rows)
        per_image = np.bincount(image)
        is_several = rows.has_lists or len(first) < len(rows.ids)
        if self.role == "predictions" and len(first) < len(rows.ids):
            stated = several if several is not None else 2 * int(np.count_nonzero(per_image > 1)) > len(first)
            if not stated:
                raise _UnsupportedError  # repeated rows, an error
        of_caption = image[rows.row_of]
        order = (
            np.arange(len(of_caption))
            if (of_caption[1:] >= of_caption[:-1]).all()
            else np.argsort(of_caption, kind="stable")
        )
        texts = np.empty(int((rows.spans[:, 1] - rows.spans[:, 0]).sum()), np.uint8)
        offsets = np.zeros(len(order) + 1, np.int64)
        used = int(copy_texts(self.units, rows.spans, order, self.longest, texts, offsets))
        if used < 0:
            raise _UnsupportedError
        first_bytes = texts[offsets[:-1][np.diff(offsets) > 0]]
        if not rows.has_lists and (first_bytes == ord("[")).any():
            raise _UnsupportedError  # perhaps printed lists
        return CaptionFile(
            name=self.name if path is None else path.name,
            ids=self._id_texts(rows, first),
            captions=Grouped(
                StoredTexts(texts[:used], offsets), offsets_of(np.bincount(of_caption, minlength=len(first)))
            ),
            format=form,
            several=is_several,
            role=self.role,
            path=path,
            several_stated=bool(several),
        )

    def _images(self, rows: _Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the image of each row and the first row of each image."""
        if rows.text_ids:
            starts, ends = rows.ids.T
            positions, offsets = positions_of(starts, ends - starts)
            numbers = self.units[positions]
        else:
            numbers = np.ascontiguousarray(rows.ids[:, 0]).view(np.int32)
            offsets = 2 * np.arange(len(rows.ids) + 1)
        first, image = distinct_runs(numbers.astype(np.int32, copy=False), offsets)
        return image, first

    def _id_texts(self, rows: _Rows, first: NDArray[np.int64]) -> list[str]:
        if not rows.text_ids:
            return list(map(str, rows.ids[first, 0].tolist()))
        names = [self.data[low:high].decode("utf-8") for low, high in rows.ids[first].tolist()]
        if any(name != name.strip() or not name or len(name) > self.longest for name in names):
            raise _UnsupportedError
        return names


def _check_encoding(data: bytes) -> None:
    """Check that all bytes are UTF-8, one block at a time."""
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _BLOCK):
            decoder.decode(data[start : start + _BLOCK], final=start + _BLOCK >= len(data))
    except UnicodeDecodeError:
        raise _UnsupportedError from None
