"""The builder of the index of METEOR's paraphrase table (:mod:`captious.meteor.meteor_tables`).

The table is a gzip file, 272 MB unpacked, of groups of three lines: a probability, a phrase and one of its
paraphrases. One thread unpacks while the other numbers words and phrases. Then one thread sorts the phrases
while the other stems the words, and one unpacks the phrases while the other groups the pairs. A phrase is
packed into two integers of 64 bits, 16 bits per word, so that phrases are compared, hashed and sorted as
numbers.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.progress import track
from captious.kernels import inner, kernel
from captious.kernels.types import Int32, Int64, Out, UInt8, UInt16x2, UInt32, UInt64, UInt64x2
from captious.text.hashing import MULTIPLIER, equal_bytes, first_place, next_place
from captious.text.stemmer import java_hash, stem

#: Bytes of the table per read.
_BLOCK = 1 << 18
#: Words of the longest phrase.
_WIDTH = 8
_MOST_WORDS = (1 << 16) - 1
#: Estimate for the initial capacity, which grows. The table of METEOR 1.5 has 104 bytes per distinct phrase.
_BYTES_A_PHRASE = 80
# Keys of words: 1 and the bytes of the word. Words of more than _SHORT bytes have the highest bit.
_SHORT = 7
_ZERO, _ONE, _BYTE, _OTHERS, _LONG = (np.uint64(value) for value in (0, 1, 8, 56, 1 << 63))
#: Bits of a word number.
_WORD = np.uint64(0xFFFF)


@kernel
def read_pairs(
    data: UInt8,
    text: Out[UInt8],
    ends: Out[Int64],
    places: Out[Int32],
    keys: Out[UInt64],
    count: int,
    phrases: Out[UInt64x2],
) -> int:
    """Pack both phrases of each group of three lines into rows of two integers: the numbers of the words.

    Return the new number of words, or -1 if a phrase has too many words or there are too many distinct
    words. Word n is ``text[ends[n - 1] : ends[n]]``, which ends with a line feed, and has the key
    ``keys[n - 1]``. The key of a word of at most ``_SHORT`` bytes is unique. ``places`` is a hash table of
    word numbers; 0 is free.
    """
    at, row = 0, 0
    source, length = 0, 0
    while at < len(data):
        # The first line is a probability, which the metric does not use.
        while data[at] != 10:
            at += 1
        at += 1
        for side in range(2):
            # The second line is usually that of the previous group.
            if (
                side == 0
                and row > 0
                and at + length < len(data)
                and data[at + length] == 10
                and equal_bytes(data, at, data, source, length)
            ):
                phrases[row, 0], phrases[row, 1] = phrases[row - 2, 0], phrases[row - 2, 1]
                at += length + 1
                row += 1
                continue
            begin, size = at, 0
            high, low = _ZERO, _ZERO
            while at == begin or data[at - 1] != 10:
                start, key = at, _ONE
                while data[at] != 32 and data[at] != 10:
                    key = ((key << _BYTE) | (key >> _OTHERS)) ^ np.uint64(data[at])
                    at += 1
                letters = at - start
                if letters == 0 or size == _WIDTH:
                    return -1
                if letters > _SHORT:
                    key |= _LONG
                place = first_place(key, places)
                number = int(places[place])
                while number > 0 and (
                    keys[number - 1] != key
                    or (
                        letters > _SHORT
                        and not (
                            ends[number] - ends[number - 1] == letters + 1
                            and equal_bytes(data, start, text, ends[number - 1], letters)
                        )
                    )
                ):
                    place = next_place(place, places)
                    number = int(places[place])
                if number == 0:
                    for k in range(letters):
                        text[ends[count] + k] = data[start + k]
                    text[ends[count] + letters] = 10
                    keys[count] = key
                    count += 1
                    ends[count] = ends[count - 1] + letters + 1
                    places[place] = number = count
                    if count > _MOST_WORDS:
                        return -1
                if size < 4:
                    high |= np.uint64(number) << np.uint64(48 - 16 * size)
                else:
                    low |= np.uint64(number) << np.uint64(112 - 16 * size)
                size += 1
                at += 1
            if side == 0:
                source, length = begin, at - 1 - begin
            phrases[row, 0], phrases[row, 1] = high, low
            row += 1
    return count


@kernel
def number_phrases(
    keys: UInt64x2, phrases: Out[UInt64x2], places: Out[Int32], count: int, numbers: Out[Int32]
) -> int:
    """Number packed phrases in the order in which they first appear; return their new number.

    ``places`` is a hash table of numbers, counted from 1.
    """
    for i in range(len(keys)):
        high, low = keys[i, 0], keys[i, 1]
        # A phrase is usually that of the previous group.
        if i > 1 and high == keys[i - 2, 0] and low == keys[i - 2, 1]:
            numbers[i] = numbers[i - 2]
            continue
        place = first_place((high ^ (low * MULTIPLIER)) * MULTIPLIER, places)
        number = int(places[place]) - 1
        while number >= 0 and (phrases[number, 0] != high or phrases[number, 1] != low):
            place = next_place(place, places)
            number = int(places[place]) - 1
        if number < 0:
            number = count
            count += 1
            places[place] = count
            phrases[number, 0], phrases[number, 1] = high, low
        numbers[i] = number
    return count


@inner
def sort_by_word(
    keys: UInt64x2, k: int, source: Int32, target: Out[Int32], first: int, starts: Out[Int32]
) -> None:
    """Sort the rows ``source[first:]`` of packed phrases by their word k into `target`, stably.

    ``starts`` has a cell for each word number, and one more.
    """
    column, shift = k // 4, np.uint64(48 - 16 * (k % 4))
    starts[:] = 0
    for i in range(first, len(source)):
        starts[int((keys[source[i], column] >> shift) & _WORD) + 1] += 1
    starts[0] = first
    for word in range(1, len(starts)):
        starts[word] += starts[word - 1]
    for i in range(first, len(source)):
        word = int((keys[source[i], column] >> shift) & _WORD)
        target[starts[word]] = source[i]
        starts[word] += 1


@kernel
def sort_phrases(keys: UInt64x2, order: Out[Int32], other: Out[Int32], starts: Out[Int32]) -> None:
    """Write the ascending order of packed phrases to `order`: a radix sort, the last word first.

    ``other`` is scratch memory like ``order``; ``starts`` has a cell for each word number, and one more.
    """
    # Most phrases have at most four words, and come first when the others are sorted by their last words.
    first = 0
    for i in range(len(keys)):
        if keys[i, 1] == _ZERO:
            order[first] = i
            first += 1
    at = first
    for i in range(len(keys)):
        if keys[i, 1] != _ZERO:
            order[at] = i
            at += 1
    for k in range(_WIDTH - 1, 3, -2):
        sort_by_word(keys, k, order, other, first, starts)
        sort_by_word(keys, k - 1, other, order, first, starts)
    sort_by_word(keys, 3, order, other, 0, starts)
    sort_by_word(keys, 2, other, order, 0, starts)
    sort_by_word(keys, 1, order, other, 0, starts)
    sort_by_word(keys, 0, other, order, 0, starts)


@kernel
def unpack(keys: UInt64x2, order: Int32, rows: Out[UInt16x2]) -> None:
    """Write the word numbers of packed phrases in a given order."""
    for i in range(len(order)):
        for k in range(rows.shape[1]):
            packed = keys[order[i], k // 4] >> np.uint64(48 - 16 * (k % 4))
            rows[i, k] = np.uint16(packed & _WORD)


@kernel
def group_pairs(
    pairs: Int32,
    row_of: UInt32,
    offsets: UInt32,
    targets: Out[UInt32],
    source_offsets: Out[UInt32],
    sources: Out[UInt32],
    ends: Out[UInt32],
) -> None:
    """Group pairs of phrase and paraphrase by phrase, in their order, and by paraphrase, in ascending order.

    ``pairs`` alternates between the numbers of both, ``row_of`` has the row of each number, and ``offsets``
    the start of each row's paraphrases. ``ends`` is scratch memory with a cell for each row.
    """
    for row in range(len(ends)):
        ends[row] = offsets[row]
        source_offsets[row] = 0
    source_offsets[len(ends)] = 0
    for i in range(0, len(pairs), 2):
        row, target = row_of[pairs[i]], row_of[pairs[i + 1]]
        targets[ends[row]] = target
        ends[row] += 1
        source_offsets[target + 1] += 1
    for row in range(len(ends)):
        source_offsets[row + 1] += source_offsets[row]
        ends[row] = source_offsets[row]
    for row in range(len(ends)):
        for place in range(offsets[row], offsets[row + 1]):
            target = targets[place]
            sources[ends[target]] = row
            ends[target] += 1


class _WordNumbers:
    """Distinct words with their numbers, from 1."""

    def __init__(self) -> None:
        self._text = np.empty(0, np.uint8)
        self._ends = np.zeros(_MOST_WORDS + 2, np.int64)
        self._places = np.zeros(2 * (_MOST_WORDS + 1), np.int32)
        self._keys = np.empty(_MOST_WORDS + 1, np.uint64)
        self._count = 0

    @property
    def text(self) -> NDArray[np.uint8]:
        """All words, each followed by a line feed."""
        return self._text[: self._ends[self._count]]

    def read(self, data: bytes, groups: int) -> NDArray[np.uint64]:
        """Add the words of groups of three lines; return the packed phrases, two for each group."""
        if len(self.text) + len(data) > len(self._text):
            self._text = np.concatenate([self.text, np.empty(len(self._text) + len(data), np.uint8)])
        phrases = np.empty((2 * groups, 2), np.uint64)
        with np.errstate(over="ignore"):
            self._count = int(
                read_pairs(
                    np.frombuffer(data, np.uint8),
                    self._text,
                    self._ends,
                    self._places,
                    self._keys,
                    self._count,
                    phrases,
                )
            )
        if self._count < 0:
            raise InputError(
                "METEOR's paraphrase table does not fit its index, which holds "
                f"phrases of 1 to {_WIDTH} words and at most {_MOST_WORDS:,} distinct words; "
                "use the table of METEOR 1.5"
            )
        return phrases


class _PhraseTable:
    """Distinct phrases, packed into two integers each, with their numbers."""

    def __init__(self, capacity: int) -> None:
        self._count = 0
        self._keys = np.empty((0, 2), np.uint64)
        self._reserve(capacity)

    @property
    def keys(self) -> NDArray[np.uint64]:
        return self._keys[: self._count]

    def number(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Add phrases; return their numbers."""
        if self._count + len(keys) > len(self._keys):
            self._reserve(2 * (self._count + len(keys)))
        numbers = np.empty(len(keys), np.int32)
        with np.errstate(over="ignore"):
            self._count = int(number_phrases(keys, self._keys, self._places, self._count, numbers))
        return numbers

    def _reserve(self, capacity: int) -> None:
        before, self._count = self.keys, 0
        self._keys = np.empty((capacity, 2), np.uint64)
        self._places = np.zeros(1 << (2 * capacity).bit_length(), np.int32)
        # In order, so that each phrase gets its number again.
        self.number(before)


