"""Words that match by form, stem or synset, and phrases that are paraphrases of each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import ragged
from captious.core.threads import side_by_side, threads_for
from captious.kernels import inner, kernel
from captious.kernels.types import Bool, Int32, Int32x2, Int64, Out, UInt16x2, UInt32
from captious.meteor.matches import BACK, EXACT, KINDS, STEM, SYNONYM, THERE, Ints, PhraseRelations, Small
from captious.meteor.meteor_tables import Paraphrases
from captious.text.hashing import first_place


@inner
def feature(
    keys: UInt32, stems: UInt32, synset_offsets: Int64, synsets: Int32, word: int, part: int
) -> np.int64:
    """Return the form (part 0), stem (1) or a synset (from 2) of a word, as ``KINDS * value + kind``."""
    if part == EXACT:
        return KINDS * np.int64(keys[word]) + EXACT
    if part == STEM:
        return KINDS * np.int64(stems[word]) + STEM
    return KINDS * np.int64(synsets[synset_offsets[word] + part - 2]) + SYNONYM


@kernel
def relate(
    keys: UInt32,
    stems: UInt32,
    synset_offsets: Int64,
    synsets: Int32,
    used: Bool,
    heads: Out[Int32],
    values: Out[Int64],
    owners: Out[Int32],
    following: Out[Int32],
    last: Out[Int32],
    pairs: Out[Int32x2],
) -> int:
    """Write pairs of a used word and a list that it is entered in (see :mod:`captious.meteor.matches`).

    Return how many pairs there are; if that exceeds the room in `pairs`, call again with more. ``heads`` is a
    hash table of forms, stems and synsets of the used words, counted from 1; ``last`` has a cell for each
    word, -1 before.
    """
    entries = 0
    for word in range(len(keys)):
        if not used[word]:
            continue
        for part in range(2 + synset_offsets[word + 1] - synset_offsets[word]):
            values[entries] = feature(keys, stems, synset_offsets, synsets, word, part)
            place = first_place(np.uint64(values[entries]), heads)
            owners[entries] = word
            following[entries] = heads[place]
            entries += 1
            heads[place] = entries
    count = 0
    for word in range(len(keys)):
        for part in range(2 + synset_offsets[word + 1] - synset_offsets[word]):
            kind = min(part, SYNONYM)
            value = feature(keys, stems, synset_offsets, synsets, word, part)
            entry = heads[first_place(np.uint64(value), heads)]
            while entry > 0:
                other = owners[entry - 1]
                if values[entry - 1] == value:
                    new = kind == EXACT or keys[other] != keys[word]
                    if kind == SYNONYM:
                        # Two words may share several synsets.
                        new = new and last[other] != word
                        last[other] = word
                    if new:
                        if count < len(pairs):
                            pairs[count, 0] = other
                            pairs[count, 1] = KINDS * word + kind
                        count += 1
                entry = following[entry - 1]
    return count


@kernel
def sort_pairs(pairs: Int32x2, offsets: Out[Int64], related: Out[Int32]) -> None:
    """Group the lists by word. ``offsets`` has the end of each word's lists, and afterwards the start."""
    for p in range(len(pairs) - 1, -1, -1):
        offsets[pairs[p, 0]] -= 1
        related[offsets[pairs[p, 0]]] = pairs[p, 1]


def related_words(
    keys: NDArray[np.uint32],
    stems: NDArray[np.uint32],
    synset_offsets: Ints,
    synsets: Small,
    used: NDArray[np.bool_],
) -> tuple[Ints, Small]:
    """Return the lists that each used word is entered in: offsets and lists."""
    n = len(keys)
    own = int(np.sum((np.diff(synset_offsets) + 2)[used]))
    bits = max((2 * own).bit_length(), 4)
    pairs = np.empty((16 * n + 64, 2), np.int32)
    while True:
        scratch = (
            np.zeros(1 << bits, np.int32),
            np.empty(own, np.int64),
            np.empty(own, np.int32),
            np.empty(own, np.int32),
            np.full(n, -1, np.int32),
        )
        with np.errstate(over="ignore"):
            count = int(
                relate(
                    keys,
                    stems,
                    synset_offsets,
                    synsets,
                    used,
                    *scratch,
                    pairs,
                )
            )
        if count <= len(pairs):
            break
        pairs = np.empty((count, 2), np.int32)
    pairs = pairs[:count]
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(pairs[:, 0], minlength=n), out=offsets[:-1])
    offsets[-1] = count
    related = np.empty(count, np.int32)
    sort_pairs(pairs, offsets, related)
    return offsets, related


