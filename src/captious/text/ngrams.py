"""n-grams as integers: each distinct n-gram of a corpus has one number, shared by all its captions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel

IntArray = NDArray[np.int64]

#: Keys numbered before the table is looked at again.
_PIECE = 1 << 15

#: 2⁶⁴ over the golden ratio, which spreads products evenly (Knuth's multiplicative hashing).
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

#: Words fit into this many bits when n-grams are packed exactly; larger vocabularies fall back to a 64-bit hash.
BITS = 16


def is_exact(n: int, vocabulary_size: int) -> bool:
    """Whether n-grams over so many words are packed exactly."""
    return vocabulary_size < (1 << BITS) and n * BITS <= 64


def pack(tokens: NDArray[np.int32], n: int, vocabulary_size: int) -> NDArray[np.uint64]:
    """One 64-bit key for the n-gram that starts at each position of ``tokens`` (the last n−1 positions run over).

    Up to 65,536 words and n ≤ 4 the key is the n-gram itself. Beyond that it is a 64-bit hash, where two different
    n-grams among ten million share a key with probability 3 in a million.
    """
    words = tokens.astype(np.uint64) + np.uint64(1)
    keys = words.copy()
    exact = is_exact(n, vocabulary_size)
    for shift in range(1, n):
        following = np.zeros_like(words)
        following[:-shift] = words[shift:]
        if exact:
            keys |= following << np.uint64(BITS * shift)
        else:
            keys = _mix(keys) ^ following  # unsigned arithmetic wraps, as a hash wants
    return keys if exact or n == 1 else _mix(keys)


def _mix(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijective scrambling of 64-bit numbers (the finaliser of splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = keys ^ (keys >> np.uint64(31))
    return mixed


@kernel
def _assign(keys, places, stored, known, multiplier, half, hits):  # type: ignore[no-untyped-def]
    """Number each key by open addressing: ``places`` holds numbers from 1 on (0 = free), ``stored`` the key of each number.

    ``multiplier`` and ``half`` (32) are arguments because only typed scalars keep the arithmetic unsigned.
    """
    mask = places.shape[0] - 1
    for i in range(keys.shape[0]):
        key = keys[i]
        place = int(((key ^ (key >> half)) * multiplier) >> half) & mask
        while places[place] != 0 and stored[places[place] - 1] != key:
            place = (place + 1) & mask
        if places[place] == 0:
            stored[known] = key
            known += 1
            places[place] = known
        hits[i] = places[place] - 1
    return known


@kernel
def _find(keys, places, stored, multiplier, half, hits):  # type: ignore[no-untyped-def]
    """The number of each key, −1 where it is not in the table."""
    mask = places.shape[0] - 1
    for i in range(keys.shape[0]):
        key = keys[i]
        place = int(((key ^ (key >> half)) * multiplier) >> half) & mask
        while places[place] != 0 and stored[places[place] - 1] != key:
            place = (place + 1) & mask
        hits[i] = places[place] - 1


@kernel
def _fill(stored, size, places, multiplier, half):  # type: ignore[no-untyped-def]
    """Put the numbers of all keys into an empty table."""
    mask = places.shape[0] - 1
    for i in range(size):
        key = stored[i]
        place = int(((key ^ (key >> half)) * multiplier) >> half) & mask
        while places[place] != 0:
            place = (place + 1) & mask
        places[place] = i + 1


class NgramIndex:
    """The numbers of all n-grams of one length that some captions have."""

    def __init__(self, n: int, exact: bool = True) -> None:
        self.n = n
        self.size = 0
        #: Whether keys are packed n-grams; otherwise they are hashes.
        self.exact = exact
        #: The key of each number, and room for more.
        self.keys: NDArray[np.uint64] = np.empty(512, dtype=np.uint64)
        #: A hash table of numbers, counted from 1; 0 is free.
        self.places: NDArray[np.int32] = np.zeros(1024, dtype=np.int32)

    @classmethod
    def restore(cls, n: int, exact: bool, keys: NDArray[np.uint64], places: NDArray[np.int32]) -> NgramIndex:
        """An index from its parts, as a prepared file keeps them."""
        index = cls(n, exact)
        index.size, index.keys, index.places = len(keys), keys, places
        return index

    def encode(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The number of each key, adding those that are new."""
        hits = np.empty(len(keys), dtype=np.int32)
        assign = _assign.pick(len(keys) * 4)
        for at in range(0, len(keys), _PIECE):
            # All keys of a piece may be new, but most are not: pieces keep the table as small as the caches like it.
            piece = slice(at, at + _PIECE)
            part = keys[piece]
            self._reserve(self.size + len(part))
            with np.errstate(over="ignore"):
                self.size = int(
                    assign(part, self.places, self.keys, self.size, _MULTIPLIER, np.uint64(32), hits[piece])
                )
        return hits

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The number of each key, −1 for those that are not here; nothing is added."""
        hits = np.empty(len(keys), dtype=np.int32)
        with np.errstate(over="ignore"):
            _find.pick(len(keys) * 4)(keys, self.places, self.keys, _MULTIPLIER, np.uint64(32), hits)
        return hits

    def _reserve(self, count: int) -> None:
        if count > len(self.keys):
            grown = np.empty(max(count, 2 * len(self.keys)), dtype=np.uint64)
            grown[: self.size] = self.keys[: self.size]
            self.keys = grown
        capacity = len(self.places)
        if capacity >= 2 * count:
            return
        while capacity < 2 * count:
            capacity *= 2
        self.places = np.zeros(capacity, dtype=np.int32)
        with np.errstate(over="ignore"):
            _fill.pick(self.size * 4)(self.keys, self.size, self.places, _MULTIPLIER, np.uint64(32))


@dataclass(frozen=True, eq=False)
class NgramTable:
    """The distinct n-grams of each caption, sorted by number, with their counts.

    Rows ``offsets[i]:offsets[i + 1]`` of ``number`` and ``count`` belong to caption i.
    """

    number: NDArray[np.int32]
    #: In bytes, unless a caption has hundreds of n-grams.
    count: NDArray[np.uint8] | NDArray[np.int32]
    offsets: IntArray
    #: Number of n-grams (with repeats) of each caption.
    totals: IntArray


@kernel
def sort_run(numbers, low, high):  # type: ignore[no-untyped-def]
    """Sort ``numbers[low:high]`` in place: a short run by insertion, a long one by a heap, which is never slow, whatever the order was."""
    size = high - low
    if size <= 64:
        for j in range(low + 1, high):
            value = numbers[j]
            k = j - 1
            while k >= low and numbers[k] > value:
                numbers[k + 1] = numbers[k]
                k -= 1
            numbers[k + 1] = value
        return
    at = size // 2
    while size > 1:
        if at > 0:
            at -= 1
            value = numbers[low + at]
        else:
            size -= 1
            value = numbers[low + size]
            numbers[low + size] = numbers[low]
        place = at
        child = 2 * place + 1
        while child < size:
            if child + 1 < size and numbers[low + child + 1] > numbers[low + child]:
                child += 1
            if numbers[low + child] <= value:
                break
            numbers[low + place] = numbers[low + child]
            place = child
            child = 2 * place + 1
        numbers[low + place] = value


@kernel
def _tabulate(numbers, starts, out_number, out_count, out_offsets):  # type: ignore[no-untyped-def]
    """Sort and count the n-gram numbers of each caption."""
    at = 0
    out_offsets[0] = 0
    for i in range(starts.shape[0] - 1):
        low = starts[i]
        high = starts[i + 1]
        sort_run(numbers, low, high)
        previous = -1
        for j in range(low, high):
            value = numbers[j]
            if value == previous:
                out_count[at - 1] += 1
            else:
                out_number[at] = value
                out_count[at] = 1
                at += 1
                previous = value
        out_offsets[i + 1] = at
    return at


def ngram_positions(offsets: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Positions at which a whole n-gram of one caption starts, and where each caption's run of them starts."""
    totals = np.maximum(np.diff(offsets) - (n - 1), 0)
    starts = np.zeros(len(offsets), dtype=np.int64)
    np.cumsum(totals, out=starts[1:])
    positions = np.arange(starts[-1], dtype=np.int64) + np.repeat(offsets[:-1] - starts[:-1], totals)
    return positions, starts


