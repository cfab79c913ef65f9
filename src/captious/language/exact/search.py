"""The best analysis under the grammar: CKY over sixteen sentences at once, and the derivation read back from the chart.

The chart has a cell for every stretch of words. Scores are added in Java's order, in its floats. A derivation is not kept while searching, it is found again
from the scores, as in CoreNLP; where scores are equal, the first in the order of splits and rules wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.language.exact.grammar import Floats, Ints
from captious.language.exact.lanes import LANES, above, copy_row, raise_row
from captious.language.exact.rules import Rules

# A unary chain is taken for the best one if its score comes this near; far more than floats round, far less than scores differ.
NEAR = np.float32(1e-3)
_USUAL = 1500  # unfinished phrases in a cell, at first; the lists grow where there are more


@kernel
def fill(
    length: Any,
    words: Any,
    table: Any,
    tag_states: Any,
    sizes: Any,
    up: Any,
    right: Any,
    left: Any,
    chart: Any,
    unfinished: Any,
    scratch: Any,
    prior: Any,
    beam: Any,
) -> bool:
    """Fill the chart for sentences of at most `length` words; `words` are rows of `table`, -1 after the end of a sentence.

    States that are `beam` worse than a cell's best one, for all sentences, are dropped: an infinite beam is the exact search.
    For this comparison, a state's score includes `prior`, how often the state occurs. False if the lists of unfinished phrases were too short.
    """
    up_start, up_parent, up_score = up
    r_start, r_middle, r_other, r_parent, r_score = right
    l_start, l_middle, l_other, l_parent, l_score = left
    r_states, r_scores, r_begin, r_count, l_states, l_scores, l_begin, l_count = unfinished
    base, full, hit, full_hit, none, limit = scratch
    states, looked_up = sizes[0], sizes[1]
    nothing = np.float32(-np.inf)
    r_used, l_used = 0, 0
    for size in range(1, length + 1):
        for i in range(length - size + 1):
            j = i + size
            cell = j * (j - 1) // 2 + i
            if r_used + states > len(r_states) or l_used + states > len(l_states):
                return False
            if size == 1:
                for tag in range(len(tag_states)):
                    state = tag_states[tag]
                    any_score = False
                    for lane in range(LANES):
                        word = words[i, lane]
                        score = table[word, tag] if word >= 0 else nothing
                        base[state, lane] = score
                        any_score = any_score or score > nothing
                    hit[state] = any_score
            for k in range(i + 1, j):
                before, after = k * (k - 1) // 2 + i, j * (j - 1) // 2 + k
                before_scores, after_scores = chart[before], chart[after]
                one = j - k == 1
                for a in range(r_begin[before], r_begin[before] + r_count[before]):
                    state = r_states[a]
                    for r in range(r_start[state], r_start[state + 1] if one else r_middle[state]):
                        parent = r_parent[r]
                        hit[parent] = True
                        raise_row(base, parent, r_scores, a, after_scores, r_other[r], r_score[r])
                one = k - i == 1
                for a in range(l_begin[after], l_begin[after] + l_count[after]):
                    state = l_states[a]
                    for r in range(l_start[state], l_start[state + 1] if one else l_middle[state]):
                        parent = l_parent[r]
                        hit[parent] = True
                        raise_row(base, parent, before_scores, l_other[r], l_scores, a, l_score[r])
            for state in range(states):
                if hit[state]:
                    if not above(base, state, np.float32(0), none):
                        hit[state] = False
                        continue
                    if full_hit[state]:
                        raise_row(full, state, base, state, none, 1, np.float32(0))
                    else:
                        copy_row(full, state, base, state)
                        full_hit[state] = True
                    for r in range(up_start[state], up_start[state + 1]):
                        parent = up_parent[r]
                        if not full_hit[parent]:
                            copy_row(full, parent, none, 0)
                            full_hit[parent] = True
                        raise_row(full, parent, base, state, none, 1, up_score[r])
            copy_row(limit, 0, none, 0)
            if beam < np.inf:
                for state in range(states):
                    if full_hit[state]:
                        raise_row(limit, 0, full, state, none, 1, prior[state] - beam)
            mine = chart[cell]
            r_begin[cell], l_begin[cell] = r_used, l_used
            for state in range(states):
                if full_hit[state]:
                    if state < looked_up:
                        copy_row(mine, state, full, state)
                    has_left = l_start[state + 1] > l_start[state]
                    # States that are nobody's daughter are kept, too: the derivation is found by their scores.
                    keep = above(full, state, prior[state], limit)
                    if keep and (r_start[state + 1] > r_start[state] or (state >= looked_up and not has_left)):
                        r_states[r_used] = state
                        copy_row(r_scores, r_used, full, state)
                        r_used += 1
                    if keep and has_left:
                        l_states[l_used] = state
                        copy_row(l_scores, l_used, full, state)
                        l_used += 1
                    copy_row(base, state, none, 0)
                    hit[state] = False
                    full_hit[state] = False
                elif state < looked_up:
                    copy_row(mine, state, none, 0)
            r_count[cell], l_count[cell] = r_used - r_begin[cell], l_used - l_begin[cell]
    return True


@kernel
def find(states: Any, begin: Any, count: Any, state: Any) -> Any:
    """The place of a state in a cell's ascending list, or -1."""
    low, high = begin, begin + count
    while low < high:
        middle = (low + high) // 2
        if states[middle] < state:
            low = middle + 1
        else:
            high = middle
    if low < begin + count and states[low] == state:
        return low
    return -1


