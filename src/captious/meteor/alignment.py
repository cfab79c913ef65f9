"""Aligning two lines of words: all possible matches, then a beam search for the best set of them.

"Line 1" is the hypothesis and "line 2" the reference, as in the METEOR papers. Everything works on integer arrays, and
every kernel runs both compiled and as plain Python. Ties and truncations are resolved as the reference implementation
does; they decide which of several equally long alignments is counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel

Ints = NDArray[np.int64]

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

#: Paths kept at each position.
BEAM = 40

#: Columns of a statistics line: lengths, function words, four modules of four counts, chunks and words matched.
STATISTICS = 23

#: More matches than this between two captions mean that both have thousands of words, most of them the same.
MAX_MATCHES = 40_000_000


class Lines(NamedTuple):
    """Captions as word numbers, one after the other."""

    tokens: NDArray[np.int32]
    offsets: Ints
    spans: NDArray[np.int32]
    """Number of the phrase of 1, 2, … words that begins at each token, or -1."""


class Words(NamedTuple):
    """What METEOR knows about each word of the vocabulary."""

    key: NDArray[np.int32]
    stem: NDArray[np.int32]
    function: NDArray[np.bool_]
    signature: Ints
    """One bit for each synset (modulo 62): words whose signatures have no common bit are no synonyms."""
    synset_offsets: Ints
    synsets: Ints


class Phrases(NamedTuple):
    """Phrases that occur in the captions and have paraphrases there."""

    lengths: NDArray[np.int32]
    offsets: Ints
    targets: NDArray[np.int32]


@kernel
def synonymous(words: Words, a: int, b: int) -> bool:
    """Whether the synset sets (sorted) of two words meet."""
    if words.signature[a] & words.signature[b] == 0:
        return False
    i, i_end = words.synset_offsets[a], words.synset_offsets[a + 1]
    j, j_end = words.synset_offsets[b], words.synset_offsets[b + 1]
    while i < i_end and j < j_end:
        if words.synsets[i] == words.synsets[j]:
            return True
        if words.synsets[i] < words.synsets[j]:
            i += 1
        else:
            j += 1
    return False


@kernel
def add(found: NDArray[np.int32], n: int, start2: int, length2: int, start1: int, length1: int, module: int) -> int:
    """Write a match if there is room for it; count it in any case."""
    if n < len(found):
        found[n, 0] = start2
        found[n, 1] = length2
        found[n, 2] = start1
        found[n, 3] = length1
        found[n, 4] = module
    return n + 1


@kernel
def collect(
    lines: Lines, words: Words, phrases: Phrases, line1: int, line2: int, mark: NDArray[np.int32], serial: int,
    found: NDArray[np.int32],
) -> int:  # fmt: skip
    """All matches between two lines, module by module; how many there are (more than ``found`` has room for: come again).

    ``mark`` has two rows with one cell for each phrase, which receive ``serial`` for the phrases of either line.
    """
    a, a_end = lines.offsets[line1], lines.offsets[line1 + 1]
    b, b_end = lines.offsets[line2], lines.offsets[line2 + 1]
    n = 0
    identical = a_end - a == b_end - b
    for j in range(b, b_end):
        key = words.key[lines.tokens[j]]
        if identical and words.key[lines.tokens[a + j - b]] != key:
            identical = False
        for i in range(a, a_end):
            if words.key[lines.tokens[i]] == key:
                n = add(found, n, j - b, 1, i - a, 1, EXACT)
    if identical:
        return n
    for j in range(b, b_end):
        key = words.key[lines.tokens[j]]
        stem = words.stem[lines.tokens[j]]
        for i in range(a, a_end):
            if words.stem[lines.tokens[i]] == stem and words.key[lines.tokens[i]] != key:
                n = add(found, n, j - b, 1, i - a, 1, STEM)
    for j in range(b, b_end):
        word = lines.tokens[j]
        if words.signature[word] != 0:
            for i in range(a, a_end):
                if words.key[lines.tokens[i]] != words.key[word] and synonymous(words, lines.tokens[i], word):
                    n = add(found, n, j - b, 1, i - a, 1, SYNONYM)

    width = lines.spans.shape[1]
    for i in range(a, a_end):
        for k in range(width):
            if lines.spans[i, k] >= 0:
                mark[0, lines.spans[i, k]] = serial
    for j in range(b, b_end):
        for k in range(width):
            phrase = lines.spans[j, k]
            if phrase >= 0:
                mark[1, phrase] = serial
                for t in range(phrases.offsets[phrase], phrases.offsets[phrase + 1]):
                    target = phrases.targets[t]
                    if mark[0, target] == serial:
                        length = phrases.lengths[target]
                        for i in range(a, a_end):
                            if lines.spans[i, length - 1] == target:
                                n = add(found, n, j - b, k + 1, i - a, length, PARAPHRASE)
    # The table is looked up in the other direction as well; a pair listed both ways is matched twice.
    for i in range(a, a_end):
        for k in range(width):
            phrase = lines.spans[i, k]
            if phrase >= 0:
                for t in range(phrases.offsets[phrase], phrases.offsets[phrase + 1]):
                    target = phrases.targets[t]
                    if mark[1, target] == serial:
                        length = phrases.lengths[target]
                        for j in range(b, b_end):
                            if lines.spans[j, length - 1] == target:
                                n = add(found, n, j - b, length, i - a, k + 1, PARAPHRASE)
    return n


@kernel
def group(
    found: NDArray[np.int32], n: int, length1: int, length2: int, bounds: Ints, order: Ints, fixed: Ints
) -> None:
    """Group matches by their start in line 2, in the order found, and fix those that compete with no other.

    The matches at position j are ``order[bounds[j]:bounds[j + 1]]``; ``fixed[j]`` is the one that is certain, or -1.
    """
    cover1 = np.zeros(length1, np.int64)
    cover2 = np.zeros(length2, np.int64)
    bounds[: length2 + 1] = 0
    for m in range(n):
        bounds[found[m, 0] + 1] += 1
        for k in range(found[m, 1]):
            cover2[found[m, 0] + k] += 1
        for k in range(found[m, 3]):
            cover1[found[m, 2] + k] += 1
    for j in range(length2):
        bounds[j + 1] += bounds[j]
    place = bounds[:length2].copy()
    for m in range(n):
        order[place[found[m, 0]]] = m
        place[found[m, 0]] += 1
    for j in range(length2):
        fixed[j] = -1
        if bounds[j + 1] - bounds[j] == 1:
            m = order[bounds[j]]
            alone = True
            for k in range(found[m, 1]):
                alone = alone and cover2[j + k] == 1
            for k in range(found[m, 3]):
                alone = alone and cover1[found[m, 2] + k] == 1
            if alone:
                fixed[j] = m


@kernel
def offer(beam: Ints, size: int, rank: int, distance: int, parent: int, match: int) -> int:
    """Insert a path behind those that are as good, unless the beam is full of better ones; the beam's new size."""
    if size == BEAM:
        if beam[size - 1, 0] < rank or (beam[size - 1, 0] == rank and beam[size - 1, 1] <= distance):
            return size
        size -= 1
    at = size
    while at > 0 and (beam[at - 1, 0] > rank or (beam[at - 1, 0] == rank and beam[at - 1, 1] > distance)):
        for c in range(4):
            beam[at, c] = beam[at - 1, c]
        at -= 1
    beam[at, 0] = rank
    beam[at, 1] = distance
    beam[at, 2] = parent
    beam[at, 3] = match
    return size + 1


