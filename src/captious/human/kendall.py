"""Kendall's tau over weighted rows: one pass in the order of the scores, with a Fenwick tree over the ratings.

A resample of images is a vector of counts, so resampling is re-weighting: the rows are sorted once, and each resample
costs O(n log m) for m distinct ratings. A row of weight w counts exactly as w equal rows would.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@kernel
def weighted_pairs(group_offsets, rank, unit, counts, levels):  # type: ignore[no-untyped-def]
    """For each row of ``counts``: concordant minus discordant pairs, rows, pairs tied in x, pairs tied in y, and the numbers
    of distinct x and y. Rows come in the order of x, ``group_offsets`` bounding those with equal x; ``rank`` is the dense
    rank of y, ``unit`` the column of ``counts`` that weighs the row."""
    out = np.zeros((counts.shape[0], 6), np.int64)
    for r in range(counts.shape[0]):
        tree = np.zeros(levels + 1, np.int64)
        of_level = np.zeros(levels, np.int64)
        seen = 0
        score = 0
        tied_x = 0
        distinct_x = 0
        for g in range(len(group_offsets) - 1):
            start = group_offsets[g]
            end = group_offsets[g + 1]
            group = 0
            for i in range(start, end):
                weight = counts[r, unit[i]]
                if weight == 0:
                    continue
                group += weight
                below = 0
                k = rank[i]
                while k > 0:
                    below += tree[k]
                    k -= k & -k
                # Rows before this group with a lower y agree with this row; those with a higher y do not.
                score += weight * (below - (seen - below - of_level[rank[i]]))
            if group == 0:
                continue
            for i in range(start, end):
                weight = counts[r, unit[i]]
                if weight == 0:
                    continue
                of_level[rank[i]] += weight
                k = rank[i] + 1
                while k <= levels:
                    tree[k] += weight
                    k += k & -k
            seen += group
            tied_x += group * (group - 1) // 2
            distinct_x += 1
        tied_y = 0
        distinct_y = 0
        for level in range(levels):
            if of_level[level] > 0:
                distinct_y += 1
                tied_y += of_level[level] * (of_level[level] - 1) // 2
        out[r, 0] = score
        out[r, 1] = seen
        out[r, 2] = tied_x
        out[r, 3] = tied_y
        out[r, 4] = distinct_x
        out[r, 5] = distinct_y
    return out


class Sorted(NamedTuple):
    """Rows in the order of the finer of two variables, with dense ranks of the coarser."""

    group_offsets: IntArray
    rank: IntArray
    order: IntArray
    levels: int


def sort_rows(x: FloatArray, y: FloatArray) -> Sorted:
    """Prepare two variables for :func:`weighted_pairs`; the one with fewer values becomes the tree's."""
    x_rank, y_rank = dense_ranks(x), dense_ranks(y)
    if y_rank.max(initial=0) > x_rank.max(initial=0):
        x_rank, y_rank = y_rank, x_rank
    order = np.argsort(x_rank, kind="stable")
    ends = np.flatnonzero(np.diff(x_rank[order])) + 1
    bounds = np.concatenate([[0], ends, [len(order)]]).astype(np.int64)
    return Sorted(bounds, y_rank[order], order, int(y_rank.max(initial=0)) + 1)


def dense_ranks(values: FloatArray) -> IntArray:
    """0 for the lowest value, 1 for the next …; equal values share a rank."""
    ranks: IntArray = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return ranks


def pair_counts(x: FloatArray, y: FloatArray, unit: IntArray, counts: NDArray[np.int32]) -> IntArray:
    """The counts of :func:`weighted_pairs`, one row for each resample (one row of ``counts`` over units)."""
    rows = sort_rows(x, y)
    work = weighted_pairs.pick(2.0 * len(x) * len(counts) * (1 + np.log2(rows.levels)))
    found: IntArray = work(rows.group_offsets, rows.rank, unit[rows.order], counts, rows.levels)
    return found


def tau_b(counted: IntArray) -> FloatArray:
    """Kendall's tau-b: concordant minus discordant pairs, over the geometric mean of the pairs untied on either side."""
    score, n, tied_x, tied_y = (counted[:, k].astype(np.float64) for k in range(4))
    total = n * (n - 1) / 2
    return _ratio(score, np.sqrt(total - tied_x) * np.sqrt(total - tied_y))


def tau_c(counted: IntArray) -> FloatArray:
    """Stuart's tau-c: for two scales with different numbers of levels, as scores and ratings have."""
    score, n = counted[:, 0].astype(np.float64), counted[:, 1].astype(np.float64)
    levels = np.minimum(counted[:, 4], counted[:, 5]).astype(np.float64)
    return _ratio(2 * score * levels, n**2 * (levels - 1))


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    found: FloatArray = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    return found
