"""Kernels that locate ids and captions in the bytes of a JSON file without creating Python objects.

They accept the JSON that captioning tools write. For anything else (a repeated key, an escape within a key,
``NaN``, a number of hundreds of digits, rows of different shapes, invalid JSON) they stop with −1 and give
no reason: :mod:`captious.io.json_formats` then reads the file from the start and reports the error.

Functions that return an index return the index after the part they read, or −1.
"""

from __future__ import annotations

from captious.kernels import inner, kernel
from captious.kernels.types import Int64, Int64x2, Out, UInt8
from captious.text.hashing import equal_bytes

#: Results of :func:`scan_rows` and :func:`members`: end of the data, key found, arrays full, unsupported
#: JSON.
DONE, FOUND, FULL, UNKNOWN = 0, 1, 2, -1
#: Fields of the ``state`` of :func:`scan_rows` and :func:`members`, and their number.
AT, ROWS, CAPTIONS, TEXT_IDS, LISTS, STATE = 0, 1, 2, 3, 4, 5
#: Most digits of a number that is an id, and of other numbers.
_ID_DIGITS, _DIGITS = 18, 300


@inner
def _skip_space(data: UInt8, at: int, end: int) -> int:
    """Return the index of the first byte at or after ``at`` that is not white space."""
    while at < end and (data[at] == 32 or data[at] == 10 or data[at] == 13 or data[at] == 9):
        at += 1
    return at


@inner
def hex_digit(byte: int) -> int:
    """Return the value of a hexadecimal digit, or −1."""
    if 48 <= byte <= 57:
        return byte - 48
    if 97 <= byte <= 102:
        return byte - 87
    if 65 <= byte <= 70:
        return byte - 55
    return -1


@inner
def _text_end(data: UInt8, at: int, end: int) -> int:
    """Return the index of the quote that ends the string whose content starts at ``at``, or −1."""
    while at < end:
        byte = data[at]
        if byte == 34:
            return at
        if byte < 32:
            return -1
        at += 1
        if byte == 92:
            if at >= end:
                return -1
            byte = data[at]
            at += 1
            if byte == 117:
                if at + 4 > end:
                    return -1
                for k in range(4):
                    if hex_digit(int(data[at + k])) < 0:
                        return -1
                at += 4
            elif not (
                byte == 34
                or byte == 92
                or byte == 47
                or byte == 98
                or byte == 102
                or byte == 110
                or byte == 114
                or byte == 116
            ):
                return -1
    return -1


@inner
def _read_key(data: UInt8, at: int, end: int, keys: Out[Int64x2], first: int, known: int) -> int:
    """Read a key and its colon into ``keys[known]``.

    The keys of the same object start at ``first`` and must differ.
    """
    at = _skip_space(data, at, end)
    if at >= end or data[at] != 34 or known >= keys.shape[0]:
        return -1
    start = at + 1
    at = start
    while at < end and data[at] != 34:
        if data[at] < 32 or data[at] == 92:
            return -1
        at += 1
    if at >= end:
        return -1
    for other in range(first, known):
        low, size = keys[other, 0], at - start
        if keys[other, 1] - low == size and equal_bytes(data, low, data, start, size):
            return -1
    keys[known, 0] = start
    keys[known, 1] = at
    at = _skip_space(data, at + 1, end)
    if at >= end or data[at] != 58:
        return -1
    return at + 1


@inner
def _word_end(data: UInt8, at: int, end: int) -> int:
    """Skip a number, ``true``, ``false`` or ``null``."""
    byte = data[at]
    if byte == 116 or byte == 110:  # t, n
        if at + 4 > end:
            return -1
        if byte == 116 and data[at + 1] == 114 and data[at + 2] == 117 and data[at + 3] == 101:
            return at + 4
        if byte == 110 and data[at + 1] == 117 and data[at + 2] == 108 and data[at + 3] == 108:
            return at + 4
        return -1
    if byte == 102:  # f
        if (
            at + 5 <= end
            and data[at + 1] == 97
            and data[at + 2] == 108
            and data[at + 3] == 115
            and data[at + 4] == 101
        ):
            return at + 5
        return -1
    last = min(end, at + _DIGITS)
    if byte == 45:  # minus
        at += 1
    if at >= last or not 48 <= data[at] <= 57:
        return -1
    if data[at] == 48:
        at += 1
    else:
        while at < last and 48 <= data[at] <= 57:
            at += 1
    if at < last and data[at] == 46:  # decimal point
        start = at + 1
        at = start
        while at < last and 48 <= data[at] <= 57:
            at += 1
        if at == start:
            return -1
    if at < last and (data[at] == 101 or data[at] == 69):
        at += 1
        if at < last and (data[at] == 43 or data[at] == 45):
            at += 1
        start = at
        while at < last and 48 <= data[at] <= 57:
            at += 1
        if at == start:
            return -1
    return at if at < last or last == end else -1


