"""The best derivations of sentences, read back from the chart that the search has filled.

As in CoreNLP, a derivation is recovered from the scores. Among equal scores, the first in the order of splits
and rules wins.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from captious.kernels import inner, kernel
from captious.kernels.types import (
    Bool,
    Float32,
    Float32x2,
    Float32x3,
    Int16x2,
    Int32,
    Int32x2,
    Int32x3,
    Int64,
    Int64x2,
    Out,
)

# Tolerance when a unary chain is compared with the best score: far above rounding, far below real
# differences.
NEAR = np.float32(1e-3)


#: Unfinished phrases by cell: state, scores, first row, number of rows, row of each state. Then the uses of
#: states, whether a cell has finished phrases, and the best scores of each cell (looked-up states, unfinished
#: states).
UnfinishedRows: TypeAlias = tuple[Int32, Float32x2, Int64, Int64, Int16x2, Int64, Bool, Float32x2]
#: Unary chains by highest state: start, lowest state, score, the state below the highest.
UnaryChains: TypeAlias = tuple[Int32, Int32, Float32, Int32]
#: Binary rules by parent: start, left daughter, right daughter, score; then the largest score by parent.
RulesByParent: TypeAlias = tuple[Int32, Int32, Int32, Float32, Float32]


@inner
def stored(
    state: int,
    i: int,
    j: int,
    lane: int,
    sizes: Int64,
    chart: Float32x3,
    tags: Float32x3,
    rows: UnfinishedRows,
) -> np.float32:
    """Return the score of a state over words i to j, minus infinity if it has none."""
    row_state, row_scores, row_begin, row_count, row_place, _, _, _ = rows
    cell = j * (j - 1) // 2 + i
    if state < sizes[2]:
        return chart[cell, state, lane]
    if state < sizes[1]:
        return tags[i, state - sizes[2], lane] if j - i == 1 else np.float32(-np.inf)
    # The row of a state may be left over from earlier sentences, so it is checked.
    place = row_place[cell, state]
    if place < row_count[cell] and row_state[row_begin[cell] + place] == state:
        return row_scores[row_begin[cell] + place, lane]
    return np.float32(-np.inf)


@inner
def best_split(
    state: int,
    i: int,
    j: int,
    lane: int,
    least: np.float32,
    sizes: Int64,
    by_parent: RulesByParent,
    chart: Float32x3,
    tags: Float32x3,
    rows: UnfinishedRows,
    word: int,
    table: Float32x2,
    tag_numbers: Int32,
) -> tuple[np.float32, int, int]:
    """Return score, rule and split of the best way to build a state from two daughters, or from one word.

    Candidates below `least` are skipped.
    """
    start, left, right, score, most = by_parent
    row_state, row_scores, row_begin, row_count, row_place, _, _, tops = rows
    best, rule, split = np.float32(-np.inf), -1, -1
    looked_up, phrases = sizes[1], sizes[2]
    if j - i == 1:
        if tag_numbers[state] >= 0:
            best = table[word, tag_numbers[state]]
        return best, rule, split
    for k in range(i + 1, j):
        # The best scores of both parts rule out most splits. The daughter that is quick to look up rules out
        # most rules.
        before, after = k * (k - 1) + 2 * i, j * (j - 1) + 2 * k
        any_before = max(tops[before, lane], tops[before + 1, lane])
        any_after = max(tops[after, lane], tops[after + 1, lane])
        if not most[state] + any_before + any_after >= least:
            continue
        # Written out here: calling `stored` would take ten times as long.
        first_row, rows_before = row_begin[before // 2], row_count[before // 2]
        second_row, rows_after = row_begin[after // 2], row_count[after // 2]
        for r in range(start[state], start[state + 1]):
            one, other = left[r], right[r]
            if other < looked_up:
                if other < phrases:
                    second = chart[after // 2, other, lane]
                elif j - k == 1:
                    second = tags[k, other - phrases, lane]
                else:
                    continue
                if not score[r] + second + any_before >= least:
                    continue
                if one < phrases:
                    first = chart[before // 2, one, lane]
                elif one < looked_up:
                    if k - i > 1:
                        continue
                    first = tags[i, one - phrases, lane]
                else:
                    place = row_place[before // 2, one]
                    if place >= rows_before or row_state[first_row + place] != one:
                        continue
                    first = row_scores[first_row + place, lane]
            else:
                if one < phrases:
                    first = chart[before // 2, one, lane]
                elif k - i == 1:
                    first = tags[i, one - phrases, lane]
                else:
                    continue
                if not score[r] + first + any_after >= least:
                    continue
                place = row_place[after // 2, other]
                if place >= rows_after or row_state[second_row + place] != other:
                    continue
                second = row_scores[second_row + place, lane]
            total = score[r] + first + second
            if total > best:
                best, rule, split = total, r, k
    return best, rule, split


@inner
def derive_lane(
    length: int,
    lane: int,
    goal: int,
    words: Int64x2,
    table: Float32x2,
    sizes: Int64,
    down: UnaryChains,
    by_parent: RulesByParent,
    chart: Float32x3,
    tags: Float32x3,
    rows: UnfinishedRows,
    tag_numbers: Int32,
    out: Out[Int32x2],
    stack: Out[Int32x2],
) -> int:
    """Write the best derivation of one sentence to `out` and return its length, 0 if there is none."""
    down_start, down_state, down_score, down_below = down
    _, left, right, _, _ = by_parent
    if not stored(goal, 0, length, lane, sizes, chart, tags, rows) > -np.inf:
        return 0
    written, waiting = 0, 1
    stack[0, 0], stack[0, 1], stack[0, 2] = goal, 0, length
    while waiting:
        waiting -= 1
        state, i, j = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        whole = stored(state, i, j, lane, sizes, chart, tags, rows)
        least = whole - NEAR
        word = words[i, lane]
        best, rule, split = best_split(
            state, i, j, lane, least, sizes, by_parent, chart, tags, rows, word, table, tag_numbers
        )
        lowest_state = state
        if best < whole:  # otherwise no chain of unary rules is better
            for d in range(down_start[state], down_start[state + 1]):
                child = down_state[d]
                if not down_score[d] + stored(child, i, j, lane, sizes, chart, tags, rows) >= least:
                    continue
                limit = least - down_score[d]
                score, child_rule, child_split = best_split(
                    child, i, j, lane, limit, sizes, by_parent, chart, tags, rows, word, table, tag_numbers
                )
                total = down_score[d] + score
                if total > best:
                    best, rule, split, lowest_state = total, child_rule, child_split, child
        if rule < 0 and j - i > 1:  # the beam has dropped a part of the derivation
            return 0
        # The chain of unary rules from the state down to the lowest one.
        while state != lowest_state:
            out[written, 0], out[written, 1] = state, 1
            written += 1
            for d in range(down_start[state], down_start[state + 1]):
                if down_state[d] == lowest_state:
                    state = down_below[d]
                    break
        if rule < 0:
            out[written, 0], out[written, 1] = state, 0
            written += 1
        else:
            out[written, 0], out[written, 1] = state, 2
            written += 1
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = right[rule], split, j
            stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = left[rule], i, split
            waiting += 2
    return written


@kernel(wide=True)
def derive(
    lengths: Int64,
    goal: int,
    words: Int64x2,
    table: Float32x2,
    sizes: Int64,
    down: UnaryChains,
    by_parent: RulesByParent,
    chart: Float32x3,
    tags: Float32x3,
    rows: UnfinishedRows,
    tag_numbers: Int32,
    out: Out[Int32x3],
    stack: Out[Int32x2],
    counts: Out[Int64],
) -> None:
    """Write the best derivation of every sentence, parents before daughters.

    `out[lane]` gets pairs (state, number of daughters), `counts[lane]` their number, 0 for a sentence without
    a derivation.
    """
    for lane in range(len(lengths)):
        counts[lane] = derive_lane(
            lengths[lane],
            lane,
            goal,
            words,
            table,
            sizes,
            down,
            by_parent,
            chart,
            tags,
            rows,
            tag_numbers,
            out[lane],
            stack,
        )
