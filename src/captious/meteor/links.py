"""Which words METEOR aligned with which: the matches behind a statistics line, for people to look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.meteor.alignment import BEAM, group, search
from captious.meteor.encode import Encoded, lines_of
from captious.meteor.matches import MAX_MATCHES, PARAPHRASE, SHORT, Ints, Lines, Phrases, Words, collect
from captious.meteor.resources import Resources
from captious.ragged import offsets_of

#: What a match is by, in the order of METEOR's modules.
MODULES = ("exact", "stem", "synonym", "paraphrase")


@kernel
def trace(
    lines: Lines, words: Words, phrases: Phrases, first: Ints, second: Ints, starts: Ints, matches: NDArray[np.int32], counts: Ints
) -> None:
    """Write the matches of each pair from ``matches[starts[p]]`` on, and how many there are.

    The steps are those of :func:`captious.meteor.alignment.align`, which only counts them. A pair that has too many is
    left without any.
    """
    longest = 0
    for line in range(len(lines.offsets) - 1):
        longest = max(longest, lines.offsets[line + 1] - lines.offsets[line])
    found = np.empty((4096, 5), np.int32)
    order = np.empty(4096, np.int64)
    bounds = np.zeros(longest + 1, np.int64)
    fixed = np.zeros(longest, np.int64)
    chosen = np.zeros(longest, np.int64)
    mark = np.zeros((4, len(phrases.lengths)), np.int32)
    chain = np.zeros((2, longest, phrases.width), np.int32)
    masks = np.zeros((PARAPHRASE, SHORT), np.int64)
    beam = np.zeros((BEAM, 4), np.int64)
    state = np.zeros((2, BEAM, 5), np.int64)
    used = np.zeros((2 * BEAM, longest // 32 + 1), np.int64)
    children = np.zeros(2 * BEAM, np.int64)
    history = np.zeros((longest, BEAM, 2), np.int32)
    cover = np.zeros((2, longest), np.int64)
    for pair in range(len(first)):
        line1, line2 = first[pair], second[pair]
        length1 = lines.offsets[line1 + 1] - lines.offsets[line1]
        length2 = lines.offsets[line2 + 1] - lines.offsets[line2]
        n = collect(lines, words, phrases, line1, line2, mark, 2 * pair + 1, chain, masks, found)
        if n > MAX_MATCHES:
            continue
        if n > len(found):
            found = np.empty((n + n // 2, 5), np.int32)
            order = np.empty(n + n // 2, np.int64)
            n = collect(lines, words, phrases, line1, line2, mark, 2 * pair + 2, chain, masks, found)
        group(found, n, length1, length2, cover, bounds, order, fixed)
        search(found, bounds, order, fixed, length1, length2, beam, state, used, children, history, chosen)
        at = starts[pair]
        j = 0
        while j < length2:
            m = chosen[j]
            if m < 0:
                j += 1
                continue
            for c in range(5):
                matches[at, c] = found[m, c]
            at += 1
            j += found[m, 1]
        counts[pair] = at - starts[pair]


def links(encoded: Encoded, first: Ints, second: Ints, resources: Resources) -> list[NDArray[np.int32]]:
    """The matches of each pair of lines, a row each: start and length in the reference, start and length in the
    hypothesis, module."""
    lines, words, phrases = lines_of(encoded, first, second, resources)
    lengths = np.diff(encoded.offsets)
    pairs, inverse = np.unique(first * len(lengths) + second, return_inverse=True)
    first, second = np.divmod(pairs, max(len(lengths), 1))
    # A word of the reference starts one match at most.
    starts = offsets_of(lengths[second])
    matches = np.zeros((int(starts[-1]), 5), np.int32)
    counts = np.zeros(len(pairs), np.int64)
    work = float(np.sum((6.0 * lengths[first] + 60.0) * (lengths[second] + 4.0)))
    trace.pick(work)(lines, words, phrases, first, second, starts, matches, counts)
    own = [matches[start : start + count] for start, count in zip(starts[:-1].tolist(), counts.tolist())]
    return [own[i] for i in inverse.tolist()]