@inner
def _value_end(
    data: UInt8, at: int, end: int, keys: Out[Int64x2], known: int, frames: Out[Int64], deepest: int
) -> int:
    """Skip the value at ``at``.

    ``keys`` from ``known`` on receives the keys of open objects, ``frames`` the index of the first key
    of each open object (−1 for a list).
    """
    depth = 0
    while True:
        at = _skip_space(data, at, end)
        if at >= end:
            return -1
        byte = data[at]
        if byte == 123 or byte == 91:  # { or [
            if depth >= deepest:
                return -1
            frames[depth] = known if byte == 123 else -1
            depth += 1
            at = _skip_space(data, at + 1, end)
            # The code of a closing bracket is that of the opening one plus 2.
            if at < end and data[at] == byte + 2:
                at += 1
                depth -= 1
            else:
                if byte == 123:
                    at = _read_key(data, at, end, keys, known, known)
                    known += 1
                    if at < 0:
                        return -1
                continue
        elif byte == 34:  # a quote
            at = _text_end(data, at + 1, end) + 1
            if at == 0:
                return -1
        else:
            at = _word_end(data, at, end)
            if at < 0:
                return -1
        # A value has ended. Close all objects and lists that end here.
        more = False
        while depth > 0 and not more:
            at = _skip_space(data, at, end)
            if at >= end:
                return -1
            first = frames[depth - 1]
            if data[at] == 44:  # a comma
                at += 1
                if first >= 0:
                    at = _read_key(data, at, end, keys, first, known)
                    known += 1
                    if at < 0:
                        return -1
                more = True
            elif data[at] == (125 if first >= 0 else 93):
                if first >= 0:
                    known = first
                depth -= 1
                at += 1
            else:
                return -1
        if not more:
            return at


@kernel
def members(
    data: UInt8,
    end: int,
    wanted: UInt8,
    state: Out[Int64],
    keys: Out[Int64x2],
    frames: Out[Int64],
    deepest: int,
    spans: Out[Int64x2],
) -> int:
    """Scan the members of an object. ``spans`` receives the start and end of each key and of its value.

    Stops at a list under the key ``wanted``, whose rows are for :func:`scan_rows`; called again after
    that list, it continues. Before the first call, ``state`` holds the index of the opening bracket.
    """
    at, count = state[AT], state[ROWS]
    if count == 0:
        at = _skip_space(data, at + 1, end)
        if at < end and data[at] == 125:
            state[AT] = at + 1
            return DONE
    while True:
        if count > 0:
            if spans[count - 1, 3] == 0:
                spans[count - 1, 3] = at
            at = _skip_space(data, at, end)
            if at >= end:
                return UNKNOWN
            if data[at] == 125:
                state[AT] = at + 1
                state[ROWS] = count
                return DONE
            if data[at] != 44:
                return UNKNOWN
            at += 1
        at = _read_key(data, at, end, keys, 0, count)
        if at < 0:
            return UNKNOWN
        at = _skip_space(data, at, end)
        spans[count, 0], spans[count, 1] = keys[count, 0], keys[count, 1]
        spans[count, 2], spans[count, 3] = at, 0
        count += 1
        if at < end and data[at] == 91 and _is_key(data, keys, count - 1, wanted):
            state[AT] = at
            state[ROWS] = count
            return FOUND
        at = _value_end(data, at, end, keys, count, frames, deepest - 1)
        if at < 0:
            return UNKNOWN


@inner
def _is_key(data: UInt8, keys: Int64x2, place: int, wanted: UInt8) -> bool:
    """Whether the key at ``place`` is ``wanted``."""
    start, size = keys[place, 0], wanted.shape[0]
    return keys[place, 1] - start == size and equal_bytes(data, start, wanted, 0, size)


