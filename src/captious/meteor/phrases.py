"""Which phrases of the captions the paraphrase table knows, and which of them are paraphrases of each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious import ragged
from captious.kernels import kernel
from captious.meteor.matches import BACK, KINDS, THERE, Ints, Phrases, Small
from captious.meteor.paraphrases import Paraphrases
from captious.threads import side_by_side, threads_for

#: Lines that one thread looks through at a time.
_BLOCK = 8_000

#: Steps through the table that are remembered: captions begin alike.
_REMEMBERED = 1 << 15


@kernel
def narrow(phrases: NDArray[np.uint16], low: int, high: int, k: int, word: int) -> int:
    """The first of the rows ``low:high`` that has this word, or one behind it, at place k."""
    while low < high:
        middle = (low + high) // 2
        if phrases[middle, k] < word:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def find(
    numbers: Small, line_offsets: Ints, first: NDArray[np.uint32], phrases: NDArray[np.uint16], steps: Ints, ranges: Small, rows: Small, offsets: Small
) -> int:
    """Write the rows of the phrases that begin at each token, short to long, and where those of each token end; how many there are.

    ``steps`` and ``ranges`` are room to remember in: which rows were left when a word followed some rows, from and to, and whether the first is a
    phrase that ends there. 0 is no step.
    """
    width = phrases.shape[1]
    begin = line_offsets[0]
    found = 0
    for line in range(len(line_offsets) - 1):
        line_end = line_offsets[line + 1]
        for t in range(line_offsets[line], line_end):
            low, high = np.int64(first[numbers[t]]), np.int64(first[numbers[t] + 1])
            if numbers[t] == 0:
                high = low
            k = 0
            # Rows are sorted and short ones filled up with 0: a phrase that ends here comes first.
            ends = low < high and (width == 1 or phrases[low, 1] == 0)
            while low < high:
                k += 1
                if ends:
                    rows[found] = low
                    found += 1
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
                    ranges[place, 2] = start < ranges[place, 1] and (k + 1 == width or phrases[start, k + 1] == 0)
                low, high, ends = int(ranges[place, 0]), int(ranges[place, 1]), ranges[place, 2] != 0
            offsets[t - begin] = found
    return found


@kernel
def number(rows: Small, numbers: Small, distinct: Small) -> int:
    """Replace each row by its number, in the order in which they come; how many there are. ``numbers`` has a cell for each row of the
    table, which is 0."""
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
    """The phrases that begin at each token: ``numbers[offsets[t]:offsets[t + 1]]``, short to long. ``rows`` are theirs in the table."""

    numbers: Small
    offsets: Small
    rows: Small

    def only(self, tokens: Ints) -> Spans:
        """Those of some tokens."""
        picked, offsets = ragged.runs(self.offsets, tokens)
        different, numbers = ragged.distinct(self.numbers[picked])
        return Spans(numbers.astype(np.int32), offsets.astype(np.int32), self.rows[different])


def spans_of(index: Paraphrases, numbers: Small, offsets: Ints) -> Spans:
    """The phrases of lines whose words have these numbers in the table."""
    form = find.pick(40.0 * len(numbers))

    def run(start: int) -> tuple[Small, Small]:
        bounds = offsets[start : start + _BLOCK + 1]
        tokens = int(bounds[-1] - bounds[0])
        rows, ends = np.empty(tokens * index.phrases.shape[1], np.int32), np.empty(tokens, np.int32)
        steps, ranges = np.zeros(_REMEMBERED, np.int64), np.empty((_REMEMBERED, 3), np.int32)
        count = int(form(numbers, bounds, index.first, index.phrases, steps, ranges, rows, ends))
        return rows[:count].copy(), ends

    parts = list(side_by_side(run, range(0, len(offsets) - 1, _BLOCK), 1 if form is find.plain else threads_for(len(numbers))))
    found = np.zeros(len(numbers) + 1, np.int32)
    at, before = 1, 0
    for rows, ends in parts:
        np.add(ends, before, out=found[at : at + len(ends)])
        at, before = at + len(ends), before + len(rows)
    spans = np.concatenate([rows for rows, _ in parts]) if parts else np.zeros(0, np.int32)
    distinct = np.empty(min(len(spans), len(index.phrases)), np.int32)
    count = int(number.pick(4.0 * len(spans))(spans, np.zeros(len(index.phrases), np.int32), distinct))
    return Spans(spans, found, distinct[:count].copy())


@kernel
def join(
    rows: Small, there: Small, offsets: NDArray[np.uint32], targets: NDArray[np.uint32], source_offsets: NDArray[np.uint32], sources: NDArray[np.uint32],
    words: int, bounds: Ints, related: Small, ranks: Small, numbers: Small, listed: Small,
) -> int:  # fmt: skip
    """For each phrase of lines 1 (a row of the table) the lists it goes to, with ranks; how many phrases of lines 2 have lists.

    ``there`` has for each row of the table the phrase of lines 2, counted from 1. Those that get lists are numbered in ``numbers``, which
    is -1, and noted in ``listed``.
    """
    n, count = 0, 0
    for p in range(len(rows)):
        row = rows[p]
        bounds[p] = n
        begin = np.int64(source_offsets[row])
        for side in range(2):
            low, high = (begin, np.int64(source_offsets[row + 1])) if side == THERE else (np.int64(offsets[row]), np.int64(offsets[row + 1]))
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
                    # A phrase may be listed twice among the paraphrases of another.
                    rank = rank + 1 if place > low and sources[place - 1] == other else 0
                    while targets[np.int64(offsets[other]) + rank] != row:
                        rank += 1
                related[n] = KINDS * (words + numbers[phrase]) + side
                ranks[n] = rank
                n += 1
    bounds[len(rows)] = n
    return count


def paraphrases_of(index: Paraphrases, ours: Small, theirs: Small, words: int) -> Phrases:
    """Which of some rows of the table, those of lines 1, are paraphrases of others, those of lines 2, or have them as paraphrases."""
    there = np.zeros(len(index.phrases), np.int32)
    there[theirs] = np.arange(1, len(theirs) + 1, dtype=np.int32)
    most = sum(int(np.sum(offsets[ours + 1].astype(np.int64) - offsets[ours])) for offsets in (index.offsets, index.source_offsets))
    bounds, related, ranks = np.empty(len(ours) + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.int32)
    numbers, listed = np.full(len(theirs), -1, np.int32), np.empty(len(theirs), np.int32)
    table = index.offsets, index.targets, index.source_offsets, index.sources
    count = int(join.pick(4.0 * most)(ours, there, *table, words, bounds, related, ranks, numbers, listed))
    lengths, their_lengths = (np.count_nonzero(index.phrases[rows], axis=1).astype(np.int32) for rows in (ours, listed[:count]))
    return Phrases(lengths, bounds, related[: bounds[-1]], ranks[: bounds[-1]], numbers, their_lengths)
