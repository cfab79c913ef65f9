"""n-grams as integers. Each distinct n-gram of a corpus has one number, shared by all captions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray, offsets_of, positions_of
from captious.kernels import inner, kernel
from captious.kernels.types import Float64, Int32, Int64, Out, UInt64
from captious.text.hashing import find_place, free_place

#: Keys that are numbered between two checks of the table's size.
_PIECE = 1 << 15

#: Bits of a word in an exactly packed n-gram. Larger vocabularies use a 64-bit hash instead.
BITS = 16


def is_exact(n: int, vocabulary_size: int) -> bool:
    """Whether n-grams over a vocabulary of this size are packed exactly."""
    return vocabulary_size < (1 << BITS) and n * BITS <= 64


def pack(tokens: NDArray[np.int32], n: int, vocabulary_size: int) -> NDArray[np.uint64]:
    """Return the 64-bit key of the n-gram that starts at each position of ``tokens`` (the last n−1 of
    them incomplete).

    Below 65,536 words and for n ≤ 4 the key is the n-gram itself. Beyond that it is a 64-bit hash: the
    probability that two of ten million distinct n-grams share a key is 3 in a million.
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
            keys = _mix(keys) ^ following  # overflow is intended
    return keys if exact or n == 1 else _mix(keys)


def _mix(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of 64-bit numbers by a bijection (the finaliser of splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = keys ^ (keys >> np.uint64(31))
    return mixed


@kernel
def _assign(keys: UInt64, places: Out[Int32], stored: Out[UInt64], known: int, numbers: Out[Int32]) -> int:
    """Number each key.

    Keys that are not among the `known` ones in `stored` are added; return how many there are then.
    """
    for i in range(keys.shape[0]):
        place = find_place(keys[i], places, stored)
        if places[place] == 0:
            stored[known] = keys[i]
            known += 1
            places[place] = known
        numbers[i] = places[place] - 1
    return known


@kernel
def _find(keys: UInt64, places: Int32, stored: UInt64, numbers: Out[Int32]) -> None:
    """Find the number of each key, or -1."""
    for i in range(keys.shape[0]):
        numbers[i] = places[find_place(keys[i], places, stored)] - 1


@kernel
def _fill(stored: UInt64, size: int, places: Out[Int32]) -> None:
    """Insert all keys, which are distinct, into an empty table."""
    for i in range(size):
        places[free_place(stored[i], places)] = i + 1


class NgramIndex:
    """Numbers of all n-grams of one length in some captions."""

    def __init__(self, n: int, exact: bool = True) -> None:
        self.n = n
        self.size = 0
        #: Whether keys are packed n-grams; otherwise they are hashes.
        self.exact = exact
        #: Key of each number, with spare room at the end.
        self.keys: NDArray[np.uint64] = np.empty(512, dtype=np.uint64)
        #: Hash table (see :mod:`captious.text.hashing`).
        self.places: NDArray[np.int32] = np.zeros(1024, dtype=np.int32)

    @classmethod
    def restore(cls, n: int, exact: bool, keys: NDArray[np.uint64], places: NDArray[np.int32]) -> NgramIndex:
        """Create an index from the arrays of a prepared file."""
        index = cls(n, exact)
        index.size, index.keys, index.places = len(keys), keys, places
        return index

    def encode(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each key. New keys are added."""
        numbers = np.empty(len(keys), dtype=np.int32)
        for start in range(0, len(keys), _PIECE):
            # Room is reserved for a piece as if all of its keys were new. Few are, so small pieces keep the
            # table small.
            piece = slice(start, start + _PIECE)
            self._reserve(self.size + len(keys[piece]))
            with np.errstate(over="ignore"):
                self.size = _assign(keys[piece], self.places, self.keys, self.size, numbers[piece])
        return numbers

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each key, −1 for unknown keys."""
        numbers = np.empty(len(keys), dtype=np.int32)
        with np.errstate(over="ignore"):
            _find(keys, self.places, self.keys, numbers)
        return numbers

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
            _fill(self.keys, self.size, self.places)


@dataclass(frozen=True, eq=False)
class NgramTable:
    """Distinct n-grams of each caption, sorted by number, with their counts.

    Rows ``offsets[i]:offsets[i + 1]`` of ``number`` and ``count`` belong to caption i.
    """

    number: NDArray[np.int32]
    count: NDArray[np.int32]
    offsets: IntArray
    #: Number of n-grams (with repeats) of each caption.
    totals: IntArray


@inner
def sort_run(numbers: Out[Int32] | Out[Float64], low: int, high: int) -> None:
    """Sort ``numbers[low:high]`` in place: short runs by insertion, long ones by heapsort, which has no
    slow case."""
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
def _tabulate(
    numbers: Out[Int32], starts: Int64, out_number: Out[Int32], out_count: Out[Int32], out_offsets: Out[Int64]
) -> int:
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
    """Return the positions at which an n-gram of one caption starts, and the offset of each caption
    among them."""
    return positions_of(offsets[:-1], np.maximum(np.diff(offsets) - (n - 1), 0))


class TableWriter:
    """Builder of an n-gram table that receives its captions in stretches."""

    def __init__(self, totals: IntArray) -> None:
        """``totals``: number of n-grams of each caption."""
        self._starts = offsets_of(totals)
        self._totals = totals
        # Room for n-grams that all differ. Pages that are never written take no memory.
        self._number = np.empty(int(self._starts[-1]), dtype=np.int32)
        self._count = np.empty(int(self._starts[-1]), dtype=np.int32)
        self._offsets = np.zeros(len(totals) + 1, dtype=np.int64)
        self._captions = 0
        self._used = 0

    def add(self, numbers: NDArray[np.int32]) -> None:
        """Add the n-gram numbers of the next captions, with repeats. Sorts ``numbers`` in place."""
        first, begin = self._captions, int(self._starts[self._captions])
        # Captions without n-grams that follow the stretch belong to it.
        last = int(np.searchsorted(self._starts, begin + len(numbers), side="right")) - 1
        room = slice(self._used, self._used + len(numbers))
        offsets = self._offsets[first : last + 1]
        used = _tabulate(
            numbers, self._starts[first : last + 1] - begin, self._number[room], self._count[room], offsets
        )
        offsets += self._used
        self._used += int(used)
        self._captions = last

    def table(self) -> NgramTable:
        """Return the table of all captions."""
        return NgramTable(self._number[: self._used], self._count[: self._used], self._offsets, self._totals)