@inner
def _read_id(data: UInt8, at: int, end: int, ids: Out[Int64x2], state: Out[Int64]) -> int:
    """Read the id of the current row: an integer, or the start and end of a string."""
    row = state[ROWS]
    text = 1 if data[at] == 34 else 0
    if row > 0 and state[TEXT_IDS] != text:
        return -1
    state[TEXT_IDS] = text
    if text == 1:
        start = at + 1
        at = start
        while at < end and data[at] != 34:
            if data[at] < 32 or data[at] == 92:
                return -1
            at += 1
        ids[row, 0] = start
        ids[row, 1] = at
        return at + 1 if at < end else -1
    negative = data[at] == 45
    if negative:
        at += 1
    start = at
    value = 0
    while at < end and 48 <= data[at] <= 57 and at - start <= _ID_DIGITS:
        value = 10 * value + int(data[at]) - 48
        at += 1
    digits = at - start
    # No digit, too many digits, leading zeros, or "-0". After the digits of a fraction, the caller expects
    # , or } and stops.
    if digits == 0 or digits > _ID_DIGITS or (data[start] == 48 and (digits > 1 or negative)):
        return -1
    ids[row, 0] = -value if negative else value
    return at


@inner
def _read_captions(
    data: UInt8, at: int, end: int, spans: Out[Int64x2], row_of: Out[Int64], state: Out[Int64]
) -> int:
    """Read the caption or the list of captions of the current row. Return −2 if ``spans`` is full."""
    listed = data[at] == 91
    if listed:
        state[LISTS] = 1
        at = _skip_space(data, at + 1, end)
    while True:
        if at >= end or data[at] != 34:
            return -1
        count = state[CAPTIONS]
        if count >= spans.shape[0]:
            return -2
        stop = _text_end(data, at + 1, end)
        if stop < 0:
            return -1
        spans[count, 0] = at + 1
        spans[count, 1] = stop
        row_of[count] = state[ROWS]
        state[CAPTIONS] = count + 1
        at = stop + 1
        if not listed:
            return at
        at = _skip_space(data, at, end)
        if at < end and data[at] == 93:
            return at + 1
        if at >= end or data[at] != 44:
            return -1
        at = _skip_space(data, at + 1, end)


@inner
def _read_row(
    data: UInt8,
    at: int,
    end: int,
    id_key: UInt8,
    caption_key: UInt8,
    state: Out[Int64],
    keys: Out[Int64x2],
    frames: Out[Int64],
    deepest: int,
    ids: Out[Int64x2],
    spans: Out[Int64x2],
    row_of: Out[Int64],
) -> int:
    """Read the row at ``at``. Return −2 if the arrays are full."""
    if at >= end or data[at] != 123:
        return -1
    if state[ROWS] >= ids.shape[0]:
        return -2
    known = 0
    has_id = has_caption = False
    at += 1
    while True:
        at = _read_key(data, at, end, keys, 0, known)
        if at < 0:
            return -1
        at = _skip_space(data, at, end)
        if at >= end:
            return -1
        if _is_key(data, keys, known, id_key):
            has_id = True
            at = _read_id(data, at, end, ids, state)
        elif _is_key(data, keys, known, caption_key):
            has_caption = True
            at = _read_captions(data, at, end, spans, row_of, state)
        else:
            at = _value_end(data, at, end, keys, known + 1, frames, deepest)
        if at < 0:
            return at
        known += 1
        at = _skip_space(data, at, end)
        if at >= end:
            return -1
        if data[at] == 125:
            break
        if data[at] != 44:
            return -1
        at += 1
    if not (has_id and has_caption):
        return -1
    state[ROWS] += 1
    return at + 1


@kernel
def scan_rows(
    data: UInt8,
    end: int,
    lines: bool,
    id_key: UInt8,
    caption_key: UInt8,
    state: Out[Int64],
    keys: Out[Int64x2],
    frames: Out[Int64],
    deepest: int,
    ids: Out[Int64x2],
    spans: Out[Int64x2],
    row_of: Out[Int64],
) -> int:
    """Read rows: the objects of a list or, with ``lines``, one object per line.

    ``state`` holds the index to start at; after ``FULL``, call again with larger arrays to continue.
    ``ids`` receives the id of each row (the number, or the start and end of the string), ``spans`` the
    start and end of each caption in the file, and ``row_of`` the row of each caption.
    """
    while True:
        at, captions = _skip_space(data, state[AT], end), state[CAPTIONS]
        last = end
        if lines:
            if at >= end:
                state[AT] = at
                return DONE
            last = at
            while last < end and data[last] != 10:
                last += 1
        at = _read_row(data, at, last, id_key, caption_key, state, keys, frames, deepest, ids, spans, row_of)
        if at == -2:
            state[CAPTIONS] = captions
            return FULL
        if at < 0:
            return UNKNOWN
        at = _skip_space(data, at, last)
        if lines:
            if at < last:
                return UNKNOWN
        elif at < end and data[at] == 93:
            state[AT] = at + 1
            return DONE
        elif at < end and data[at] == 44:
            at += 1
        else:
            return UNKNOWN
        state[AT] = at
