"""The best analysis under the grammar: CKY over sixteen sentences at once.

The chart has a cell for every stretch of words. Scores are added in Java's order, in its floats. A derivation is not kept while searching (see `derivation`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.language.exact.derivation import derive
from captious.language.exact.grammar import Floats, Ints
from captious.language.exact.lanes import (
    LANES,
    above,
    copy_row,
    lowest,
    raise_after,
    raise_before,
    raise_row,
    raise_rows,
    spread_row,
)
from captious.language.exact.rules import Rules

# What a state is used for: to take a phrase or a tag after it, anything before it, to become something else, to be taken.
PHRASE_AFTER, TAG_AFTER, BEFORE, UNARY, FINISHED = 1, 2, 4, 8, 16
_LINE, _PAGE, _MANY = 64, 2 << 20, 256 << 10  # bytes
_USUAL = 2500  # unfinished phrases in a cell, at first; the lists grow where there are more


@kernel
def fill(
    length: Any,
    words: Any,
    table: Any,
    sizes: Any,
    tag_states: Any,
    up: Any,
    right: Any,
    left: Any,
    chart: Any,
    tags: Any,
    rows: Any,
    steps: Any,
    scratch: Any,
    prior: Any,
    beam: Any,
) -> bool:
    """Fill the chart for sentences of at most `length` words; `words` are rows of `table`, -1 after the end of a sentence.

    Phrases lie in `chart`, tags in `tags`, unfinished phrases in `rows`, only those that occur. `steps` has, for each cell, what its unfinished phrases may do
    next: it is read once for every cell that they are a part of, so it lies in the order in which it is read.
    States that are `beam` worse than a cell's best one, for all sentences, are dropped: an infinite beam is the exact search.
    For this comparison, a state's score includes `prior`, how often the state occurs. False if the lists were too short.
    """
    up_start, up_parent, up_score = up
    r_start, r_middle, r_other, r_parent, r_score = right
    l_start, l_middle, l_other, l_parent, l_score = left
    row_state, row_scores, row_begin, row_count, row_place, uses, alive, tops = rows
    r_step, r_step_score, r_step_begin, r_step_count, l_step, l_step_score, l_step_begin, l_step_count = steps
    base, aside, below, mark, marks, none, limit = scratch
    states, looked_up, phrases = sizes[0], sizes[1], sizes[2]
    nothing, zero = np.float32(-np.inf), np.float32(0)
    row_used, r_used, l_used = 0, 0, 0
    # Cells with the same beginning follow one another: their unfinished phrases are read again and again, and are still near.
    for i in range(length - 1, -1, -1):
        for j in range(i + 1, length + 1):
            cell = j * (j - 1) // 2 + i
            if row_used + states > len(row_state) or r_used + len(r_other) > len(r_step_score) or l_used + len(l_other) > len(l_step_score):
                return False
            alive[cell] = False
            copy_row(tops, 2 * cell, none, 0)
            copy_row(tops, 2 * cell + 1, none, 0)
            if j == length and 0 < i < length - 1:  # the end of the longest sentence belongs to whole sentences only
                row_begin[cell], r_step_begin[cell], l_step_begin[cell] = row_used, r_used, l_used
                row_count[cell], r_step_count[cell], l_step_count[cell] = 0, 0, 0
                continue
            if j - i == 1:
                for tag in range(len(tag_states)):
                    state = tag_states[tag]
                    for lane in range(LANES):
                        word = words[i, lane]
                        score = table[word, tag] if word >= 0 else nothing
                        base[state, lane] = score
                        if score > nothing:
                            mark[state] = 1
            for k in range(i + 1, j):
                before, after = k * (k - 1) // 2 + i, j * (j - 1) // 2 + k
                if alive[after]:
                    mine, others = row_scores[row_begin[before] :], chart[after]
                    begin, end = r_step_begin[before], r_step_begin[before] + r_step_count[before]
                    raise_rows(base, mark, mine, r_step[0], others, r_step[1], r_step[2], r_step_score, begin, end)
                if j - k == 1:
                    for row in range(row_begin[before], row_begin[before] + row_count[before]):
                        state = row_state[row]
                        raise_after(base, mark, row_scores, row, tags[k], r_other, r_parent, r_score, r_middle[state], r_start[state + 1])
                if alive[before]:
                    mine, others = row_scores[row_begin[after] :], chart[before]
                    begin, end = l_step_begin[after], l_step_begin[after] + l_step_count[after]
                    raise_rows(base, mark, others, l_step[1], mine, l_step[0], l_step[2], l_step_score, begin, end)
                if k - i == 1:
                    for row in range(row_begin[after], row_begin[after] + row_count[after]):
                        state = row_state[row]
                        raise_before(base, mark, row_scores, row, tags[i], l_other, l_parent, l_score, l_middle[state], l_start[state + 1])
            # What unary rules make of it. They start from scores without unary rules, so those are set aside before any is raised.
            many = 0
            for place in range(len(marks)):
                bits = marks[place]
                while bits:
                    state = 8 * place + (lowest(bits) >> 3)
                    bits &= bits - np.uint64(1)
                    if not above(base, state, zero, none):
                        mark[state] = 0
                    elif up_start[state + 1] > up_start[state]:
                        copy_row(aside, many, base, state)
                        below[many] = state
                        many += 1
            for one in range(many):
                spread_row(base, mark, aside, one, up_parent, up_score, up_start[below[one]], up_start[below[one] + 1])
            copy_row(limit, 0, none, 0)
            if beam < np.inf:
                for state in range(states):
                    if mark[state]:
                        raise_row(limit, 0, base, state, none, 1, prior[state] - beam)
            # At the beginning of the sentence there is nothing to take before, at its end no phrase after. The rest is not kept.
            here = UNARY + TAG_AFTER + (PHRASE_AFTER if j < length - 1 else 0) + (BEFORE if i > 0 else 0)
            complete = chart[cell]
            for state in range(phrases):
                copy_row(complete, state, none, 0)
            if j - i == 1:
                for state in range(looked_up - phrases):
                    copy_row(tags[i], state, none, 0)
            row_begin[cell], r_step_begin[cell], l_step_begin[cell] = row_used, r_used, l_used
            for place in range(len(marks)):
                bits = marks[place]
                while bits:
                    state = 8 * place + (lowest(bits) >> 3)
                    bits &= bits - np.uint64(1)
                    raise_row(tops, 2 * cell + (state >= looked_up), base, state, none, 1, zero)
                    if state < phrases:
                        alive[cell] |= uses[state] & FINISHED != 0
                        copy_row(complete, state, base, state)
                    elif state < looked_up:
                        copy_row(tags[i], state - phrases, base, state)
                    if uses[state] & here and above(base, state, prior[state], limit):
                        row_state[row_used] = state
                        copy_row(row_scores, row_used, base, state)
                        row = row_used - row_begin[cell]
                        row_place[cell, state] = row
                        for r in range(r_start[state], r_middle[state] if here & PHRASE_AFTER else r_start[state]):
                            r_step[0, r_used], r_step[1, r_used], r_step[2, r_used] = row, r_other[r], r_parent[r]
                            r_step_score[r_used] = r_score[r]
                            r_used += 1
                        for r in range(l_start[state], l_middle[state] if here & BEFORE else l_start[state]):
                            l_step[0, l_used], l_step[1, l_used], l_step[2, l_used] = row, l_other[r], l_parent[r]
                            l_step_score[l_used] = l_score[r]
                            l_used += 1
                        row_used += 1
                    copy_row(base, state, none, 0)
                marks[place] = 0
            row_count[cell], r_step_count[cell], l_step_count[cell] = row_used - row_begin[cell], r_used - r_step_begin[cell], l_used - l_step_begin[cell]
    return True


def _rows(*shape: int) -> Floats:
    """An array of rows of `LANES` floats that begin where cache lines begin, large arrays where large pages do.

    NumPy asks for large pages from 4 MB on; with small ones the processor would look for addresses more often than for scores.
    """
    size = int(np.prod(shape)) * LANES * 4
    alignment = _LINE if size < _MANY else _PAGE
    raw = np.empty(size + alignment if size < _MANY else max(size + alignment, 2 * _PAGE), np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + size].view(np.float32).reshape(*shape, LANES)


def _uses(rules: Rules) -> NDArray[np.int64]:
    """For each state the sum of what it is used for; unfinished phrases have the first four, phrases that are looked up the last, and seldom the first two."""
    uses: NDArray[np.int64] = np.zeros(len(rules.names), np.int64)
    (r_start, r_middle), (l_start, _) = rules.right[:2], rules.left[:2]
    uses[r_middle > r_start[:-1]] |= PHRASE_AFTER
    uses[r_start[1:] > r_middle] |= TAG_AFTER
    uses[l_start[1:] > l_start[:-1]] |= BEFORE
    unfinished = np.arange(len(uses)) >= rules.looked_up
    uses[unfinished & (np.diff(rules.up[0]) > 0)] |= UNARY
    for start, middle, others in (rules.right[:3], rules.left[:3]):
        for a, b in zip(start, middle):
            uses[others[a:b]] |= FINISHED
    return uses


class Workspace:
    """The arrays of one thread, for sentences of up to `length` words."""

    def __init__(self, rules: Rules, length: int) -> None:
        states, cells = len(rules.names), length * (length + 1) // 2
        self.length, self.cells, self.states = length, cells, states
        self.rules_of = len(rules.right[2]), len(rules.left[2])
        self.sizes = np.array([states, rules.looked_up, rules.phrases], np.int64)
        self.chart = _rows(cells, rules.phrases)
        self.tags = _rows(length, rules.looked_up - rules.phrases)
        self.place: NDArray[np.int16] = np.zeros((cells, states), np.int16)
        self.uses = _uses(rules)
        self.make_lists(_USUAL)
        none, padded = _rows(2), -(-states // 8) * 8
        none[0], none[1] = -np.inf, 0
        base = _rows(padded)
        base[:] = -np.inf
        below: Ints = np.empty(states, np.int32)
        mark: NDArray[np.uint8] = np.zeros(padded, np.uint8)
        self.scratch = base, _rows(states), below, mark, mark.view(np.uint64), none, _rows(1)
        self.tag_numbers: Ints = np.full(states, -1, np.int32)
        self.tag_numbers[rules.tag_states] = np.arange(len(rules.tag_states), dtype=np.int32)
        self.out: Ints = np.empty((length * 64, 2), np.int32)
        self.stack: Ints = np.empty((length * 64, 3), np.int32)

    def make_lists(self, usual: int) -> None:
        """Lists of unfinished phrases for about this many in a cell, besides room for the last one."""
        self.usual = usual
        self.rows: tuple[NDArray[Any], ...] = ()
        self.steps: tuple[NDArray[Any], ...] = ()
        size = self.cells * min(usual, self.states) + self.states
        places = (np.zeros(self.cells, np.int64) for _ in range(6))
        alive: NDArray[np.bool_] = np.zeros(self.cells, np.bool_)
        self.rows = np.empty(size, np.int32), _rows(size), next(places), next(places), self.place, self.uses, alive, _rows(2 * self.cells)
        for rules in self.rules_of:
            size = self.cells * min(2 * usual, rules) + rules
            self.steps += np.empty((3, size), np.int16), np.empty(size, np.float32), next(places), next(places)


def derivations(rules: Rules, table: Floats, words: list[Ints], space: Workspace, compiled: bool = True, beam: float = np.inf) -> list[Ints]:
    """The best derivations of up to `LANES` sentences, given as rows of `table` (scores by tag); empty where there is none."""
    length = max(map(len, words))
    numbers = np.full((length, LANES), -1, np.int64)
    for lane, sentence in enumerate(words):
        numbers[: len(sentence), lane] = sentence
    run_fill, run_derive = (fill.compiled, derive.compiled) if compiled else (fill.plain, derive.plain)
    while not run_fill(
        length,
        numbers,
        table,
        space.sizes,
        rules.tag_states,
        rules.up,
        rules.right,
        rules.left,
        space.chart,
        space.tags,
        space.rows,
        space.steps,
        space.scratch,
        rules.prior,
        np.float32(beam),
    ):
        space.make_lists(2 * space.usual)
    found: list[Ints] = []
    for lane, sentence in enumerate(words):
        count = run_derive(
            len(sentence),
            lane,
            rules.goal,
            space.sizes,
            rules.down,
            rules.by_parent,
            space.chart,
            space.tags,
            space.rows,
            table[sentence],
            space.tag_numbers,
            space.out,
            space.stack,
        )
        found.append(space.out[:count].copy())
    return found
