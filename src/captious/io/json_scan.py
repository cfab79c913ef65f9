"""Kernels that find ids and captions in the bytes of a JSON file, without making a Python object of anything in it.

They know plain JSON: what a careful writer makes of captions. Whatever else they meet (a key twice, an escape within a key,
``NaN``, a number of hundreds of digits, rows of another form, anything that is no JSON), they give up with −1, and say
nothing of why: the other reader (:mod:`captious.io.json_formats`) takes the file from its start, and explains.
"""

from __future__ import annotations

from captious.kernels import kernel

#: How :func:`scan_rows` and :func:`members` end: all is read; the key was found; the arrays are full; not for these kernels.
DONE, FOUND, FULL, UNKNOWN = 0, 1, 2, -1
#: Where :func:`scan_rows` and :func:`members` keep how far they are.
AT, ROWS, CAPTIONS, TEXT_IDS, LISTS, STATE = 0, 1, 2, 3, 4, 5
#: Digits of a number that is an id, and of one that is skipped.
_ID_DIGITS, _DIGITS = 18, 300


@kernel
def _space(data, at, end):  # type: ignore[no-untyped-def]
    """Behind white space."""
    while at < end and (data[at] == 32 or data[at] == 10 or data[at] == 13 or data[at] == 9):
        at += 1
    return at


@kernel
def hex_digit(byte):  # type: ignore[no-untyped-def]
    """The value of a hexadecimal digit, or −1."""
    if 48 <= byte <= 57:
        return byte - 48
    if 97 <= byte <= 102:
        return byte - 87
    if 65 <= byte <= 70:
        return byte - 55
    return -1


@kernel
def _text_end(data, at, end):  # type: ignore[no-untyped-def]
    """The place of the quote that ends the text whose content begins at ``at``, or −1."""
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
            elif not (byte == 34 or byte == 92 or byte == 47 or byte == 98 or byte == 102 or byte == 110 or byte == 114 or byte == 116):
                return -1
    return -1


@kernel
def _key(data, at, end, keys, first, known):  # type: ignore[no-untyped-def]
    """Take the key at ``at`` as number ``known`` of ``keys``; those of the same object begin at ``first``. The place behind the colon, or −1."""
    at = _space(data, at, end)
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
        low = keys[other, 0]
        if keys[other, 1] - low == at - start:
            k = 0
            while k < at - start and data[low + k] == data[start + k]:
                k += 1
            if k == at - start:
                return -1
    keys[known, 0] = start
    keys[known, 1] = at
    at = _space(data, at + 1, end)
    if at >= end or data[at] != 58:
        return -1
    return at + 1


@kernel
def _word_end(data, at, end):  # type: ignore[no-untyped-def]
    """The place behind a number, ``true``, ``false`` or ``null``, or −1."""
    byte = data[at]
    if byte == 116 or byte == 110:
        if at + 4 > end:
            return -1
        if byte == 116 and data[at + 1] == 114 and data[at + 2] == 117 and data[at + 3] == 101:
            return at + 4
        if byte == 110 and data[at + 1] == 117 and data[at + 2] == 108 and data[at + 3] == 108:
            return at + 4
        return -1
    if byte == 102:
        if at + 5 <= end and data[at + 1] == 97 and data[at + 2] == 108 and data[at + 3] == 115 and data[at + 4] == 101:
            return at + 5
        return -1
    last = min(end, at + _DIGITS)
    if byte == 45:
        at += 1
    if at >= last or not 48 <= data[at] <= 57:
        return -1
    if data[at] == 48:
        at += 1
    else:
        while at < last and 48 <= data[at] <= 57:
            at += 1
    if at < last and data[at] == 46:
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


