"""The best derivation of a sentence, read back from the chart that the search has filled.

As in CoreNLP, it is found again from the scores; where scores are equal, the first in the order of splits and rules wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from captious.kernels import kernel

# A unary chain is taken for the best one if its score comes this near; far more than floats round, far less than scores differ.
NEAR = np.float32(1e-3)


@kernel
def stored(
    state: Any,
    i: Any,
    j: Any,
    lane: Any,
    sizes: Any,
    chart: Any,
    tags: Any,
    row_state: Any,
    row_scores: Any,
    row_begin: Any,
    row_count: Any,
    row_place: Any,
) -> Any:
    """The score of a state over a stretch of words, minus infinity if it has none."""
    cell = j * (j - 1) // 2 + i
    if state < sizes[2]:
        return chart[cell, state, lane]
    if state < sizes[1]:
        return tags[i, state - sizes[2], lane] if j - i == 1 else np.float32(-np.inf)
    # Places of other sentences are not removed.
    place = row_place[cell, state]
    if place < row_count[cell] and row_state[row_begin[cell] + place] == state:
        return row_scores[row_begin[cell] + place, lane]
    return np.float32(-np.inf)


@kernel
def best_split(
    state: Any,
    i: Any,
    j: Any,
    lane: Any,
    least: Any,
    sizes: Any,
    start: Any,
    left: Any,
    right: Any,
    score: Any,
    most: Any,
    chart: Any,
    tags: Any,
    row_state: Any,
    row_scores: Any,
    row_begin: Any,
    row_count: Any,
    row_place: Any,
    tops: Any,
    tag_scores: Any,
    tag_numbers: Any,
) -> Any:
    """The best way to make a state of two daughters, or over one word: score, rule, place of the split; nothing below `least` is looked for."""
    best, rule, split = np.float32(-np.inf), -1, -1
    looked_up, phrases = sizes[1], sizes[2]
    if j - i == 1:
        if tag_numbers[state] >= 0:
            best = tag_scores[i, tag_numbers[state]]
        return best, rule, split
    for k in range(i + 1, j):
        # The best scores of the two parts are often enough to see that this is not the place, and the daughter that is quick to look up, that a rule is not it.
        before, after = k * (k - 1) + 2 * i, j * (j - 1) + 2 * k
        any_before, any_after = max(tops[before, lane], tops[before + 1, lane]), max(tops[after, lane], tops[after + 1, lane])
        if not most[state] + any_before + any_after >= least:
            continue
        # A look-up by a function of its own would cost ten times as much.
        first_row, rows_before, second_row, rows_after = row_begin[before // 2], row_count[before // 2], row_begin[after // 2], row_count[after // 2]
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


@kernel
def derive(
    length: Any,
    lane: Any,
    goal: Any,
    sizes: Any,
    down: Any,
    by_parent: Any,
    chart: Any,
    tags: Any,
    rows: Any,
    tag_scores: Any,
    tag_numbers: Any,
    out: Any,
    stack: Any,
) -> Any:
    """Write the best derivation of one sentence, parents before daughters: (state, number of daughters); returns how many, 0 if there is none."""
    down_start, down_state, down_score, down_below = down
    start, left, right, rule_score, most = by_parent
    row_state, row_scores, row_begin, row_count, row_place, _, _, tops = rows
    if not stored(goal, 0, length, lane, sizes, chart, tags, row_state, row_scores, row_begin, row_count, row_place) > -np.inf:
        return 0
    written, waiting = 0, 1
    stack[0, 0], stack[0, 1], stack[0, 2] = goal, 0, length
    while waiting:
        waiting -= 1
        state, i, j = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        whole = stored(state, i, j, lane, sizes, chart, tags, row_state, row_scores, row_begin, row_count, row_place)
        least = whole - NEAR
        best, rule, split = best_split(state, i, j, lane, least, sizes, start, left, right, rule_score, most, chart, tags, row_state, row_scores, row_begin, row_count, row_place, tops, tag_scores, tag_numbers)
        lowest_state = state
        if best < whole:  # else no chain of unary rules is better
            for d in range(down_start[state], down_start[state + 1]):
                child = down_state[d]
                if not down_score[d] + stored(child, i, j, lane, sizes, chart, tags, row_state, row_scores, row_begin, row_count, row_place) >= least:
                    continue
                score, child_rule, child_split = best_split(
                    child, i, j, lane, least - down_score[d], sizes, start, left, right, rule_score, most, chart, tags, row_state, row_scores, row_begin, row_count, row_place, tops, tag_scores, tag_numbers
                )
                total = down_score[d] + score
                if total > best:
                    best, rule, split, lowest_state = total, child_rule, child_split, child
        if rule < 0 and j - i > 1:  # the beam has dropped a part of what it led to
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
