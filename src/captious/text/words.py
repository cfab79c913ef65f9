"""Words as bytes in one array, numbered by a hash table: for loops that number the words of many captions without making texts of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel

Number = TypeVar("Number", bound=np.generic)

#: As for n-grams: 2⁶⁴ over the golden ratio.
MULTIPLIER, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@kernel
def number_text(source, at, end, fold, multiplier, half, zero, stored, places, ends, heads, known, tokens, written):  # type: ignore[no-untyped-def]
    """Number the words between ``at`` and ``end``, the first as ``tokens[written]``; words that are not in the table are added to the ``known`` ones.

    ``fold`` has the byte that stands for each byte of a word, −1 for those between words; an apostrophe between words begins one. The first
    eight bytes of a word, which are all that most words have, are its head. ``zero`` is typed, which keeps the arithmetic unsigned.
    """
    mask = places.shape[0] - 1
    while at < end:
        byte = int(fold[source[at]])
        if byte < 0:
            if source[at] != 39:
                at += 1
                continue
            byte = 39
        start = at
        head = np.uint64(byte)
        rest = zero
        at += 1
        stop = min(end, start + 8)
        while at < stop:
            byte = int(fold[source[at]])
            if byte < 0:
                break
            head |= np.uint64(byte) << np.uint64(8 * (at - start))
            at += 1
        if at == start + 8:
            while at < end:
                byte = int(fold[source[at]])
                if byte < 0:
                    break
                rest = (rest ^ np.uint64(byte)) * multiplier
                at += 1
        size = at - start
        key = (head ^ rest) * multiplier
        place = int(((key ^ (key >> half)) * multiplier) >> half) & mask
        number = int(places[place]) - 1
        while number >= 0:
            first = ends[number]
            if heads[number] == head and ends[number + 1] - first == size:
                k = 8
                while k < size and stored[first + k] == fold[source[start + k]]:
                    k += 1
                if k >= size:
                    break
            place = (place + 1) & mask
            number = int(places[place]) - 1
        if number < 0:
            number = known
            known += 1
            places[place] = known
            heads[number] = head
            first = ends[number]
            for k in range(size):
                byte = int(fold[source[start + k]])
                stored[first + k] = byte if byte >= 0 else 39
            ends[known] = first + size
        tokens[written] = number
        written += 1
    return known


@kernel
def _fill(stored, count, multiplier, half, zero, places, ends, heads):  # type: ignore[no-untyped-def]
    """Put the numbers of all words, which differ, into an empty hash table."""
    mask = places.shape[0] - 1
    for i in range(count):
        head = rest = zero
        for k in range(ends[i + 1] - ends[i]):
            byte = np.uint64(stored[ends[i] + k])
            if k < 8:
                head |= byte << np.uint64(8 * k)
            else:
                rest = (rest ^ byte) * multiplier
        key = (head ^ rest) * multiplier
        place = int(((key ^ (key >> half)) * multiplier) >> half) & mask
        while places[place] != 0:
            place = (place + 1) & mask
        places[place] = i + 1
        heads[i] = head


class WordTable:
    """Words with their numbers, and room for more: word i is ``stored[ends[i]:ends[i + 1]]``, as UTF-8."""

    def __init__(self, stored: NDArray[np.uint8], ends: NDArray[np.int64], count: int) -> None:
        self.count = count
        self.stored, self.ends = stored, ends
        #: The first eight bytes of each word.
        self.heads: NDArray[np.uint64] = np.zeros(len(ends), dtype=np.uint64)
        #: A hash table of numbers, counted from 1; 0 is free.
        self.places = np.zeros(0, dtype=np.int32)
        self.reserve(0, 0)

    @classmethod
    def of(cls, words: Sequence[str]) -> WordTable:
        """A table of different words, numbered as they are listed."""
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        ends = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(word) for word in encoded], out=ends[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends, len(encoded))

    def copy(self) -> WordTable:
        """The same words; what is added to one is not in the other."""
        copied = WordTable.__new__(WordTable)
        copied.count = self.count
        copied.stored, copied.ends, copied.heads, copied.places = (part.copy() for part in (self.stored, self.ends, self.heads, self.places))
        return copied

    def reserve(self, size: int, more: int) -> None:
        """Make room for so many more words, of ``size`` bytes altogether."""
        used = int(self.ends[self.count])
        if used + size + 1 > len(self.stored):
            self.stored = _grown(self.stored, used, used + size + 1)
        if self.count + more + 1 > len(self.ends):
            self.ends = _grown(self.ends, self.count + 1, self.count + more + 1)
            self.heads = _grown(self.heads, self.count, len(self.ends))
        capacity = max(len(self.places), 1 << 12)
        while capacity < 2 * (self.count + more):
            capacity *= 2
        if capacity > len(self.places):
            self.places = np.zeros(capacity, dtype=np.int32)
            with np.errstate(over="ignore"):
                _fill.pick(200 * self.count)(self.stored, self.count, MULTIPLIER, HALF, np.uint64(0), self.places, self.ends, self.heads)

    def words(self, first: int = 0) -> list[str]:
        """The words from number ``first`` on."""
        bounds = self.ends[first : self.count + 1].tolist()
        data = self.stored[bounds[0] : bounds[-1]].tobytes()
        if data.isascii():
            text = data.decode("ascii")
            return [text[a - bounds[0] : b - bounds[0]] for a, b in itertools.pairwise(bounds)]
        return [data[a - bounds[0] : b - bounds[0]].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(bounds)]


def _grown(values: NDArray[Number], used: int, wanted: int) -> NDArray[Number]:
    grown = np.zeros(max(wanted, 2 * len(values)), dtype=values.dtype)
    grown[:used] = values[:used]
    return grown