@kernel
def search(
    found: NDArray[np.int32], bounds: Ints, order: Ints, fixed: Ints, length1: int, length2: int, chosen: Ints
) -> None:
    """Beam search over line 2 from left to right; ``chosen[j]`` becomes the match that starts at j, or -1.

    Paths are ranked by weighted words matched (more is better), then chunks, then distance. The weight of a word is 1 if
    matched exactly and a half otherwise, and each sum is truncated to an integer, so that one-word stem, synonym and
    paraphrase matches weigh nothing.
    """
    chunk = 1
    word = 1 << 32  # rank = chunks - words matched: one comparison for both, the words being the higher digits
    # Columns: rank, distance, parent, match (-1: the position is skipped; -2: it lies inside an earlier match).
    beam = np.zeros((BEAM, 4), np.int64)
    # Columns: next free position of line 2, end of the open chunk in line 1 (-1: none).
    state = np.zeros((BEAM, 2), np.int64)
    new_state = np.zeros((BEAM, 2), np.int64)
    used = np.zeros((BEAM, length1), np.bool_)
    new_used = np.zeros((BEAM, length1), np.bool_)
    history = np.zeros((length2, BEAM, 2), np.int32)
    ranks = np.zeros((BEAM, 2), np.int64)
    state[0, 1] = -1
    paths = 1
    for j in range(length2):
        size = 0
        for p in range(paths):
            rank = ranks[p, 0]
            distance = ranks[p, 1]
            end = state[p, 1]
            if state[p, 0] > j:
                size = offer(beam, size, rank, distance, p, -2)
            elif fixed[j] >= 0:
                m = fixed[j]
                gain = found[m, 1] + found[m, 3] if found[m, 4] == EXACT else found[m, 1] // 2 + found[m, 3] // 2
                opened = chunk if end != -1 and end != found[m, 2] else 0
                size = offer(beam, size, rank + opened - word * gain, distance + abs(j - found[m, 2]), p, m)
            else:
                for place in range(bounds[j], bounds[j + 1]):
                    m = order[place]
                    free = True
                    for k in range(found[m, 2], found[m, 2] + found[m, 3]):
                        if used[p, k]:
                            free = False
                            break
                    if free:
                        gain = found[m, 1] + found[m, 3] if found[m, 4] == EXACT else found[m, 1] // 2 + found[m, 3] // 2
                        opened = chunk if end != -1 and end != found[m, 2] else 0
                        size = offer(beam, size, rank + opened - word * gain, distance, p, m)
                        # The reference charges the distance of a match to the path that does without it.
                        distance += abs(j - found[m, 2])
                opened = chunk if end != -1 else 0
                size = offer(beam, size, rank + opened, distance, p, -1)
        for q in range(size):
            p, m = beam[q, 2], beam[q, 3]
            ranks[q, 0] = beam[q, 0]
            ranks[q, 1] = beam[q, 1]
            history[j, q, 0] = p
            history[j, q, 1] = m
            new_used[q] = used[p]
            if m >= 0:
                new_state[q, 0] = j + found[m, 1]
                new_state[q, 1] = found[m, 2] + found[m, 3]
                for k in range(found[m, 2], found[m, 2] + found[m, 3]):
                    new_used[q, k] = True
            elif m == -1:
                new_state[q, 0] = j + 1
                new_state[q, 1] = -1
            else:
                new_state[q, 0] = state[p, 0]
                new_state[q, 1] = state[p, 1]
        paths = size
        state, new_state = new_state, state
        used, new_used = new_used, used

    best = 0
    best_rank = ranks[0, 0] + (chunk if state[0, 1] != -1 else 0)
    for p in range(1, paths):
        rank = ranks[p, 0] + (chunk if state[p, 1] != -1 else 0)
        if rank < best_rank or (rank == best_rank and ranks[p, 1] < ranks[best, 1]):
            best = p
            best_rank = rank
    for j in range(length2 - 1, -1, -1):
        chosen[j] = history[j, best, 1]
        best = history[j, best, 0]


