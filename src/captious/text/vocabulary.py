"""Words by number.

`Vocabulary` numbers strings. `WordTable` has words as bytes in one array and a hash table, so that kernels
number the words of captions without creating strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.core.container import StoredTexts
from captious.kernels import inner, kernel
from captious.kernels.types import Int16, Int32, Int64, Out, UInt8, UInt64
from captious.text.hashing import MULTIPLIER, first_place, free_place, next_place

Number = TypeVar("Number", bound=np.generic)

#: Value of a separator in `fold` (see `number_text`).
SEPARATOR = -1


@inner
def number_text(
    source: UInt8,
    at: int,
    end: int,
    fold: Int16,
    stored: Out[UInt8],
    places: Out[Int32],
    ends: Out[Int64],
    heads: Out[UInt64],
    known: int,
    tokens: Out[Int32],
    written: int,
) -> int:
    """Number the words in ``source[at:end]`` and write the numbers to ``tokens[written:]``. Return the
    size of the table.

    Words that are not among the ``known`` ones are added. ``fold`` maps a byte to the byte that is
    stored for it, ``SEPARATOR`` between words, and to its negative if it always begins a word (an
    apostrophe). The head of a word is its first eight bytes, which is all of most words.
    """
    while at < end:
        byte = int(fold[source[at]])
        if byte == SEPARATOR:
            at += 1
            continue
        start = at
        head = np.uint64(abs(byte))
        rest = np.uint64(0)
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
                rest = (rest ^ np.uint64(byte)) * MULTIPLIER
                at += 1
        size = at - start
        place = first_place((head ^ rest) * MULTIPLIER, places)
        number = int(places[place]) - 1
        while number >= 0:
            first = ends[number]
            if heads[number] == head and ends[number + 1] - first == size:
                k = 8
                while k < size and stored[first + k] == fold[source[start + k]]:
                    k += 1
                if k >= size:
                    break
            place = next_place(place, places)
            number = int(places[place]) - 1
        if number < 0:
            number = known
            known += 1
            places[place] = known
            heads[number] = head
            first = ends[number]
            for k in range(size):
                stored[first + k] = abs(int(fold[source[start + k]]))
            ends[known] = first + size
        tokens[written] = number
        written += 1
    return known


@kernel
def _fill(stored: UInt8, count: int, places: Out[Int32], ends: Int64, heads: Out[UInt64]) -> None:
    """Insert all words, which are distinct, into an empty hash table."""
    for i in range(count):
        head = np.uint64(0)
        rest = np.uint64(0)
        for k in range(ends[i + 1] - ends[i]):
            byte = np.uint64(stored[ends[i] + k])
            if k < 8:
                head |= byte << np.uint64(8 * k)
            else:
                rest = (rest ^ byte) * MULTIPLIER
        places[free_place((head ^ rest) * MULTIPLIER, places)] = i + 1
        heads[i] = head


class WordTable:
    """Growing table of numbered words. Word i is ``stored[ends[i]:ends[i + 1]]``, as UTF-8."""

    def __init__(self, stored: NDArray[np.uint8], ends: NDArray[np.int64], count: int) -> None:
        self.count = count
        self.stored, self.ends = stored, ends
        #: First eight bytes of each word.
        self.heads: NDArray[np.uint64] = np.zeros(len(ends), dtype=np.uint64)
        #: Hash table (see :mod:`captious.text.hashing`).
        self.places = np.zeros(0, dtype=np.int32)
        self.reserve(0, 0)

    @classmethod
    def of(cls, words: Sequence[str]) -> WordTable:
        """Create a table of distinct words, numbered in their order."""
        return cls(*StoredTexts.of(words).arrays, len(words))

    def copy(self) -> WordTable:
        """Return an independent copy."""
        copied = WordTable.__new__(WordTable)
        copied.count = self.count
        copied.stored, copied.ends, copied.heads, copied.places = (
            part.copy() for part in (self.stored, self.ends, self.heads, self.places)
        )
        return copied

    def reserve(self, size: int, more: int) -> None:
        """Make room for ``more`` words of ``size`` bytes in total."""
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
                _fill(self.stored, self.count, self.places, self.ends, self.heads)

    def words(self, first: int = 0) -> list[str]:
        """Return the words from number ``first`` on."""
        return StoredTexts(self.stored, self.ends[: self.count + 1])[first:]


def _grown(values: NDArray[Number], used: int, wanted: int) -> NDArray[Number]:
    grown = np.zeros(max(wanted, 2 * len(values)), dtype=values.dtype)
    grown[:used] = values[:used]
    return grown


class _Index(dict[str, int]):
    """Dictionary that numbers new keys, unless the dictionary below has the key."""

    def __init__(self, below: dict[str, int] | None, first: int) -> None:
        super().__init__()
        self.below = below
        self.first = first
        self.new: list[str] = []
        self.frozen = False

    def __missing__(self, word: str) -> int:
        number = self.below.get(word, -1) if self.below is not None else -1
        if number < 0:
            if self.frozen:
                raise ValueError(f"this vocabulary is frozen: it takes no new word {word!r}")
            number = self.first + len(self.new)
            self.new.append(word)
        if not self.frozen:
            self[word] = number
        return number


class Vocabulary:
    """Numbered words. The number of a word never changes.

    A vocabulary grows until it is frozen. Words that a frozen one does not have go into an overlay,
    ``Vocabulary(base=…)``: it numbers them from where its base ends, and leaves the base as it is, so
    many overlays can share one base.
    """

    def __init__(self, words: Iterable[str] = (), *, base: Vocabulary | None = None) -> None:
        self.base = base
        if base is not None:
            if base.base is not None:
                raise ValueError(
                    "an overlay lies over a vocabulary that stands by itself, not over another overlay"
                )
            base.freeze()
        self._index: _Index = _Index(
            base._index if base is not None else None, len(base) if base is not None else 0
        )
        listed = list(words)
        if base is None:
            # Fast path for distinct words.
            self._index.update(zip(listed, range(len(listed))))
            if len(self._index) == len(listed):
                self._index.new = listed
                return
            self._index.clear()
        for word in listed:
            self._index[word]

    def __len__(self) -> int:
        return self._index.first + len(self._index.new)

    def __contains__(self, word: object) -> bool:
        return word in self._index or (self.base is not None and word in self.base)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.words if self.base is None else self._index.new, self.base, self._index.frozen)

    @property
    def new(self) -> list[str]:
        """Words that the base lacks, in the order of their numbers."""
        return self._index.new

    @property
    def words(self) -> list[str]:
        """All words, in the order of their numbers."""
        return self.new if self.base is None else [*self.base.words, *self.new]

    def freeze(self) -> None:
        """Refuse new words from now on."""
        self._index.frozen = True

    def encode(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of words. New words are added."""
        return np.fromiter(map(self._index.__getitem__, words), dtype=np.int32, count=len(words))

    def find(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of words, −1 for unknown words."""
        own: dict[str, int] = self._index
        below: dict[str, int] = self.base._index if self.base is not None else {}
        numbers = (number if (number := own.get(word, -1)) >= 0 else below.get(word, -1) for word in words)
        return np.fromiter(numbers, np.int32, len(words))


def _restore(words: list[str], base: Vocabulary | None, frozen: bool) -> Vocabulary:
    vocabulary = Vocabulary(words, base=base)
    if frozen:
        vocabulary.freeze()
    return vocabulary