#: Lines per task of a thread.
_BLOCK = 8_000

#: Cached steps through the table. Many captions begin alike.
_REMEMBERED = 1 << 15


@inner
def narrow(phrases: UInt16x2, low: int, high: int, k: int, word: int) -> int:
    """Return the first of the rows ``low:high`` whose word at place k is this one or a later one."""
    while low < high:
        middle = (low + high) // 2
        if phrases[middle, k] < word:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def find(
    numbers: Int32,
    line_offsets: Int64,
    first: UInt32,
    phrases: UInt16x2,
    steps: Out[Int64],
    ranges: Out[Int32x2],
    rows: Out[Int32],
    offsets: Out[Int32],
) -> int:
    """Write the rows of the phrases that begin at each token, short to long; return how many there are.

    ``offsets`` gets the end of each token's phrases. ``steps`` and ``ranges`` are a cache: when a word
    follows some rows, which rows remain, from and to, and whether the first is a phrase that ends there. Step
    0 is an empty cell.
    """
    width = phrases.shape[1]
    begin = line_offsets[0]
    count = 0
    for line in range(len(line_offsets) - 1):
        line_end = line_offsets[line + 1]
        for t in range(line_offsets[line], line_end):
            low, high = np.int64(first[numbers[t]]), np.int64(first[numbers[t] + 1])
            if numbers[t] == 0:
                high = low
            k = 0
            # Rows are sorted and short ones padded with 0, so a phrase that ends here is first.
            ends = low < high and (width == 1 or phrases[low, 1] == 0)
            while low < high:
                k += 1
                if ends:
                    rows[count] = low
                    count += 1
                if k == width or t + k == line_end:
                    break
                word = int(numbers[t + k])
                if word == 0:
                    break
                step = ((low << 16) | word) * width + k
                place = (step ^ (step >> 15) ^ (step >> 29)) & (len(steps) - 1)
                if steps[place] != step:
                    start = narrow(phrases, low, high, k, word)
                    steps[place] = step
                    ranges[place, 0] = start
                    ranges[place, 1] = narrow(phrases, start, high, k, word + 1)
                    ranges[place, 2] = start < ranges[place, 1] and (
                        k + 1 == width or phrases[start, k + 1] == 0
                    )
                low, high, ends = int(ranges[place, 0]), int(ranges[place, 1]), ranges[place, 2] != 0
            offsets[t - begin] = count
    return count


@kernel
def number(rows: Out[Int32], numbers: Out[Int32], distinct: Out[Int32]) -> int:
    """Number the rows in the order of their first appearance; return how many are distinct.

    ``numbers`` has a cell for each row of the table, 0 before.
    """
    count = 0
    for s in range(len(rows)):
        row = rows[s]
        if numbers[row] == 0:
            distinct[count] = row
            count += 1
            numbers[row] = count
        rows[s] = numbers[row] - 1
    return count


class Spans(NamedTuple):
    """Phrases that begin at each token: ``numbers[offsets[t]:offsets[t + 1]]``, short to long.

    ``rows`` has the row of each phrase in the table.
    """

    numbers: Small
    offsets: Small
    rows: Small

    def only(self, tokens: Ints) -> Spans:
        """Select tokens."""
        picked, offsets = ragged.runs(self.offsets, tokens)
        different, numbers = ragged.distinct(self.numbers[picked])
        return Spans(numbers.astype(np.int32), offsets.astype(np.int32), self.rows[different])