@kernel
def stored(state: Any, cell: Any, lane: Any, looked_up: Any, chart: Any, unfinished: Any) -> Any:
    """The score of a state in a cell, minus infinity if it has none."""
    if state < looked_up:
        return chart[cell, state, lane]
    r_states, r_scores, r_begin, r_count, l_states, l_scores, l_begin, l_count = unfinished
    place = find(r_states, r_begin[cell], r_count[cell], state)
    if place >= 0:
        return r_scores[place, lane]
    place = find(l_states, l_begin[cell], l_count[cell], state)
    if place >= 0:
        return l_scores[place, lane]
    return np.float32(-np.inf)


@kernel
def best_split(
    state: Any, i: Any, j: Any, lane: Any, least: Any, looked_up: Any, by_parent: Any, chart: Any, unfinished: Any, tag_scores: Any
) -> Any:
    """The best way to make a state of two daughters, or over one word: score, rule, place of the split; nothing below `least` is looked for."""
    if j - i == 1:
        return tag_scores[i, state], -1, -1
    start, left, right, score = by_parent
    best, rule, split = np.float32(-np.inf), -1, -1
    for k in range(i + 1, j):
        before, after = k * (k - 1) // 2 + i, j * (j - 1) // 2 + k
        for r in range(start[state], start[state + 1]):
            # No score is above 0, so the daughter that is quick to look up is often enough to see that a rule is not it.
            if right[r] < looked_up:
                second = chart[after, right[r], lane]
                if not score[r] + second >= least:
                    continue
                first = stored(left[r], before, lane, looked_up, chart, unfinished)
            else:
                first = chart[before, left[r], lane]
                if not score[r] + first >= least:
                    continue
                second = stored(right[r], after, lane, looked_up, chart, unfinished)
            total = score[r] + first + second
            if total > best:
                best, rule, split = total, r, k
    return best, rule, split


