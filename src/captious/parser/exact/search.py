"""The best analysis under the grammar: CKY over sixteen sentences at once.

The chart has a cell for every span of words. Scores are added as 32-bit floats in CoreNLP's order, so they
agree with it to the last bit. The search records scores only; `derivation` recovers the derivations from
them.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.kernels.types import (
    Float32,
    Float32x2,
    Float32x3,
    Int16,
    Int16x2,
    Int32,
    Int64,
    Int64x2,
    Out,
    UInt8,
    UInt64,
)
from captious.parser.exact.derivation import UnfinishedRows, derive
from captious.parser.exact.lanes import (
    LANES,
    above,
    copy_row,
    keep_row,
    lowest,
    raise_after,
    raise_before,
    raise_row,
    raise_rows,
    spread_row,
)
from captious.parser.exact.pcfg import Floats, Ints
from captious.parser.exact.rule_arrays import Rules

# Uses of a state (bit flags): it combines with a phrase after it, with a tag after it, with anything before
# it, it has a unary rule above it, it is the other daughter of a rule.
PHRASE_AFTER, TAG_AFTER, BEFORE, UNARY, FINISHED = 1, 2, 4, 8, 16
_CACHE_LINE, _LARGE_PAGE, _LARGE_ARRAY = 64, 2 << 20, 256 << 10  # bytes
_USUAL = 2500  # initial capacity in unfinished phrases per cell; the lists grow when it is exceeded


#: Rules by one daughter: start, end of the rules with phrases, other daughter, parent, score.
DaughterRules: TypeAlias = tuple[Int32, Int32, Int16, Int16, Float32]
#: Applicable rules of unfinished phrases to the right and to the left: (row, other daughter, parent), score;
#: first entry and number of entries by cell.
Steps: TypeAlias = tuple[Int16x2, Float32, Int64, Int64, Int16x2, Float32, Int64, Int64]
Scratch: TypeAlias = tuple[Float32x2, Float32x2, Int32, UInt8, UInt64, Float32x2, Float32x2]


@kernel(wide=True)
def fill(
    length: int,
    words: Int64x2,
    table: Float32x2,
    sizes: Int64,
    tag_states: Int32,
    up: tuple[Int32, Int32, Float32],
    right: DaughterRules,
    left: DaughterRules,
    chart: Out[Float32x3],
    tags: Out[Float32x3],
    rows: Out[UnfinishedRows],
    steps: Out[Steps],
    scratch: Out[Scratch],
    prior: Float32,
    beam: np.float32,
) -> bool:
    """Fill the chart for sentences of at most `length` words and return whether the lists were long enough.

    `words` are rows of `table`, -1 after the end of a sentence. Scores of phrases go to `chart`, of tags to
    `tags`, of unfinished phrases to `rows` (only those that occur). `steps` lists the rules that apply to
    each cell's unfinished phrases. It is read once for every larger cell, so it is stored in reading order.
    States more than `beam` below the best state of a sentence's cell are dropped, whatever is searched with
    it; an infinite beam is the exact search. This comparison adds `prior`, the log frequency of the state.
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
    # Cells with the same first word follow one another, so that their unfinished phrases stay in the
    # processor's cache.
    for i in range(length - 1, -1, -1):
        for j in range(i + 1, length + 1):
            cell = j * (j - 1) // 2 + i
            if (
                row_used + states > len(row_state)
                or r_used + len(r_other) > len(r_step_score)
                or l_used + len(l_other) > len(l_step_score)
            ):
                return False
            alive[cell] = False
            copy_row(tops, 2 * cell, none, 0)
            copy_row(tops, 2 * cell + 1, none, 0)
            # The boundary of the longest sentence is only part of the whole sentence.
            if j == length and 0 < i < length - 1:
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
                    raise_rows(
                        base, mark, mine, r_step[0], others, r_step[1], r_step[2], r_step_score, begin, end
                    )
                if j - k == 1:
                    for row in range(row_begin[before], row_begin[before] + row_count[before]):
                        state = row_state[row]
                        raise_after(
                            base,
                            mark,
                            row_scores,
                            row,
                            tags[k],
                            r_other,
                            r_parent,
                            r_score,
                            r_middle[state],
                            r_start[state + 1],
                        )
                if alive[before]:
                    mine, others = row_scores[row_begin[after] :], chart[before]
                    begin, end = l_step_begin[after], l_step_begin[after] + l_step_count[after]
                    raise_rows(
                        base, mark, others, l_step[1], mine, l_step[0], l_step[2], l_step_score, begin, end
                    )
                if k - i == 1:
                    for row in range(row_begin[after], row_begin[after] + row_count[after]):
                        state = row_state[row]
                        raise_before(
                            base,
                            mark,
                            row_scores,
                            row,
                            tags[i],
                            l_other,
                            l_parent,
                            l_score,
                            l_middle[state],
                            l_start[state + 1],
                        )
            # Unary rules. They start from scores without unary rules, which are copied before any is raised.
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
                spread_row(
                    base,
                    mark,
                    aside,
                    one,
                    up_parent,
                    up_score,
                    up_start[below[one]],
                    up_start[below[one] + 1],
                )
            copy_row(limit, 0, none, 0)
            if beam < np.inf:
                for state in range(states):
                    if mark[state]:
                        raise_row(limit, 0, base, state, none, 1, prior[state] - beam)
            # States that have no use here are not stored: nothing precedes the first word, no phrase follows
            # the last.
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
                        keep_row(complete, state, base, state, prior[state], limit)
                    elif state < looked_up:
                        copy_row(tags[i], state - phrases, base, state)
                    if uses[state] & here and above(base, state, prior[state], limit):
                        row_state[row_used] = state
                        keep_row(row_scores, row_used, base, state, prior[state], limit)
                        row = row_used - row_begin[cell]
                        row_place[cell, state] = row
                        for r in range(
                            r_start[state], r_middle[state] if here & PHRASE_AFTER else r_start[state]
                        ):
                            r_step[0, r_used], r_step[1, r_used], r_step[2, r_used] = (
                                row,
                                r_other[r],
                                r_parent[r],
                            )
                            r_step_score[r_used] = r_score[r]
                            r_used += 1
                        for r in range(l_start[state], l_middle[state] if here & BEFORE else l_start[state]):
                            l_step[0, l_used], l_step[1, l_used], l_step[2, l_used] = (
                                row,
                                l_other[r],
                                l_parent[r],
                            )
                            l_step_score[l_used] = l_score[r]
                            l_used += 1
                        row_used += 1
                    copy_row(base, state, none, 0)
                marks[place] = 0
            row_count[cell], r_step_count[cell], l_step_count[cell] = (
                row_used - row_begin[cell],
                r_used - r_step_begin[cell],
                l_used - l_step_begin[cell],
            )
    return True


