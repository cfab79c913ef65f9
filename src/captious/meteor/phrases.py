"""Which phrases of the captions the paraphrase table knows, and which of them are paraphrases of each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.meteor.matches import Ints, Phrases
from captious.meteor.paraphrases import Paraphrases
from captious.ragged import runs
from captious.threads import side_by_side, threads_for

#: Below so many phrases, to search a short list is quicker than to number the rows of the whole table.
_FEW = 20_000

#: Lines that one thread looks through at a time.
_BLOCK = 8_000


@kernel
def find(  # type: ignore[no-untyped-def]
    numbers, line_offsets, first, phrases, rows, offsets
):
    """Write the rows of the phrases that begin at each token, short to long, and where those of each token end; how many there are."""
    width = phrases.shape[1]
    begin = line_offsets[0]
    found = 0
    for line in range(len(line_offsets) - 1):
        line_end = line_offsets[line + 1]
        for t in range(line_offsets[line], line_end):
            low, high = first[numbers[t]], first[numbers[t] + 1]
            if numbers[t] == 0:
                high = low
            k = 0
            while low < high:
                k += 1
                # Rows are sorted and short ones filled up with 0: the phrase that ends here comes first.
                if k == width or phrases[low, k] == 0:
                    rows[found] = low
                    found += 1
                if k == width or t + k == line_end:
                    break
                word = numbers[t + k]
                if word == 0:
                    break
                end = high
                while low < high:
                    middle = (low + high) // 2
                    if phrases[middle, k] < word:
                        low = middle + 1
                    else:
                        high = middle
                high = end
                start = low
                while low < high:
                    middle = (low + high) // 2
                    if phrases[middle, k] <= word:
                        low = middle + 1
                    else:
                        high = middle
                low, high = start, low
            offsets[t - begin] = found
    return found


class Spans(NamedTuple):
    """The phrases that begin at each token: ``rows[offsets[t]:offsets[t + 1]]`` of the table, short to long."""

    rows: NDArray[np.int32]
    offsets: Ints

    def only(self, tokens: Ints) -> Spans:
        """Those of some tokens."""
        picked, offsets = runs(self.offsets, tokens)
        return Spans(self.rows[picked], offsets)

    def followed_by(self, other: Spans) -> Spans:
        return Spans(np.concatenate([self.rows, other.rows]), np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]]))


def spans_of(index: Paraphrases, numbers: NDArray[np.int32], offsets: Ints) -> Spans:
    """The phrases of lines whose words have these numbers in the table."""
    first = index.first.astype(np.int64)
    form = find.pick(40.0 * len(numbers))

    def run(start: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        bounds = offsets[start : start + _BLOCK + 1]
        tokens = int(bounds[-1] - bounds[0])
        rows, ends = np.empty(tokens * index.phrases.shape[1], np.int32), np.empty(tokens, np.int32)
        count = int(form(numbers, bounds, first, index.phrases, rows, ends))
        return rows[:count].copy(), ends

    parts = list(side_by_side(run, range(0, len(offsets) - 1, _BLOCK), 1 if form is find.plain else threads_for(len(numbers))))
    found = np.zeros(len(numbers) + 1, np.int64)
    at, before = 1, 0
    for rows, ends in parts:
        found[at : at + len(ends)] = ends
        found[at : at + len(ends)] += before
        at, before = at + len(ends), before + len(rows)
    return Spans(np.concatenate([rows for rows, _ in parts]) if parts else np.zeros(0, np.int32), found)


def restrict(index: Paraphrases, spans: Spans, offsets: Ints, first: Ints, second: Ints) -> tuple[tuple[NDArray[np.int32], Ints], Phrases]:
    """The phrases that can match when lines ``first[p]`` are aligned with lines ``second[p]``, renumbered from 0: at each token,
    and with their paraphrases.

    Of the millions of phrases in the table a corpus has thousands; once the rest is gone, little is left to look up.
    """
    size = len(index.phrases)
    per_line = np.diff(spans.offsets[offsets])
    ours, theirs = (_occurring(spans.rows, per_line, lines, size) for lines in (first, second))
    sources = np.flatnonzero(ours | theirs)
    starts = index.offsets[sources].astype(np.int64)
    counts = index.offsets[sources + 1].astype(np.int64) - starts
    ends = np.cumsum(counts)
    picked = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
    targets = index.targets[picked].astype(np.int64)
    source = np.repeat(sources, counts)
    # A pair matters when one side has the one and the other side the other.
    both = (ours[source] & theirs[targets]) | (theirs[source] & ours[targets])
    source, targets = source[both], targets[both]

    occurs = np.zeros(size, np.bool_)
    occurs[source] = True
    occurs[targets] = True
    rows = np.flatnonzero(occurs)
    kept = occurs[spans.rows]
    used = spans.rows[kept]
    if len(used) + len(source) < _FEW:
        numbered, of_source, of_targets = (np.searchsorted(rows, values).astype(np.int32) for values in (used, source, targets))
    else:
        number = np.empty(size, np.int32)
        number[rows] = np.arange(len(rows), dtype=np.int32)
        numbered, of_source, of_targets = number[used], number[source], number[targets]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(of_source, minlength=len(rows)))]).astype(np.int64)
    lengths = np.count_nonzero(index.phrases[rows], axis=1).astype(np.int32)
    before = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(kept, out=before[1:])
    return (numbered, before[spans.offsets]), Phrases(lengths, bounds, of_targets, index.phrases.shape[1])


def _occurring(rows: NDArray[np.int32], per_line: Ints, lines: Ints, size: int) -> NDArray[np.bool_]:
    """Which phrases of the table some of the lines have."""
    wanted = np.zeros(len(per_line), np.bool_)
    wanted[lines] = True
    occurs = np.zeros(size, np.bool_)
    occurs[rows[np.repeat(wanted, per_line)]] = True
    return occurs
