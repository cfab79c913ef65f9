"""The beam search of the reference implementation among the possible matches of two lines."""

from __future__ import annotations

from captious.kernels import inner
from captious.kernels.types import Int32, Int32x2, Int32x3, Int64, Int64x2, Int64x3, Out
from captious.meteor.matches import EXACT
from captious.meteor.path_merging import BEAM


@inner
def offer(beam: Out[Int64x2], size: int, rank: int, distance: int, parent: int, match: int) -> int:
    """Insert a path after those that are as good, unless the beam is full of better ones.

    Return the beam's size.
    """
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


@inner
def search(
    matches: Int32x2,
    bounds: Int64,
    fixed: Int32,
    length1: int,
    length2: int,
    beam: Out[Int64x2],
    state: Out[Int64x3],
    used: Out[Int64x2],
    children: Out[Int64],
    history: Out[Int32x3],
    chosen: Out[Int32],
) -> None:
    """Search line 2 from left to right; ``chosen[j]`` becomes the match that starts at j, or negative.

    Paths are ranked by weighted words matched (more is better), then chunks, then distance. The weight of a
    word is 1 if matched exactly and a half otherwise, and each sum is truncated to an integer, so that
    one-word stem, synonym and paraphrase matches weigh nothing.

    Columns of ``beam``: rank, distance, parent, match (-1: the position is skipped; -2: it lies inside an
    earlier match); of ``state``: rank, distance, next free position of line 2, end of the open chunk in line
    1 (-1: none), and the row of ``used`` that marks the path's words of line 1, 32 in a number. ``state`` has
    two generations of paths, which alternate. A row of ``used`` goes from a path to its only child, and is
    copied if there are several. ``history`` stores parent and match.
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
                    m = place
                    start, stop = matches[m, 0], matches[m, 0] + matches[m, 1]
                    i = start
                    marked = used[state[old, p, 4]]
                    while i < stop and not (marked[i >> 5] >> (i & 31)) & 1:
                        i += 1
                    if i < stop:
                        continue
                    half = 1 if matches[m, 3] == EXACT else 2
                    rank -= word * int(matches[m, 2] // half + matches[m, 1] // half)
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
                state[new, q, 2] = j + matches[m, 2]
                state[new, q, 3] = matches[m, 0] + matches[m, 1]
                for i in range(matches[m, 0], matches[m, 0] + matches[m, 1]):
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
