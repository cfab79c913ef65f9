"""Aligning two lines of words: a beam search for the best set of their possible :mod:`matches <captious.meteor.matches>`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.meteor.matches import (
    EXACT,
    MAX_MATCHES,
    PARAPHRASE,
    SHORT,
    Ints,
    Lines,
    Phrases,
    Words,
    collect,
)

#: Paths kept at each position.
BEAM = 40

#: At a word with more matches than this, only the nearest ones are tried: a word that stands everywhere in two long captions would
#: otherwise be tried against all of them, and time would grow with the square of the length.
MOST_TRIED = 256


@kernel
def group(
    found: NDArray[np.int32], n: int, length1: int, length2: int, cover: Ints, bounds: Ints, order: Ints, fixed: Ints
) -> None:
    """Group matches by their start in line 2, in the order found, and fix those that compete with no other.

    The matches at position j are ``order[bounds[j]:bounds[j + 1]]``; ``fixed[j]`` is the one that is certain, or -1. Where there are
    more than ``MOST_TRIED``, those remain that are nearest to the place in line 1 that corresponds to j.
    """
    for i in range(length1):
        cover[0, i] = 0
    for j in range(length2):
        cover[1, j] = 0
        bounds[j + 1] = 0
        fixed[j] = 0  # for now: how many of the position's matches have been placed
    for m in range(n):
        bounds[found[m, 0] + 1] += 1
        for k in range(found[m, 1]):
            cover[1, found[m, 0] + k] += 1
        for k in range(found[m, 3]):
            cover[0, found[m, 2] + k] += 1
    for j in range(length2):
        bounds[j + 1] += bounds[j]
    for m in range(n):
        order[bounds[found[m, 0]] + fixed[found[m, 0]]] = m
        fixed[found[m, 0]] += 1
    for j in range(length2):
        fixed[j] = -1
        if bounds[j + 1] - bounds[j] == 1:
            m = order[bounds[j]]
            alone = True
            for k in range(found[m, 1]):
                alone = alone and cover[1, j + k] == 1
            for k in range(found[m, 3]):
                alone = alone and cover[0, found[m, 2] + k] == 1
            if alone:
                fixed[j] = m
    kept = 0
    low = 0
    for j in range(length2):
        high = bounds[j + 1]
        if high - low <= MOST_TRIED:
            if kept < low:
                for place in range(low, high):
                    order[kept + place - low] = order[place]
            kept += high - low
        else:
            centre = j * length1 // length2
            # The greatest distance within which there are not too many.
            near, far = -1, length1
            while far - near > 1:
                middle = (near + far) // 2
                within = 0
                for place in range(low, high):
                    within += abs(found[order[place], 2] - centre) <= middle
                if within > MOST_TRIED:
                    far = middle
                else:
                    near = middle
            for place in range(low, high):
                if abs(found[order[place], 2] - centre) <= near:
                    order[kept] = order[place]
                    kept += 1
        low = high
        bounds[j + 1] = kept


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
    found: NDArray[np.int32], bounds: Ints, order: Ints, fixed: Ints, length1: int, length2: int,
    beam: Ints, state: Ints, used: Ints, children: Ints, history: NDArray[np.int32], chosen: Ints,
) -> None:  # fmt: skip
    """Beam search over line 2 from left to right; ``chosen[j]`` becomes the match that starts at j, or negative.

    Paths are ranked by weighted words matched (more is better), then chunks, then distance. The weight of a word is 1 if
    matched exactly and a half otherwise, and each sum is truncated to an integer, so that one-word stem, synonym and
    paraphrase matches weigh nothing.

    Columns of ``beam``: rank, distance, parent, match (-1: the position is skipped; -2: it lies inside an earlier match);
    of ``state``: rank, distance, next free position of line 2, end of the open chunk in line 1 (-1: none), and the row of
    ``used`` that marks the path's words of line 1, 32 in a number. ``state`` has two generations of paths, which take turns; a row of
    ``used`` goes from a path to its only child, and is copied where there are several. ``history`` keeps parent and match.
    """
    word = 1 << 32  # rank = chunks - word * words matched: one comparison for both
    for c in range(5):
        state[0, 0, c] = 0
    state[0, 0, 3] = -1
    for i in range((length1 >> 5) + 1):
        used[0, i] = 0
    paths = 1
    for j in range(length2):
        old, new = j % 2, 1 - j % 2
        certain = fixed[j] >= 0
        size = 0
        for p in range(paths):
            distance = state[old, p, 1]
            end = state[old, p, 3]
            inside = state[old, p, 2] > j
            for place in range(bounds[j + 1] if inside else bounds[j], bounds[j + 1] + 1):
                rank = state[old, p, 0]
                charged = distance
                m = -2
                if place < bounds[j + 1]:
                    m = order[place]
                    start, stop = found[m, 2], found[m, 2] + found[m, 3]
                    i = start
                    marked = used[state[old, p, 4]]
                    while i < stop and not (marked[i >> 5] >> (i & 31)) & 1:
                        i += 1
                    if i < stop:
                        continue
                    half = 1 if found[m, 4] == EXACT else 2
                    rank -= word * int(found[m, 1] // half + found[m, 3] // half)
                    if end != -1 and end != start:
                        rank += 1
                    # The reference charges the distance of a match to the path that does without it.
                    distance += abs(j - start)
                    if certain:
                        charged = distance
                elif certain and not inside:
                    continue
                elif not inside:
                    m = -1
                    if end != -1:
                        rank += 1
                size = offer(beam, size, rank, charged, p, m)
        for row in range(2 * BEAM):
            children[row] = 0
        for q in range(size):
            children[state[old, beam[q, 2], 4]] += 1
        free = 0
        for q in range(size):
            row = state[old, beam[q, 2], 4]
            if children[row] == 1:
                state[new, q, 4] = row
                continue
            children[row] -= 1
            while children[free] != 0:
                free += 1
            children[free] = 1
            state[new, q, 4] = free
            for i in range((length1 >> 5) + 1):
                used[free, i] = used[row, i]
        for q in range(size):
            p, m = beam[q, 2], beam[q, 3]
            history[j, q, 0] = p
            history[j, q, 1] = m
            state[new, q, 0] = beam[q, 0]
            state[new, q, 1] = beam[q, 1]
            state[new, q, 2] = state[old, p, 2]
            state[new, q, 3] = state[old, p, 3]
            if m >= 0:
                state[new, q, 2] = j + found[m, 1]
                state[new, q, 3] = found[m, 2] + found[m, 3]
                for i in range(found[m, 2], found[m, 2] + found[m, 3]):
                    used[state[new, q, 4], i >> 5] |= 1 << (i & 31)
            elif m == -1:
                state[new, q, 2] = j + 1
                state[new, q, 3] = -1
        paths = size

    last = length2 % 2
    best = 0
    for p in range(paths):
        if state[last, p, 3] != -1:
            state[last, p, 0] += 1
        if state[last, p, 0] < state[last, best, 0] or (
            state[last, p, 0] == state[last, best, 0] and state[last, p, 1] < state[last, best, 1]
        ):
            best = p
    for j in range(length2 - 1, -1, -1):
        chosen[j] = history[j, best, 1]
        best = history[j, best, 0]


@kernel
def search_short(
    found: NDArray[np.int32], bounds: Ints, order: Ints, fixed: Ints, length1: int, length2: int,
    beam: Ints, state: Ints, history: NDArray[np.int32], chosen: Ints,
) -> None:  # fmt: skip
    """The same as :func:`search` for lines of at most ``SHORT`` words, which nearly all captions are.

    Words of line 1 that a path has used are bits of one number, and so are rank and distance: columns of ``beam`` are rank and
    distance, parent and match; of ``state`` rank and distance, next free position of line 2, end of the open chunk in line 1, bits.
    """
    chunk = 1 << 40  # above any distance
    word = 1 << 48  # above any number of chunks
    state[0, 0, 0] = 0
    state[0, 0, 1] = 0
    state[0, 0, 2] = -1
    state[0, 0, 3] = 0
    paths = 1
    for j in range(length2):
        old, new = j % 2, 1 - j % 2
        certain = fixed[j] >= 0
        first, last = bounds[j], bounds[j + 1]
        size = 0
        for p in range(paths):
            key, end, bits = int(state[old, p, 0]), int(state[old, p, 2]), int(state[old, p, 3])
            inside = state[old, p, 1] > j
            distance = 0
            for place in range(last if inside else first, last + 1):
                rank = key
                m = -2
                if place < last:
                    m = order[place]
                    start, length = int(found[m, 2]), int(found[m, 3])
                    if bits & (((1 << length) - 1) << start):
                        continue
                    half = 1 if found[m, 4] == EXACT else 2
                    # The reference charges the distance of a match to the path that does without it.
                    rank += distance - word * (int(found[m, 1]) // half + length // half)
                    if end != -1 and end != start:
                        rank += chunk
                    distance += abs(j - start)
                    if certain:
                        rank += abs(j - start)
                elif certain and not inside:
                    continue
                else:
                    rank += distance
                    if not inside:
                        m = -1
                        if end != -1:
                            rank += chunk
                if size == BEAM:
                    if beam[size - 1, 0] <= rank:
                        continue
                    size -= 1
                at = size
                while at > 0 and beam[at - 1, 0] > rank:
                    beam[at, 0] = beam[at - 1, 0]
                    beam[at, 1] = beam[at - 1, 1]
                    beam[at, 2] = beam[at - 1, 2]
                    at -= 1
                beam[at, 0] = rank
                beam[at, 1] = p
                beam[at, 2] = m
                size += 1
        for q in range(size):
            p, m = beam[q, 1], beam[q, 2]
            history[j, q, 0] = p
            history[j, q, 1] = m
            state[new, q, 0] = beam[q, 0]
            if m >= 0:
                start, length = int(found[m, 2]), int(found[m, 3])
                state[new, q, 1] = j + found[m, 1]
                state[new, q, 2] = start + length
                state[new, q, 3] = state[old, p, 3] | (((1 << length) - 1) << start)
            elif m == -1:
                state[new, q, 1] = j + 1
                state[new, q, 2] = -1
                state[new, q, 3] = state[old, p, 3]
            else:
                state[new, q, 1] = state[old, p, 1]
                state[new, q, 2] = state[old, p, 2]
                state[new, q, 3] = state[old, p, 3]
        paths = size

    last = length2 % 2
    best = 0
    for p in range(paths):
        if state[last, p, 2] != -1:
            state[last, p, 0] += chunk
        if state[last, p, 0] < state[last, best, 0]:
            best = p
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
    for c in range(len(row)):
        row[c] = 0
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
            return pair
        if n > len(found):
            found = np.empty((n + n // 2, 5), np.int32)
            order = np.empty(n + n // 2, np.int64)
            # Another serial: with the same one, places of the first time would look like those of this time, and chains would never end.
            n = collect(lines, words, phrases, line1, line2, mark, 2 * pair + 2, chain, masks, found)
        group(found, n, length1, length2, cover, bounds, order, fixed)
        if length1 <= SHORT and length2 <= SHORT:
            search_short(found, bounds, order, fixed, length1, length2, beam, state, history, chosen)
        else:
            search(found, bounds, order, fixed, length1, length2, beam, state, used, children, history, chosen)
        count(lines, words, line1, line2, found, chosen, statistics[pair])
    return -1