@kernel
def derive(
    length: Any, lane: Any, goal: Any, looked_up: Any, down: Any, by_parent: Any, chart: Any, unfinished: Any, tag_scores: Any, out: Any, stack: Any
) -> Any:
    """Write the best derivation of one sentence, parents before daughters: (state, number of daughters); returns how many, 0 if there is none."""
    down_start, down_state, down_score, down_below = down
    cell = length * (length - 1) // 2
    if not chart[cell, goal, lane] > -np.inf:
        return 0
    written, waiting = 0, 1
    stack[0, 0], stack[0, 1], stack[0, 2] = goal, 0, length
    while waiting:
        waiting -= 1
        state, i, j = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        cell = j * (j - 1) // 2 + i
        whole = stored(state, cell, lane, looked_up, chart, unfinished)
        least = whole - NEAR
        best, rule, split = best_split(state, i, j, lane, least, looked_up, by_parent, chart, unfinished, tag_scores)
        lowest, _chain = state, -1
        for d in range(down_start[state], down_start[state + 1]):
            child = down_state[d]
            if not down_score[d] + stored(child, cell, lane, looked_up, chart, unfinished) >= least:
                continue
            score, child_rule, child_split = best_split(child, i, j, lane, least - down_score[d], looked_up, by_parent, chart, unfinished, tag_scores)
            total = down_score[d] + score
            if total > best:
                best, rule, split, lowest, _chain = total, child_rule, child_split, child, d
        if rule < 0 and j - i > 1:  # the beam has dropped a part of what it led to
            return 0
        # The chain of unary rules from the state down to the lowest one.
        while state != lowest:
            out[written, 0], out[written, 1] = state, 1
            written += 1
            for d in range(down_start[state], down_start[state + 1]):
                if down_state[d] == lowest:
                    state = down_below[d]
                    break
        if rule < 0:
            out[written, 0], out[written, 1] = state, 0
            written += 1
        else:
            out[written, 0], out[written, 1] = state, 2
            written += 1
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = by_parent[2][rule], split, j
            stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = by_parent[1][rule], i, split
            waiting += 2
    return written


def _rows(*shape: int) -> Floats:
    """An array of rows of `LANES` floats that begin where cache lines begin."""
    size = int(np.prod(shape)) * LANES * 4
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(np.float32).reshape(*shape, LANES)


class Workspace:
    """The arrays of one thread, for sentences of up to `length` words."""

    def __init__(self, rules: Rules, length: int) -> None:
        states, cells = len(rules.names), length * (length + 1) // 2
        self.length = length
        self.chart = _rows(cells, rules.looked_up)
        self.cells, self.states = cells, states
        self.unfinished: tuple[NDArray[Any], ...] = ()
        self.make_lists(_USUAL)
        none, base, limit = _rows(2), _rows(states), _rows(1)
        none[0], none[1] = -np.inf, 0
        base[:] = -np.inf
        self.scratch = (
            base,
            _rows(states),
            np.zeros(states, np.bool_),
            np.zeros(states, np.bool_),
            none,
            limit,
        )
        self.tag_scores: Floats = np.full((length, states), -np.inf, np.float32)
        self.out: Ints = np.empty((length * 64, 2), np.int32)
        self.stack: Ints = np.empty((length * 64, 3), np.int32)


    def make_lists(self, usual: int) -> None:
        """Lists of unfinished phrases for about this many in a cell, besides room for the last one."""
        self.usual = usual
        self.unfinished = ()
        for _ in range(2):
            size = self.cells * min(usual, self.states) + self.states
            self.unfinished += np.empty(size, np.int32), _rows(size), np.zeros(self.cells, np.int64), np.zeros(self.cells, np.int64)


def derivations(rules: Rules, table: Floats, words: list[Ints], space: Workspace, compiled: bool = True, beam: float = np.inf) -> list[Ints]:
    """The best derivations of up to `LANES` sentences, given as rows of `table` (scores by tag); empty where there is none."""
    length = max(map(len, words))
    numbers = np.full((length, LANES), -1, np.int64)
    for lane, sentence in enumerate(words):
        numbers[: len(sentence), lane] = sentence
    sizes = np.array([len(rules.names), rules.looked_up], np.int64)
    run_fill, run_derive = (fill.compiled, derive.compiled) if compiled else (fill.plain, derive.plain)
    while not run_fill(
        length,
        numbers,
        table,
        rules.tag_states,
        sizes,
        rules.up,
        rules.right,
        rules.left,
        space.chart,
        space.unfinished,
        space.scratch,
        rules.prior,
        np.float32(beam),
    ):
        space.make_lists(2 * space.usual)
    found: list[Ints] = []
    for lane, sentence in enumerate(words):
        space.tag_scores[: len(sentence), rules.tag_states] = table[sentence]
        count = run_derive(
            len(sentence), lane, rules.goal, rules.looked_up, rules.down, rules.by_parent, space.chart, space.unfinished, space.tag_scores, space.out, space.stack
        )
        found.append(space.out[:count].copy())
    return found
