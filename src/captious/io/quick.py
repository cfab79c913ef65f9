"""The quick way from the bytes of a large JSON file to its captions: COCO annotations, COCO results, and rows of JSON lines.

Compiled loops (:mod:`captious.io.json_scan`, :mod:`captious.io.json_texts`) find ids and captions, and the captions stay bytes. They know what common files look
like. Whatever is unusual, wrong files above all, is left to the reader of :mod:`captious.io.json_formats`, from the start: here nothing is
ever refused, and what is read here is what that reader would have read.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.container import Grouped, Texts
from captious.errors import InputError
from captious.io import json_scan as scan
from captious.io.captions import CaptionFile, Role
from captious.io.content import first_value
from captious.io.json_formats import is_coco, pick_caption, pick_id
from captious.io.json_texts import copy_texts, number_ids
from captious.limits import DEPTH, LINE
from captious.ragged import IntArray, offsets_of

#: Smaller files are read as fast by Python as compiled code is loaded.
LARGE = 1 << 18
#: Objects and lists within one another, and keys of the objects that are open at a time, beyond which a file is unusual.
_DEEPEST, _KEYS = 24, 256
#: So much of a file is looked at for its first row.
_BEGINNING = 1 << 16
_BLOCK = 1 << 20
#: As for n-grams: 2⁶⁴ over the golden ratio.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class _UnusualError(Exception):
    """Not a file for the quick way."""


class _Rows(NamedTuple):
    """Rows as they are in the file (see :func:`captious.io.json_scan.scan_rows`)."""

    ids: IntArray
    text_ids: bool
    spans: IntArray
    row_of: IntArray
    has_lists: bool
    #: Where the last one ends.
    end: int


def read_json(data: bytes, name: str, role: Role, several: bool | None = None, path: Path | None = None) -> CaptionFile | None:
    """The captions in a large file, or nothing where the other reader is needed. ``name`` is what messages call the file."""
    if len(data) < LARGE:
        return None
    try:
        return _File(data, name, role).read(several, path)
    except (_UnusualError, InputError):
        return None


class _File:
    """One file while it is read."""

    def __init__(self, data: bytes, name: str, role: Role) -> None:
        self.data, self.name, self.role = data, name, role
        self.units = np.frombuffer(data, np.uint8)
        self.deepest = min(_DEEPEST, DEPTH.value())
        self.longest = LINE.value()
        if self.longest < _BEGINNING:
            raise _UnusualError
        self.keys = np.zeros((_KEYS, 2), np.int64)
        self.frames = np.zeros(_DEEPEST, np.int64)

    def read(self, several: bool | None, path: Path | None) -> CaptionFile:
        start = len(self.data) - len(self.data.lstrip(b" \t\r\n"))
        opening = self.data[start : start + 1]
        if opening == b"[":
            rows, form = self._rows(start + 1, self._first(start), depth=2), "coco-results"
            self._ends(rows.end)
        elif opening == b"{":
            rows, form = self._lines(start) or self._annotations(start)
        else:
            raise _UnusualError
        _check_encoding(self.data)
        return self._gathered(rows, form, several, path)

    def _first(self, at: int) -> list[Any]:
        """The first item of the list that begins at ``at``, in a list; nothing if it is empty."""
        beginning = self.data[at + 1 : at + _BEGINNING].decode("utf-8", "ignore").lstrip(" \t\r\n")
        if beginning.startswith("]"):
            return []
        try:
            return [first_value(beginning)]
        except (json.JSONDecodeError, InputError):  # or it is very long
            raise _UnusualError from None

    def _ends(self, at: int) -> None:
        if self.data[at:].strip(b" \t\r\n"):
            raise _UnusualError

    def _rows(self, at: int, first: list[Any], depth: int, lines: bool = False) -> _Rows:
        """The rows from ``at`` on, read by the keys that the first one has; a row's own values lie below ``depth``."""
        if not first or not isinstance(first[0], Mapping):
            raise _UnusualError
        id_key, caption_key = pick_id(first[0], self.name, ""), pick_caption(first[0], self.name, "", self.role)
        wanted = [np.frombuffer(key.encode("utf-8", "surrogatepass"), np.uint8) for key in (id_key, caption_key)]
        state = np.zeros(scan.STATE, np.int64)
        state[scan.AT] = at
        room = len(self.data) // 64 + 1
        ids, spans, row_of = np.zeros((room, 2), np.int64), np.zeros((room, 2), np.int64), np.zeros(room, np.int64)
        run = scan.scan_rows.pick(len(self.data))
        while True:
            status = run(self.units, len(self.data), lines, *wanted, state, self.keys, self.frames, self.deepest - depth, ids, spans, row_of)
            if status != scan.FULL:
                break
            ids, spans, row_of = (np.concatenate([part, np.zeros_like(part)]) for part in (ids, spans, row_of))
        if status != scan.DONE:
            raise _UnusualError
        count, captions = int(state[scan.ROWS]), int(state[scan.CAPTIONS])
        return _Rows(ids[:count], bool(state[scan.TEXT_IDS]), spans[:captions], row_of[:captions], bool(state[scan.LISTS]), int(state[scan.AT]))

    def _lines(self, start: int) -> tuple[_Rows, str] | None:
        """JSON lines, if the first line is a whole object and others follow."""
        end = self.data.find(b"\n", start)
        if end < 0 or end - start > _BEGINNING or not self.data[end:].strip(b" \t\r\n"):
            return None
        try:
            first = first_value(self.data[start:end].decode("utf-8").strip(" \t\r"), whole=True)
        except (json.JSONDecodeError, UnicodeDecodeError):
            return None  # an object over several lines, or a mistake, which will be found
        return self._rows(start, [first], depth=1, lines=True), "jsonl"

    def _annotations(self, start: int) -> tuple[_Rows, str]:
        """The rows of COCO annotations."""
        state = np.zeros(scan.STATE, np.int64)
        state[scan.AT] = start
        spans = np.zeros((_KEYS, 4), np.int64)
        run = scan.members.pick(len(self.data))
        wanted = np.frombuffer(b"annotations", np.uint8)
        arguments = self.units, len(self.data), wanted, state, self.keys, self.frames, self.deepest, spans
        if self.role != "references" or run(*arguments) != scan.FOUND:
            raise _UnusualError
        first = self._first(int(state[scan.AT]))
        keys = self.keys.copy()
        rows = self._rows(int(state[scan.AT]) + 1, first, depth=3)
        self.keys[:] = keys
        state[scan.AT] = rows.end
        if run(*arguments) != scan.DONE:
            raise _UnusualError
        self._ends(int(state[scan.AT]))
        # The same questions that are asked of the whole: they look at the first items only.
        small: dict[str, Any] = {}
        for low, high, at, _ in spans[: int(state[scan.ROWS])].tolist():
            key = self.data[low:high].decode("utf-8")
            small[key] = first if key == "annotations" else self._first(at) if self.data[at : at + 1] == b"[" else None
        if not is_coco(small):
            raise _UnusualError
        return rows, "coco-annotations"

    def _gathered(self, rows: _Rows, form: str, several: bool | None, path: Path | None) -> CaptionFile:
        """Captions by image, as :func:`captious.io.captions.gather` has them."""
        image, first = self._images(rows)
        per_image = np.bincount(image)
        is_several = rows.has_lists or len(first) < len(rows.ids)
        if self.role == "predictions" and len(first) < len(rows.ids):
            stated = several if several is not None else 2 * int(np.count_nonzero(per_image > 1)) > len(first)
            if not stated:
                raise _UnusualError  # rows that are one too many
        of_caption = image[rows.row_of]
        order = np.arange(len(of_caption)) if (of_caption[1:] >= of_caption[:-1]).all() else np.argsort(of_caption, kind="stable")
        texts = np.empty(int((rows.spans[:, 1] - rows.spans[:, 0]).sum()), np.uint8)
        offsets = np.zeros(len(order) + 1, np.int64)
        used = int(copy_texts.pick(len(texts) * 2)(self.units, rows.spans, order, self.longest, texts, offsets))
        if used < 0:
            raise _UnusualError
        return CaptionFile(
            name=self.name if path is None else path.name,
            ids=self._names(rows, first),
            captions=Grouped(Texts(texts[:used], offsets), offsets_of(np.bincount(of_caption, minlength=len(first)))),
            format=form,
            several=is_several,
            role=self.role,
            path=path,
            several_stated=bool(several),
        )

    def _images(self, rows: _Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The image of each row, and the first row of each image."""
        count = len(rows.ids)
        places = np.zeros(1 << (2 * count).bit_length(), np.int32)
        first, image = np.zeros(count, np.int64), np.zeros(count, np.int64)
        with np.errstate(over="ignore"):
            found = number_ids.pick(count * 8)(self.units, rows.ids, rows.text_ids, _MULTIPLIER, np.uint64(32), places, first, image)
        return image, first[: int(found)]

    def _names(self, rows: _Rows, first: NDArray[np.int64]) -> list[str]:
        if not rows.text_ids:
            return list(map(str, rows.ids[first, 0].tolist()))
        names = [self.data[low:high].decode("utf-8") for low, high in rows.ids[first].tolist()]
        if any(name != name.strip() or not name or len(name) > self.longest for name in names):
            raise _UnusualError
        return names


def _check_encoding(data: bytes) -> None:
    """Only UTF-8 is read here, all of it looked at, a block at a time."""
    if data.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _BLOCK):
            decoder.decode(data[start : start + _BLOCK], final=start + _BLOCK >= len(data))
    except UnicodeDecodeError:
        raise _UnusualError from None