@kernel
def _value_end(data, at, end, keys, known, frames, deepest):  # type: ignore[no-untyped-def]
    """The place behind the value that begins at ``at``, or −1.

    ``keys`` from ``known`` on takes the keys of objects that are open, ``frames`` where those of each begin (−1 for a list).
    """
    depth = 0
    while True:
        at = _space(data, at, end)
        if at >= end:
            return -1
        byte = data[at]
        if byte == 123 or byte == 91:
            if depth >= deepest:
                return -1
            frames[depth] = known if byte == 123 else -1
            depth += 1
            at = _space(data, at + 1, end)
            # A bracket that closes comes two behind the one that opens.
            if at < end and data[at] == byte + 2:
                at += 1
                depth -= 1
            else:
                if byte == 123:
                    at = _key(data, at, end, keys, known, known)
                    known += 1
                    if at < 0:
                        return -1
                continue
        elif byte == 34:
            at = _text_end(data, at + 1, end) + 1
            if at == 0:
                return -1
        else:
            at = _word_end(data, at, end)
            if at < 0:
                return -1
        # A value has ended, and with it all that ends here.
        more = False
        while depth > 0 and not more:
            at = _space(data, at, end)
            if at >= end:
                return -1
            first = frames[depth - 1]
            if data[at] == 44:
                at += 1
                if first >= 0:
                    at = _key(data, at, end, keys, first, known)
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
def members(data, end, wanted, state, keys, frames, deepest, spans):  # type: ignore[no-untyped-def]
    """Walk through an object: ``spans`` takes, for each key, where it and its value begin and end.

    It stops at a list under the key ``wanted``, whose rows are for :func:`scan_rows`; called again behind that list, it goes on.
    Before the first call, ``state`` has the place of the opening bracket.
    """
    at, found = state[AT], state[ROWS]
    if found == 0:
        at = _space(data, at + 1, end)
        if at < end and data[at] == 125:
            state[AT] = at + 1
            return DONE
    while True:
        if found > 0:
            if spans[found - 1, 3] == 0:
                spans[found - 1, 3] = at
            at = _space(data, at, end)
            if at >= end:
                return UNKNOWN
            if data[at] == 125:
                state[AT] = at + 1
                state[ROWS] = found
                return DONE
            if data[at] != 44:
                return UNKNOWN
            at += 1
        at = _key(data, at, end, keys, 0, found)
        if at < 0:
            return UNKNOWN
        at = _space(data, at, end)
        spans[found, 0], spans[found, 1] = keys[found, 0], keys[found, 1]
        spans[found, 2], spans[found, 3] = at, 0
        found += 1
        if at < end and data[at] == 91 and _is(data, keys, found - 1, wanted):
            state[AT] = at
            state[ROWS] = found
            return FOUND
        at = _value_end(data, at, end, keys, found, frames, deepest - 1)
        if at < 0:
            return UNKNOWN


@kernel
def _is(data, keys, place, wanted):  # type: ignore[no-untyped-def]
    """Whether a key is the one that is wanted."""
    start = keys[place, 0]
    if keys[place, 1] - start != wanted.shape[0]:
        return False
    k = 0
    while k < wanted.shape[0] and data[start + k] == wanted[k]:
        k += 1
    return k == wanted.shape[0]


@kernel
def _take_id(data, at, end, ids, state):  # type: ignore[no-untyped-def]
    """Take the id of the row that is being read: a whole number, or where a text begins and ends. The place behind it, or −1."""
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
    # No digit, more than fit, a filling of zeros, or "-0". What is no whole number goes on behind its digits, where the row must.
    if digits == 0 or digits > _ID_DIGITS or (data[start] == 48 and (digits > 1 or negative)):
        return -1
    ids[row, 0] = -value if negative else value
    return at


@kernel
def _take_captions(data, at, end, spans, row_of, state):  # type: ignore[no-untyped-def]
    """Take the caption, or the list of captions, of the row that is being read. The place behind it, or −1; −2 if there is no room."""
    listed = data[at] == 91
    if listed:
        state[LISTS] = 1
        at = _space(data, at + 1, end)
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
        at = _space(data, at, end)
        if at < end and data[at] == 93:
            return at + 1
        if at >= end or data[at] != 44:
            return -1
        at = _space(data, at + 1, end)


@kernel
def _row(data, at, end, id_key, caption_key, state, keys, frames, deepest, ids, spans, row_of):  # type: ignore[no-untyped-def]
    """Read the object at ``at``. The place behind it, or −1; −2 if there is no room for it."""
    if at >= end or data[at] != 123:
        return -1
    if state[ROWS] >= ids.shape[0]:
        return -2
    known = 0
    has_id = has_caption = False
    at += 1
    while True:
        at = _key(data, at, end, keys, 0, known)
        if at < 0:
            return -1
        at = _space(data, at, end)
        if at >= end:
            return -1
        if _is(data, keys, known, id_key):
            has_id = True
            at = _take_id(data, at, end, ids, state)
        elif _is(data, keys, known, caption_key):
            has_caption = True
            at = _take_captions(data, at, end, spans, row_of, state)
        else:
            at = _value_end(data, at, end, keys, known + 1, frames, deepest)
        if at < 0:
            return at
        known += 1
        at = _space(data, at, end)
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
def scan_rows(data, end, lines, id_key, caption_key, state, keys, frames, deepest, ids, spans, row_of):  # type: ignore[no-untyped-def]
    """Read rows: the objects of a list, or (``lines``) one object a line. ``state`` says where to begin, and where to go on when there is room again.

    ``ids`` takes each row's id: the number, or where the text begins and ends. ``spans`` takes where each caption begins and ends as it is
    written in the file, ``row_of`` its row.
    """
    while True:
        at, captions = _space(data, state[AT], end), state[CAPTIONS]
        last = end
        if lines:
            if at >= end:
                state[AT] = at
                return DONE
            last = at
            while last < end and data[last] != 10:
                last += 1
        at = _row(data, at, last, id_key, caption_key, state, keys, frames, deepest, ids, spans, row_of)
        if at == -2:
            state[CAPTIONS] = captions
            return FULL
        if at < 0:
            return UNKNOWN
        at = _space(data, at, last)
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