def _rows(*shape: int) -> Floats:
    """Allocate rows of `LANES` floats aligned to cache lines, large arrays to large pages.

    NumPy requests large pages from 4 MB on. With small pages, address lookups would dominate the search.
    """
    size = int(np.prod(shape)) * LANES * 4
    is_large = size >= _LARGE_ARRAY
    alignment = _LARGE_PAGE if is_large else _CACHE_LINE
    raw = np.empty(max(size + alignment, 2 * _LARGE_PAGE) if is_large else size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + size].view(np.float32).reshape(*shape, LANES)


def _uses(rules: Rules) -> NDArray[np.int64]:
    """Return the uses of each state.

    Unfinished phrases have the first four, looked-up phrases mostly the last.
    """
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
    """Arrays of one thread for sentences of up to `length` words."""

    def __init__(self, rules: Rules, length: int) -> None:
        states, cells = len(rules.names), length * (length + 1) // 2
        self.length, self.cells, self.states = length, cells, states
        self.rule_counts = len(rules.right[2]), len(rules.left[2])
        self.sizes = np.array([states, rules.looked_up, rules.phrases], np.int64)
        self.chart = _rows(cells, rules.phrases)
        self.tags = _rows(length, rules.looked_up - rules.phrases)
        self.place: NDArray[np.int16] = np.zeros((cells, states), np.int16)
        self.uses = _uses(rules)
        self.allocate_lists(_USUAL)
        none, padded = _rows(2), -(-states // 8) * 8
        none[0], none[1] = -np.inf, 0
        base = _rows(padded)
        base[:] = -np.inf
        below: Ints = np.empty(states, np.int32)
        mark: NDArray[np.uint8] = np.zeros(padded, np.uint8)
        self.scratch = base, _rows(states), below, mark, mark.view(np.uint64), none, _rows(1)
        self.tag_numbers: Ints = np.full(states, -1, np.int32)
        self.tag_numbers[rules.tag_states] = np.arange(len(rules.tag_states), dtype=np.int32)
        self.out: Ints = np.empty((LANES, length * 64, 2), np.int32)
        self.stack: Ints = np.empty((length * 64, 3), np.int32)

    def allocate_lists(self, usual: int) -> None:
        """Allocate the lists of unfinished phrases for about `usual` per cell, and room for one full cell."""
        self.usual = usual
        size = self.cells * min(usual, self.states) + self.states
        places = (np.zeros(self.cells, np.int64) for _ in range(6))
        alive: NDArray[np.bool_] = np.zeros(self.cells, np.bool_)
        self.rows = (
            np.empty(size, np.int32),
            _rows(size),
            next(places),
            next(places),
            self.place,
            self.uses,
            alive,
            _rows(2 * self.cells),
        )
        right, left = (self.cells * min(2 * usual, rules) + rules for rules in self.rule_counts)
        self.steps = (
            np.empty((3, right), np.int16),
            np.empty(right, np.float32),
            next(places),
            next(places),
            np.empty((3, left), np.int16),
            np.empty(left, np.float32),
            next(places),
            next(places),
        )


def derivations(
    rules: Rules, table: Floats, words: list[Ints], space: Workspace, beam: float = np.inf
) -> list[Ints]:
    """Return the best derivations of up to `LANES` sentences, empty where there is none.

    A sentence is an array of rows of `table`, which has the scores of words by tag.
    """
    lengths = np.array([len(sentence) for sentence in words])
    length = int(lengths.max())
    numbers = np.full((length, LANES), -1, np.int64)
    for lane, sentence in enumerate(words):
        numbers[: len(sentence), lane] = sentence
    while not fill(
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
        space.allocate_lists(2 * space.usual)
    counts = np.zeros(len(words), np.int64)
    derive(
        lengths,
        rules.goal,
        numbers,
        table,
        space.sizes,
        rules.down,
        rules.by_parent,
        space.chart,
        space.tags,
        space.rows,
        space.tag_numbers,
        space.out,
        space.stack,
        counts,
    )
    return [space.out[lane, :count].copy() for lane, count in enumerate(counts.tolist())]
