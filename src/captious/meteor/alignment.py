"""Aligning two lines of words: the best set of their possible :mod:`matches <captious.meteor.matches>`, and what is counted of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.meteor.matches import (
    EXACT,
    KINDS,
    MOST_TRIED,
    PARAPHRASE,
    Index,
    Ints,
    Lines,
    Phrases,
    Small,
    Words,
    gather,
    mark,
    room_for,
    turn_round,
)
from captious.meteor.merging import BEAM, CHUNK, COLUMNS, SHORT, WORD, search_merged
from captious.meteor.score import ingredients


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
    found: Small, bounds: Ints, fixed: Small, length1: int, length2: int,
    beam: Ints, state: Ints, used: Ints, children: Ints, history: Small, chosen: Small,
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
                    m = place
                    start, stop = found[m, 0], found[m, 0] + found[m, 1]
                    i = start
                    marked = used[state[old, p, 4]]
                    while i < stop and not (marked[i >> 5] >> (i & 31)) & 1:
                        i += 1
                    if i < stop:
                        continue
                    half = 1 if found[m, 3] == EXACT else 2
                    rank -= word * int(found[m, 2] // half + found[m, 1] // half)
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
                state[new, q, 2] = j + found[m, 2]
                state[new, q, 3] = found[m, 0] + found[m, 1]
                for i in range(found[m, 0], found[m, 0] + found[m, 1]):
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
    found: Small, bounds: Ints, fixed: Small, length2: int, beam: Ints, state: Ints, history: Small, chosen: Small,
) -> None:  # fmt: skip
    """The same as :func:`search` for lines of at most ``SHORT`` words, which nearly all captions are.

    Words of line 1 that a path has used are bits of one number, and so are rank and distance: columns of ``beam`` are rank and
    distance, parent and match; of ``state`` rank and distance, next free position of line 2, end of the open chunk in line 1, bits.
    """
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
                    m = place
                    start, length = int(found[m, 0]), int(found[m, 1])
                    if bits & (((1 << length) - 1) << start):
                        continue
                    half = 1 if found[m, 3] == EXACT else 2
                    # The reference charges the distance of a match to the path that does without it.
                    rank += distance - WORD * (int(found[m, 2]) // half + length // half)
                    if end != -1 and end != start:
                        rank += CHUNK
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
                            rank += CHUNK
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
                start, length = int(found[m, 0]), int(found[m, 1])
                state[new, q, 1] = j + found[m, 2]
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
            state[last, p, 0] += CHUNK
        if state[last, p, 0] < state[last, best, 0]:
            best = p
    for j in range(length2 - 1, -1, -1):
        chosen[j] = history[j, best, 1]
        best = history[j, best, 0]


@kernel
def count(ours: Lines, theirs: Lines, words: Words, line1: int, line2: int, found: Small, chosen: Small, rows: Small, at: int) -> None:
    """The statistics line of an alignment, written to a row."""
    a, a_end = ours.offsets[line1], ours.offsets[line1 + 1]
    b, b_end = theirs.offsets[line2], theirs.offsets[line2 + 1]
    for c in range(rows.shape[1]):
        rows[at, c] = 0
    rows[at, 0] = a_end - a
    rows[at, 1] = b_end - b
    for i in range(a, a_end):
        rows[at, 2] += words.function[ours.tokens[i]]
    for j in range(b, b_end):
        rows[at, 3] += words.function[theirs.tokens[j]]
    end = -1
    j = 0
    while j < b_end - b:
        m = chosen[j]
        if m < 0:
            if end != -1:
                rows[at, 20] += 1
                end = -1
            j += 1
        else:
            first = 4 + 4 * found[m, 3]
            for k in range(a + found[m, 0], a + found[m, 0] + found[m, 1]):
                rows[at, first + (2 if words.function[ours.tokens[k]] else 0)] += 1
            for k in range(b + j, b + j + found[m, 2]):
                rows[at, first + (3 if words.function[theirs.tokens[k]] else 1)] += 1
            rows[at, 21] += found[m, 1]
            rows[at, 22] += found[m, 2]
            if end != -1 and end != found[m, 0]:
                rows[at, 20] += 1
            end = found[m, 0] + found[m, 1]
            j += found[m, 2]
    if end != -1:
        rows[at, 20] += 1


@kernel
def are_identical(ours: Lines, theirs: Lines, words: Words, line1: int, line2: int) -> bool:
    """Whether two lines have the same words, as METEOR compares them."""
    a, b = ours.offsets[line1], theirs.offsets[line2]
    length = ours.offsets[line1 + 1] - a
    same: bool = theirs.offsets[line2 + 1] - b == length
    i = 0
    while same and i < length:
        same = words.key[ours.tokens[a + i]] == words.key[theirs.tokens[b + i]]
        i += 1
    return same


@kernel
def write(found: Small, chosen: Small, length2: int, links: Small, at: int) -> None:
    """Write the matches of an alignment from a row on."""
    j = 0
    while j < length2:
        m = chosen[j]
        if m < 0:
            j += 1
            continue
        links[at, 0] = j
        links[at, 1] = found[m, 2]
        links[at, 2] = found[m, 0]
        links[at, 3] = found[m, 1]
        links[at, 4] = found[m, 3]
        at += 1
        j += found[m, 2]


class Scratch(NamedTuple):
    """Room for :func:`align` to work in. Machine code counts, with some effort, who holds the arrays that it makes itself."""

    wanted: Small
    lists: Index
    hits: Small
    filled: Small
    keys: Small
    uses: Small
    used: Small
    cover: Small
    found: Small
    bounds: Ints
    fixed: Small
    chosen: Small
    paths: Ints
    steps: Ints
    starting: Ints
    later: Ints
    beam: Ints
    state: Ints
    taken: Ints
    children: Ints
    history: Small
    seen: Small
    seen_at: Small


def scratch(ours: Lines, theirs: Lines, words: Words, phrases: Phrases, first: Ints, second: Ints) -> Scratch:
    """Enough room for some pairs of lines."""
    longest1, longest2 = (int(np.diff(side.offsets)[lines].max(initial=0)) for side, lines in ((ours, first), (theirs, second)))
    n_keys = len(words.function) + len(phrases.their_lengths)
    n_lists, n_lines = KINDS * n_keys, len(theirs.offsets)

    def small(*shape: int) -> Small:
        return np.empty(shape, np.int32)

    def large(*shape: int) -> Ints:
        return np.empty(shape, np.int64)

    return Scratch(
        wanted=np.zeros(n_keys, np.int32), lists=Index(np.zeros(n_lists, np.int32), small(n_lists), small(4096, 3)), hits=small(4096, 4), filled=small(n_lists),
        keys=small(PARAPHRASE + 2 * int(phrases.their_lengths.max(initial=0)), 2), uses=np.zeros(n_lists, np.int32), used=small(n_lists),
        # Memory that nobody writes to costs nothing.
        cover=small(2, max(longest1, longest2)), found=small(MOST_TRIED * longest2, 5), bounds=large(longest2 + 1), fixed=small(longest2), chosen=small(longest2),
        paths=large(2 * BEAM, COLUMNS), steps=large(SHORT, BEAM), starting=large(SHORT + 1), later=large(SHORT + 1),
        beam=large(BEAM, 4), state=large(2, BEAM, 5), taken=large(2 * BEAM, longest1 // 32 + 1), children=large(2 * BEAM), history=small(longest2, BEAM, 2),
        seen=np.full(n_lines, -1, np.int32), seen_at=small(n_lines),
    )  # fmt: skip


@kernel
def align(
    ours: Lines, theirs: Lines, words: Words, phrases: Phrases, first: Ints, second: Ints, rows: Small, parts: NDArray[np.float64],
    links: Small, starts: Ints, room: Scratch,
) -> None:  # fmt: skip
    """Fill the statistics of each pair (line ``first[p]``, line ``second[p]``), and the parts of its score. Pairs of one line 1 stand
    together.

    Where ``starts`` has a place for each pair, its matches are written to ``links`` from there on: start and length in line 2, start and length in line 1,
    module.
    """
    n_words = len(words.function)
    index, hits = room.lists, room.hits
    stop, lists = 0, 0
    for pair in range(len(first)):
        line1, line2 = first[pair], second[pair]
        length1 = ours.offsets[line1 + 1] - ours.offsets[line1]
        length2 = theirs.offsets[line2 + 1] - theirs.offsets[line2]
        if pair == stop:
            while stop < len(first) and first[stop] == line1:
                mark(theirs, phrases, n_words, second[stop], room.wanted, pair + 1)
                stop += 1
            most = room_for(ours, words, phrases, line1)
            if most > len(hits):
                index = Index(index.counts, index.starts, np.empty((most + most // 2, 3), np.int32))
                hits = np.empty((most + most // 2, 4), np.int32)
            lists = turn_round(ours, words, phrases, line1, room.wanted, pair + 1, index, hits, room.filled)
        # With which line 1 a line 2 has been aligned last, and in which pair.
        earlier = room.seen_at[line2] if room.seen[line2] == line1 and len(starts) == 0 else -1
        if earlier >= 0:
            for c in range(rows.shape[1]):
                rows[pair, c] = rows[earlier, c]
            parts[pair, 0] = parts[earlier, 0]
            parts[pair, 1] = parts[earlier, 1]
        else:
            room.seen[line2] = line1
            room.seen_at[line2] = pair
            identical = are_identical(ours, theirs, words, line1, line2)
            gather(
                theirs, phrases, n_words, line2, length1, identical, index, room.keys, room.uses, room.used, room.cover, room.found, room.bounds, room.fixed
            )  # fmt: skip
            if length1 > SHORT or length2 > SHORT:
                search(
                    room.found, room.bounds, room.fixed, length1, length2, room.beam, room.state, room.taken, room.children, room.history, room.chosen
                )  # fmt: skip
            elif not search_merged(
                room.found, room.bounds, room.fixed, length2, room.paths, room.starting, room.later, room.steps, room.chosen
            ):
                search_short(room.found, room.bounds, room.fixed, length2, room.beam, room.state, room.history, room.chosen)
            count(ours, theirs, words, line1, line2, room.found, room.chosen, rows, pair)
            ingredients(rows, pair, parts)
            if len(starts) > 0:
                write(room.found, room.chosen, length2, links, starts[pair])
        if pair + 1 == stop:
            for k in range(lists):
                index.counts[room.filled[k]] = 0