@kernel
def count(
    lines: Lines, words: Words, line1: int, line2: int, found: NDArray[np.int32], chosen: Ints, row: NDArray[np.float64]
) -> None:
    """The statistics line of an alignment."""
    a, a_end = lines.offsets[line1], lines.offsets[line1 + 1]
    b, b_end = lines.offsets[line2], lines.offsets[line2 + 1]
    row[:] = 0
    row[0] = a_end - a
    row[1] = b_end - b
    for i in range(a, a_end):
        if words.function[lines.tokens[i]]:
            row[2] += 1
    for j in range(b, b_end):
        if words.function[lines.tokens[j]]:
            row[3] += 1
    end = -1
    j = 0
    while j < b_end - b:
        m = chosen[j]
        if m < 0:
            if end != -1:
                row[20] += 1
                end = -1
            j += 1
        else:
            first = 4 + 4 * found[m, 4]
            for k in range(a + found[m, 2], a + found[m, 2] + found[m, 3]):
                row[first + (2 if words.function[lines.tokens[k]] else 0)] += 1
            for k in range(b + j, b + j + found[m, 1]):
                row[first + (3 if words.function[lines.tokens[k]] else 1)] += 1
            row[21] += found[m, 3]
            row[22] += found[m, 1]
            if end != -1 and end != found[m, 2]:
                row[20] += 1
            end = found[m, 2] + found[m, 3]
            j += found[m, 1]
    if end != -1:
        row[20] += 1


@kernel
def align(
    lines: Lines, words: Words, phrases: Phrases, first: Ints, second: Ints, statistics: NDArray[np.float64]
) -> int:
    """Fill the statistics of each pair (line ``first[p]``, line ``second[p]``).

    Returns -1, or the number of the pair that has more than ``MAX_MATCHES`` matches, where it stops.
    """
    longest = 0
    for line in range(len(lines.offsets) - 1):
        longest = max(longest, lines.offsets[line + 1] - lines.offsets[line])
    found = np.empty((4096, 5), np.int32)
    order = np.empty(4096, np.int64)
    bounds = np.zeros(longest + 1, np.int64)
    fixed = np.zeros(longest, np.int64)
    chosen = np.zeros(longest, np.int64)
    mark = np.zeros((2, len(phrases.lengths)), np.int32)
    for pair in range(len(first)):
        line1, line2 = first[pair], second[pair]
        length1 = lines.offsets[line1 + 1] - lines.offsets[line1]
        length2 = lines.offsets[line2 + 1] - lines.offsets[line2]
        n = collect(lines, words, phrases, line1, line2, mark, pair + 1, found)
        if n > MAX_MATCHES:
            return pair
        if n > len(found):
            found = np.empty((2 * n, 5), np.int32)
            order = np.empty(2 * n, np.int64)
            n = collect(lines, words, phrases, line1, line2, mark, pair + 1, found)
        group(found, n, length1, length2, bounds, order, fixed)
        search(found, bounds, order, fixed, length1, length2, chosen)
        count(lines, words, line1, line2, found, chosen, statistics[pair])
    return -1
