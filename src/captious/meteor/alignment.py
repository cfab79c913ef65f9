"""Aligning two lines of words: the best set of their possible :mod:`matches <captious.meteor.matches>`, and what is counted of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.meteor.beam import search, search_short
from captious.meteor.matches import (
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
from captious.meteor.merging import BEAM, COLUMNS, SHORT, search_merged
from captious.meteor.score import ingredients


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
