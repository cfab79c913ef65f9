"""Words as bytes in one array, numbered by a hash table: for loops that number the words of many captions without making texts of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel

#: As for n-grams: 2⁶⁴ over the golden ratio.
MULTIPLIER, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@kernel
def place_of(stored, used, size, multiplier, half, places, ends):  # type: ignore[no-untyped-def]
    """The place in the hash table of the word of ``size`` bytes that stands at ``stored[used:]``: where its number is, or where it goes."""
    mask = places.shape[0] - 1
    key = multiplier
    for k in range(used, used + size):
        key = (key ^ np.uint64(stored[k])) * multiplier
        key ^= key >> half
    place = int(key) & mask
    while places[place] != 0:
        number = places[place] - 1
        start = ends[number]
        if ends[number + 1] - start == size:
            k = 0
            while k < size and stored[start + k] == stored[used + k]:
                k += 1
            if k == size:
                break
        place = (place + 1) & mask
    return place


@kernel
def _fill(stored, count, multiplier, half, places, ends):  # type: ignore[no-untyped-def]
    """Put the numbers of all words into an empty table."""
    for i in range(count):
        places[place_of(stored, ends[i], ends[i + 1] - ends[i], multiplier, half, places, ends)] = i + 1


class WordTable:
    """Words with their numbers, and room for more: word i is ``stored[ends[i]:ends[i + 1]]``, as UTF-8."""

    def __init__(self, stored: NDArray[np.uint8], ends: NDArray[np.int64], count: int) -> None:
        self.count = count
        self.stored, self.ends = stored, ends
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
        copied.stored, copied.ends, copied.places = self.stored.copy(), self.ends.copy(), self.places.copy()
        return copied

    def reserve(self, size: int, more: int) -> None:
        """Make room for so many more words, of ``size`` bytes altogether."""
        used = int(self.ends[self.count])
        if used + size + 1 > len(self.stored):
            self.stored = _grown(self.stored, used, used + size + 1)
        if self.count + more + 1 > len(self.ends):
            self.ends = _grown(self.ends, self.count + 1, self.count + more + 1)
        capacity = max(len(self.places), 1 << 12)
        while capacity < 2 * (self.count + more):
            capacity *= 2
        if capacity > len(self.places):
            self.places = np.zeros(capacity, dtype=np.int32)
            with np.errstate(over="ignore"):
                _fill.pick(20 * self.count)(self.stored, self.count, MULTIPLIER, HALF, self.places, self.ends)

    def words(self, first: int = 0) -> list[str]:
        """The words from number ``first`` on."""
        bounds = self.ends[first : self.count + 1].tolist()
        data = self.stored[bounds[0] : bounds[-1]].tobytes()
        if data.isascii():
            text = data.decode("ascii")
            return [text[a - bounds[0] : b - bounds[0]] for a, b in zip(bounds, bounds[1:])]
        return [data[a - bounds[0] : b - bounds[0]].decode("utf-8", "surrogatepass") for a, b in zip(bounds, bounds[1:])]


def _grown(values: NDArray[np.generic], used: int, wanted: int) -> NDArray[np.generic]:
    grown = np.zeros(max(wanted, 2 * len(values)), dtype=values.dtype)
    grown[:used] = values[:used]
    return grown
