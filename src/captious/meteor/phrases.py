"""Which phrases of the captions the paraphrase table knows, and which of them are paraphrases of each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.meteor.alignment import Ints, Phrases
from captious.meteor.paraphrases import Paraphrases


@kernel
def find(
    numbers: NDArray[np.int32], offsets: Ints, first: Ints, phrases: NDArray[np.uint16],
    spans: NDArray[np.int32],
) -> None:  # fmt: skip
    """Write into ``spans[t, k]`` the row of the phrase of k + 1 words that begins at token t (left as it is if none)."""
    width = phrases.shape[1]
    for line in range(len(offsets) - 1):
        for t in range(offsets[line], offsets[line + 1]):
            low, high = first[numbers[t]], first[numbers[t] + 1]
            if numbers[t] == 0:
                high = low
            k = 0
            while low < high:
                k += 1
                # Rows are sorted and short ones filled up with 0: the phrase that ends here comes first.
                if k == width or phrases[low, k] == 0:
                    spans[t, k - 1] = low
                if k == width or t + k == offsets[line + 1]:
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


def restrict(index: Paraphrases, numbers: NDArray[np.int32], offsets: Ints) -> tuple[NDArray[np.int32], Phrases]:
    """The phrases of the captions that can match, renumbered from 0: at each token, and with their paraphrases.

    Of the millions of phrases in the table a corpus has thousands; once the rest is gone, little is left to look up.
    """
    width = index.phrases.shape[1]
    spans = np.full((len(numbers), width), -1, np.int32)
    find.pick(40.0 * len(numbers))(numbers, offsets, index.first.astype(np.int64), index.phrases, spans)

    occurs = np.zeros(len(index.phrases) + 1, np.bool_)  # the last cell takes the -1 of tokens without a phrase
    occurs[spans] = True
    occurs[-1] = False
    sources = np.flatnonzero(occurs)
    starts = index.offsets[sources].astype(np.int64)
    counts = index.offsets[sources + 1].astype(np.int64) - starts
    ends = np.cumsum(counts)
    picked = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
    targets = index.targets[picked].astype(np.int64)
    source = np.repeat(sources, counts)
    both = occurs[targets]
    source, targets = source[both], targets[both]

    occurs[:] = False
    occurs[source] = True
    occurs[targets] = True
    rows = np.flatnonzero(occurs)
    number = np.full(len(occurs), -1, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(number[source], minlength=len(rows)))]).astype(np.int64)
    lengths = np.count_nonzero(index.phrases[rows], axis=1).astype(np.int32)
    return number[spans], Phrases(lengths, bounds, number[targets])