def spans_of(index: Paraphrases, numbers: Small, offsets: Ints) -> Spans:
    """Find the phrases of lines whose words have these numbers in the table."""

    def run(start: int) -> tuple[Small, Small]:
        bounds = offsets[start : start + _BLOCK + 1]
        tokens = int(bounds[-1] - bounds[0])
        rows, ends = np.empty(tokens * index.phrases.shape[1], np.int32), np.empty(tokens, np.int32)
        steps, ranges = np.zeros(_REMEMBERED, np.int64), np.empty((_REMEMBERED, 3), np.int32)
        count = int(find(numbers, bounds, index.first, index.phrases, steps, ranges, rows, ends))
        return rows[:count].copy(), ends

    parts = list(side_by_side(run, range(0, len(offsets) - 1, _BLOCK), threads_for(len(numbers))))
    span_offsets = np.zeros(len(numbers) + 1, np.int32)
    at, before = 1, 0
    for rows, ends in parts:
        np.add(ends, before, out=span_offsets[at : at + len(ends)])
        at, before = at + len(ends), before + len(rows)
    spans = np.concatenate([rows for rows, _ in parts]) if parts else np.zeros(0, np.int32)
    distinct = np.empty(min(len(spans), len(index.phrases)), np.int32)
    count = int(number(spans, np.zeros(len(index.phrases), np.int32), distinct))
    return Spans(spans, span_offsets, distinct[:count].copy())


@kernel
def join(
    rows: Int32,
    there: Int32,
    offsets: UInt32,
    targets: UInt32,
    source_offsets: UInt32,
    sources: UInt32,
    words: int,
    bounds: Out[Int64],
    related: Out[Int32],
    ranks: Out[Int32],
    numbers: Out[Int32],
    listed: Out[Int32],
) -> int:
    """Write the lists, with ranks, that each phrase of lines 1 is entered in.

    Return how many phrases of lines 2 have lists.

    ``rows`` has the phrases of lines 1 as rows of the table. ``there`` has, for each row of the table, the
    phrase of lines 2, counted from 1. Phrases that get lists are numbered in ``numbers`` (-1 before), and
    their rows go to ``listed``.
    """
    n, count = 0, 0
    for p in range(len(rows)):
        row = rows[p]
        bounds[p] = n
        begin = np.int64(source_offsets[row])
        for side in range(2):
            low, high = (
                (begin, np.int64(source_offsets[row + 1]))
                if side == THERE
                else (np.int64(offsets[row]), np.int64(offsets[row + 1]))
            )
            rank = -1
            for place in range(low, high):
                other = sources[place] if side == THERE else targets[place]
                phrase = there[other] - 1
                if phrase < 0:
                    continue
                if numbers[phrase] < 0:
                    numbers[phrase] = count
                    listed[count] = other
                    count += 1
                if side == BACK:
                    rank = place - low
                else:
                    # A phrase may occur twice among the paraphrases of another.
                    rank = rank + 1 if place > low and sources[place - 1] == other else 0
                    while targets[np.int64(offsets[other]) + rank] != row:
                        rank += 1
                related[n] = KINDS * (words + numbers[phrase]) + side
                ranks[n] = rank
                n += 1
    bounds[len(rows)] = n
    return count


def paraphrases_of(index: Paraphrases, ours: Small, theirs: Small, words: int) -> PhraseRelations:
    """Relate phrases of lines 1 to phrases of lines 2, which are paraphrases in either direction."""
    there = np.zeros(len(index.phrases), np.int32)
    there[theirs] = np.arange(1, len(theirs) + 1, dtype=np.int32)
    most = sum(
        int(np.sum(offsets[ours + 1].astype(np.int64) - offsets[ours]))
        for offsets in (index.offsets, index.source_offsets)
    )
    bounds, related, ranks = (
        np.empty(len(ours) + 1, np.int64),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
    )
    numbers, listed = np.full(len(theirs), -1, np.int32), np.empty(len(theirs), np.int32)
    table = index.offsets, index.targets, index.source_offsets, index.sources
    count = int(join(ours, there, *table, words, bounds, related, ranks, numbers, listed))
    lengths, their_lengths = (
        np.count_nonzero(index.phrases[rows], axis=1).astype(np.int32) for rows in (ours, listed[:count])
    )
    return PhraseRelations(
        lengths, bounds, related[: bounds[-1]], ranks[: bounds[-1]], numbers, their_lengths
    )