class TableWriter:
    """Makes a table of the n-grams of captions, a stretch of captions after the other."""

    def __init__(self, totals: IntArray) -> None:
        """For captions with so many n-grams each."""
        self._starts = np.zeros(len(totals) + 1, dtype=np.int64)
        np.cumsum(totals, out=self._starts[1:])
        self._totals = totals
        # Room for n-grams that all differ. The system gives memory for what is written, so what is left over costs nothing.
        self._number = np.empty(int(self._starts[-1]), dtype=np.int32)
        # No n-gram occurs more often than there are n-grams.
        self._count = np.empty(int(self._starts[-1]), dtype=np.uint8 if totals.max(initial=0) < 256 else np.int32)
        self._offsets = np.zeros(len(totals) + 1, dtype=np.int64)
        self._captions = 0
        self._used = 0

    def add(self, numbers: NDArray[np.int32]) -> None:
        """The numbers of the n-grams of further captions, with repeats; they get sorted."""
        first, begin = self._captions, int(self._starts[self._captions])
        # Captions without n-grams behind the stretch belong to it as well.
        last = int(np.searchsorted(self._starts, begin + len(numbers), side="right")) - 1
        room = slice(self._used, self._used + len(numbers))
        offsets = self._offsets[first : last + 1]
        used = _tabulate.pick(len(numbers) * 4)(numbers, self._starts[first : last + 1] - begin, self._number[room], self._count[room], offsets)
        offsets += self._used
        self._used += int(used)
        self._captions = last

    def table(self) -> NgramTable:
        """The table of all captions."""
        return NgramTable(self._number[: self._used], self._count[: self._used], self._offsets, self._totals)
