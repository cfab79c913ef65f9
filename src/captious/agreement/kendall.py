"""Kendall's tau over weighted rows: one pass in the order of the scores, with a Fenwick tree over the
ratings.

A resample of images is a vector of counts, so resampling is re-weighting: the rows are sorted once, and each
resample costs O(n log m) for m distinct ratings. A row of weight w counts exactly as w equal rows would.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.kernels.types import Int32x2, Int64, Int64x2, Out

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@kernel
def weighted_pairs(
    group_offsets: Int64, rank: Int64, unit: Int64, counts: Int32x2, levels: int, out: Out[Int64x2]
) -> None:
    """Count pairs for each row of ``counts``.

    Each output row holds concordant minus discordant pairs, the number of rows, pairs tied in x, pairs tied
    in y, and the numbers of distinct x and y. Rows are sorted by x. ``group_offsets`` bounds the groups of
    equal x, ``rank`` is the dense rank of y, and ``unit`` is the column of ``counts`` with the row's weight.
    """
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


class SortedRows(NamedTuple):
    """Rows sorted by the variable with more levels, with dense ranks of the other."""

    group_offsets: IntArray
    rank: IntArray
    order: IntArray
    levels: int


def sort_rows(x: FloatArray, y: FloatArray) -> SortedRows:
    """Prepare two variables for :func:`weighted_pairs`. The tree indexes the one with fewer levels."""
    x_rank, y_rank = dense_ranks(x), dense_ranks(y)
    if y_rank.max(initial=0) > x_rank.max(initial=0):
        x_rank, y_rank = y_rank, x_rank
    order = np.argsort(x_rank, kind="stable")
    ends = np.flatnonzero(np.diff(x_rank[order])) + 1
    bounds = np.concatenate([[0], ends, [len(order)]]).astype(np.int64)
    return SortedRows(bounds, y_rank[order], order, int(y_rank.max(initial=0)) + 1)


def dense_ranks(values: FloatArray) -> IntArray:
    """Rank values from 0 (lowest) without gaps. Equal values share a rank."""
    ranks: IntArray = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return ranks


def pair_counts(x: FloatArray, y: FloatArray, unit: IntArray, counts: NDArray[np.int32]) -> IntArray:
    """Return the output of :func:`weighted_pairs`, one row per resample (row of ``counts``)."""
    rows = sort_rows(x, y)
    pair_stats = np.zeros((len(counts), 6), np.int64)
    weighted_pairs(rows.group_offsets, rows.rank, unit[rows.order], counts, rows.levels, pair_stats)
    return pair_stats


def tau_b(counted: IntArray) -> FloatArray:
    """Kendall's tau-b: (concordant − discordant) / geometric mean of the pairs untied in x and in y."""
    score, n, tied_x, tied_y = (counted[:, k].astype(np.float64) for k in range(4))
    total = n * (n - 1) / 2
    return _ratio(score, np.sqrt(total - tied_x) * np.sqrt(total - tied_y))


def tau_c(counted: IntArray) -> FloatArray:
    """Stuart's tau-c, for scales with different numbers of levels, such as scores and ratings."""
    score, n = counted[:, 0].astype(np.float64), counted[:, 1].astype(np.float64)
    levels = np.minimum(counted[:, 4], counted[:, 5]).astype(np.float64)
    return _ratio(2 * score * levels, n**2 * (levels - 1))


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    quotient: FloatArray = np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
    return quotient