def build(table: Path, length: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of `Paraphrases` for a table that has `length` bytes when unpacked."""
    words, distinct = _WordNumbers(), _PhraseTable(length // _BYTES_A_PHRASE)
    parts = [np.zeros(0, np.int32)]
    try:
        for lines, count in track(
            _groups(table), "METEOR: indexing the paraphrase table (once)", -(-length // _BLOCK)
        ):
            parts.append(distinct.number(words.read(lines, count)))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"the paraphrase table {table} is damaged ({error}); "
            "reinstall it with: pip install --force-reinstall pycocoevalcap"
        ) from error

    count = len(distinct.keys)
    names = words.text.tobytes().decode("utf-8").split("\n")[:-1]
    keys, pairs = distinct.keys, np.concatenate(parts)
    row_of, phrases = np.empty(count, np.uint32), np.empty((count, _longest(keys)), np.uint16)
    targets, sources = np.empty((2, len(pairs) // 2), np.uint32)
    source_offsets, ends = np.empty(count + 1, np.uint32), np.empty(count, np.uint32)
    with ThreadPoolExecutor(1) as pool:
        order, other = np.empty((2, count), np.int32)
        sorting = pool.submit(sort_phrases, keys, order, other, np.empty(len(names) + 2, np.int32))
        stems = [java_hash(stem(word)) for word in names]
        counts = np.bincount(pairs[::2], minlength=count)
        sorting.result()
        unpacking = pool.submit(unpack, keys, order, phrases)
        row_of[order] = np.arange(count, dtype=np.uint32)
        offsets = np.concatenate([[0], np.cumsum(counts[order])]).astype(np.uint32)
        group_pairs(pairs, row_of, offsets, targets, source_offsets, sources, ends)
        unpacking.result()
    return {
        "words": words.text,
        "first": np.searchsorted(phrases[:, 0], np.arange(len(names) + 2)).astype(np.uint32),
        "phrases": phrases,
        "offsets": offsets,
        "targets": targets,
        "source_offsets": source_offsets,
        "sources": sources,
        "stems": np.array([0, *stems], np.uint32),
    }


def _groups(table: Path) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of whole groups of three lines, and their numbers of groups.

    Each piece is unpacked while the caller works on the previous one.
    """
    rest = b""

    def read() -> tuple[bytes, int] | None:
        nonlocal rest
        block = stream.read(_BLOCK)
        if not block:
            return None
        data = rest + block
        lines, end = data.count(b"\n"), len(data)
        for _ in range(lines % 3 + 1):
            end = data.rfind(b"\n", 0, end)
        rest = data[end + 1 :]
        return data[: end + 1], lines // 3

    with gzip.open(table, "rb") as stream, ThreadPoolExecutor(1) as pool:
        following = pool.submit(read)
        while piece := following.result():
            following = pool.submit(read)
            yield piece
    if rest:
        raise EOFError("it does not end with a whole group of three lines")


def _longest(keys: NDArray[np.uint64]) -> int:
    """Return the number of words of the longest packed phrase, at least 1."""
    used = np.bitwise_or.reduce(keys, axis=0).astype(">u8").view(">u2")
    return max(1, int(np.count_nonzero(used)))
