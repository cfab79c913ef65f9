"""The synsets of many words at once, from the arrays of a mapped dictionary (see
:mod:`captious.text.synonyms`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.kernels import inner, kernel
from captious.kernels.types import Int32, Int64, Int64x2, Out, UInt8, UInt32
from captious.text.hashing import equal_bytes

Bytes = NDArray[np.uint8]
Ends = NDArray[np.uint32]
Ints = NDArray[np.int64]

#: Words that must be looked up one by one: irregular forms and other scripts.
SINGLE = -2
_ABSENT = -1


def _remainders() -> NDArray[np.int64]:
    """Return the table of the CRC-32 checksum."""
    table = np.arange(256, dtype=np.int64)
    for _ in range(8):
        table = np.where(table & 1, 0xEDB88320 ^ (table >> 1), table >> 1)
    return table


REMAINDERS = _remainders()


@inner
def row_of(
    text: UInt8, begin: int, end: int, keys: UInt8, key_ends: UInt32, buckets: UInt32, remainders: Int64
) -> int:
    """Return the row of a flat table with a text as its key, or -1."""
    state = 0xFFFFFFFF
    for k in range(begin, end):
        state = remainders[(state ^ np.int64(text[k])) & 0xFF] ^ (state >> 8)
    bucket = (state ^ 0xFFFFFFFF) & (len(buckets) - 2)
    for row in range(np.int64(buckets[bucket]), np.int64(buckets[bucket + 1])):
        first = np.int64(key_ends[row])
        size = np.int64(key_ends[row + 1]) - first
        if size == end - begin and equal_bytes(keys, first, text, begin, size):
            return row
    return _ABSENT


@kernel
def find_rows(
    text: UInt8,
    offsets: Int64,
    keys: UInt8,
    key_ends: UInt32,
    buckets: UInt32,
    base_keys: UInt8,
    base_key_ends: UInt32,
    base_buckets: UInt32,
    rules: UInt8,
    rule_ends: Int64,
    remainders: Int64,
    form: Out[UInt8],
    rows: Out[Int64x2],
) -> None:
    """Find the rows of each word and of its base form in the table of synsets.

    A row is −1 if there is none, and ``SINGLE`` if the word must be looked up by itself. ``rules`` are pairs
    of an ending and its replacement, in the order in which they are tried. ``form`` is room for a word.
    """
    for w in range(len(offsets) - 1):
        begin, end = offsets[w], offsets[w + 1]
        single = row_of(text, begin, end, base_keys, base_key_ends, base_buckets, remainders) >= 0
        for k in range(begin, end):
            single = single or text[k] >= 128
        rows[w, 0] = SINGLE if single else row_of(text, begin, end, keys, key_ends, buckets, remainders)
        rows[w, 1] = _ABSENT
        # Words in -ss, and those of two letters, are their own base form.
        if single or end - begin <= 2 or (text[end - 1] == 115 and text[end - 2] == 115):
            continue
        for k in range(begin, end):
            form[k - begin] = text[k]
        for rule in range(0, len(rule_ends) - 1, 2):
            ending, replacement, stop = rule_ends[rule], rule_ends[rule + 1], rule_ends[rule + 2]
            cut = end - begin - (replacement - ending)
            same = cut >= 0
            k = ending
            while same and k < replacement:
                same = text[begin + cut + k - ending] == rules[k]
                k += 1
            if not same:
                continue
            for k in range(replacement, stop):
                form[cut + k - replacement] = rules[k]
            base_row = row_of(form, 0, cut + stop - replacement, keys, key_ends, buckets, remainders)
            for k in range(cut, end - begin):
                form[k] = text[begin + k]
            if base_row >= 0:
                rows[w, 1] = base_row
                break


@kernel
def join_rows(
    rows: Int64x2, values: Int32, value_ends: UInt32, counts: Out[Int64], synsets: Out[Int32]
) -> int:
    """Write the synsets of both rows of each word, ascending and without repeats. Return their number.

    ``counts`` receives the number of each word.
    """
    n = 0
    for w in range(len(rows)):
        begin = n
        for side in range(2):
            row = rows[w, side]
            if row < 0:
                continue
            for place in range(np.int64(value_ends[row]) // 4, np.int64(value_ends[row + 1]) // 4):
                value = values[place]
                at = n
                while at > begin and synsets[at - 1] > value:
                    at -= 1
                if at > begin and synsets[at - 1] == value:
                    continue
                for k in range(n, at, -1):
                    synsets[k] = synsets[k - 1]
                synsets[at] = value
                n += 1
        counts[w] = n - begin
    return n
