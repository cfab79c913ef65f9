"""The builder of the index of METEOR's paraphrase table (:mod:`captious.meteor.meteor_tables`).

The table is a gzip file, 272 MB unpacked, of groups of three lines: a probability, a phrase and one of its
paraphrases. One thread unpacks while the other numbers words and phrases. A phrase is packed into two
integers of 64 bits, 16 bits per word, so that phrases are compared, hashed and sorted as numbers.
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
from captious.kernels import kernel
from captious.kernels.types import Int32, Int64, Out, UInt8, UInt32, UInt64x2
from captious.text.hashing import MULTIPLIER, equal_bytes, first_place, next_place
from captious.text.stemmer import java_hash, stem

#: Bytes of the table per read.
_BLOCK = 1 << 18
#: Words of the longest phrase.
_WIDTH = 8
_MOST_WORDS = (1 << 16) - 1
#: Estimate for the initial capacity, which grows. The table of METEOR 1.5 has 104 bytes per distinct phrase.
_BYTES_A_PHRASE = 80
_ZERO = np.uint64(0)


@kernel
def read_pairs(
    data: UInt8,
    text: Out[UInt8],
    ends: Out[Int64],
    places: Out[Int32],
    count: int,
    phrases: Out[UInt64x2],
) -> int:
    """Pack both phrases of each group of three lines into rows of two integers: the numbers of the words.

    Return the new number of words, or -1 if a phrase has too many words or there are too many distinct
    words. Word n is ``text[ends[n - 1] : ends[n]]``, which ends with a line feed. ``places`` is a hash table
    of word numbers; 0 is free.
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
                start, key = at, _ZERO
                while data[at] != 32 and data[at] != 10:
                    key = (key ^ np.uint64(data[at])) * MULTIPLIER
                    at += 1
                letters = at - start
                if letters == 0 or size == _WIDTH:
                    return -1
                place = first_place(key, places)
                number = int(places[place])
                while number > 0 and not (
                    ends[number] - ends[number - 1] == letters + 1
                    and equal_bytes(data, start, text, ends[number - 1], letters)
                ):
                    place = next_place(place, places)
                    number = int(places[place])
                if number == 0:
                    for k in range(letters):
                        text[ends[count] + k] = data[start + k]
                    text[ends[count] + letters] = 10
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


@kernel
def group(rows: UInt32, values: UInt32, ends: Out[UInt32], grouped: Out[UInt32]) -> None:
    """Write the values row by row, in their order.

    ``ends`` has the start of each row, and afterwards its end.
    """
    for i in range(len(rows)):
        row = rows[i]
        grouped[ends[row]] = values[i]
        ends[row] += 1


class _WordTable:
    """Distinct words with their numbers, from 1."""

    def __init__(self) -> None:
        self._text = np.empty(0, np.uint8)
        self._ends = np.zeros(_MOST_WORDS + 2, np.int64)
        self._places = np.zeros(2 * (_MOST_WORDS + 1), np.int32)
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
    words, distinct = _WordTable(), _PhraseTable(length // _BYTES_A_PHRASE)
    pairs = [np.zeros(0, np.int32)]
    try:
        for lines, count in track(
            _groups(table), "METEOR: indexing the paraphrase table (once)", -(-length // _BLOCK)
        ):
            pairs.append(distinct.number(words.read(lines, count)))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"the paraphrase table {table} is damaged ({error}); "
            "reinstall it with: pip install --force-reinstall pycocoevalcap"
        ) from error

    count = len(distinct.keys)
    names = words.text.tobytes().decode("utf-8").split("\n")[:-1]
    with ThreadPoolExecutor(1) as pool:
        sorting = pool.submit(np.lexsort, distinct.keys.T[::-1])
        stems = [java_hash(stem(word)) for word in names]
        order = sorting.result()
        unpacking = pool.submit(_unpacked, distinct.keys, order)
        row_of = np.empty(count, np.uint32)
        row_of[order] = np.arange(count, dtype=np.uint32)
        source, target = row_of[np.concatenate(pairs)].reshape(-1, 2).T
        offsets, targets = _grouped(source, target, count)
        source_offsets, sources = _grouped(
            targets, np.repeat(np.arange(count, dtype=np.uint32), np.diff(offsets)), count
        )
        phrases = unpacking.result()
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


def _unpacked(keys: NDArray[np.uint64], order: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Unpack phrases in a given order: rows of word numbers, as wide as the longest phrase."""
    used = np.bitwise_or.reduce(keys, axis=0).astype(">u8").view(">u2")
    rows = np.empty((len(keys), max(1, int(np.count_nonzero(used)))), np.uint16)
    for k in range(rows.shape[1]):
        # The cast keeps the lowest 16 bits.
        rows[:, k] = keys[order, k // 4] >> np.uint64(16 * (3 - k % 4))
    return rows


def _grouped(
    rows: NDArray[np.uint32], values: NDArray[np.uint32], count: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the offsets of the rows, and the values row by row."""
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.uint32)
    grouped = np.empty(len(rows), np.uint32)
    group(np.ascontiguousarray(rows), np.ascontiguousarray(values), offsets[:-1].copy(), grouped)
    return offsets, grouped
