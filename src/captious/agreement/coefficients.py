"""Agreement coefficients between scores and human ratings, on all rows and on resamples of images.

A resample of images is a vector of counts, so resampling is re-weighting: a row of weight w counts exactly as
w equal rows would. Kendall's tau sorts the rows once and passes over them with a Fenwick tree over the
ratings, in O(n log m) per resample for m distinct ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.kernels import kernel
from captious.kernels.types import Float64x2, Int32x2, Int64, Int64x2, Out

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Counts = NDArray[np.int32]
#: (scores, ratings, unit of each row, counts of units) → one value for each row of counts.
Resampled = Callable[[FloatArray, FloatArray, IntArray, Counts], FloatArray]


@dataclass(frozen=True)
class Coefficient:
    """An agreement coefficient. A resample is a row of counts: how often each unit (image) was drawn."""

    name: str
    resampled: Resampled

    def __call__(self, scores: FloatArray, ratings: FloatArray) -> float:
        """Return the coefficient over all rows, or NaN where one side is constant."""
        if len(scores) == 0:
            return float("nan")
        unit = np.zeros(len(scores), dtype=np.int64)
        return float(self.resampled(scores, ratings, unit, np.ones((1, 1), np.int32))[0])


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


def _tau_b(x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts) -> FloatArray:
    return tau_b(pair_counts(x, y, unit, counts))


def _tau_c(x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts) -> FloatArray:
    return tau_c(pair_counts(x, y, unit, counts))


def _pearson(x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts) -> FloatArray:
    # Centred first: sums of squares of large numbers would lose digits.
    x, y = x - x.mean(), y - y.mean()
    columns = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    sums = np.stack([np.bincount(unit, column, minlength=counts.shape[1]) for column in columns], axis=1)
    n, sx, sy, sxx, syy, sxy = (counts.astype(np.float64) @ sums).T
    with np.errstate(invalid="ignore", divide="ignore"):
        mx, my = sx / n, sy / n
        vx, vy = sxx / n - mx * mx, syy / n - my * my
        r = (sxy / n - mx * my) / np.sqrt(vx * vy)
    # Rounding leaves a constant side with a tiny variance.
    flat = (vx <= 1e-14 * max(float(np.mean(x * x)), 1e-300)) | (
        vy <= 1e-14 * max(float(np.mean(y * y)), 1e-300)
    )
    return np.where(flat | ~np.isfinite(r), np.nan, np.clip(r, -1, 1))


@kernel
def weighted_ranks(
    x_rank: Int64,
    y_rank: Int64,
    unit: Int64,
    counts: Int32x2,
    x_levels: int,
    y_levels: int,
    out: Out[Float64x2],
) -> None:
    """Sum the squares and products of the centred mid-ranks of x and y, for each row of ``counts``."""
    for r in range(counts.shape[0]):
        of_x = np.zeros(x_levels)
        of_y = np.zeros(y_levels)
        n = 0.0
        for i in range(len(unit)):
            weight = counts[r, unit[i]]
            if weight > 0:
                of_x[x_rank[i]] += weight
                of_y[y_rank[i]] += weight
                n += weight
        # From numbers of rows to mid-ranks about the mean rank (n + 1) / 2.
        before = 0.0
        for level in range(x_levels):
            rows = of_x[level]
            of_x[level] = before + (rows + 1) / 2 - (n + 1) / 2
            before += rows
        before = 0.0
        for level in range(y_levels):
            rows = of_y[level]
            of_y[level] = before + (rows + 1) / 2 - (n + 1) / 2
            before += rows
        xx = 0.0
        yy = 0.0
        xy = 0.0
        for i in range(len(unit)):
            weight = counts[r, unit[i]]
            if weight > 0:
                a = of_x[x_rank[i]]
                b = of_y[y_rank[i]]
                xx += weight * a * a
                yy += weight * b * b
                xy += weight * a * b
        out[r, 0] = xx
        out[r, 1] = yy
        out[r, 2] = xy


def _spearman(x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts) -> FloatArray:
    x_rank, y_rank = dense_ranks(x), dense_ranks(y)
    sums = np.zeros((len(counts), 3))
    weighted_ranks(x_rank, y_rank, unit, counts, int(x_rank.max()) + 1, int(y_rank.max()) + 1, sums)
    bottom = np.sqrt(sums[:, 0] * sums[:, 1])
    rho: FloatArray = np.divide(sums[:, 2], bottom, out=np.full(len(sums), np.nan), where=bottom > 0)
    return rho


def credits(differences: FloatArray, margins: FloatArray, ties: str = "half") -> FloatArray:
    """Return 1 where metric and people prefer the same caption, ½ where the metric has a tie, else 0.

    With ``ties`` "first", a tie of the metric counts as a preference for the first caption; with "drop" the
    pair has no value. NaN where people are tied.
    """
    right = (np.sign(differences) == np.sign(margins)).astype(np.float64)
    tied = (margins > 0).astype(np.float64) if ties == "first" else {"half": 0.5, "drop": np.nan}[ties]
    credit: FloatArray = np.where(differences == 0, tied, right)
    return np.where(margins == 0, np.nan, credit)


def _accuracy(x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts, ties: str = "half") -> FloatArray:
    credit = credits(x, y, ties)
    judged = ~np.isnan(credit)
    total = np.bincount(unit[judged], credit[judged], minlength=counts.shape[1])
    number = np.bincount(unit[judged], minlength=counts.shape[1]).astype(np.float64)
    weights = counts.astype(np.float64)
    pairs = weights @ number
    accuracy: FloatArray = np.divide(
        weights @ total, pairs, out=np.full(len(counts), np.nan), where=pairs > 0
    )
    return accuracy


def _levels(y: FloatArray) -> NDArray[np.bool_]:
    """Return which rows have the higher of two ratings."""
    levels = np.unique(y)
    if len(levels) > 2:
        raise InputError(
            f"average precision and area under the curve need two ratings (right, wrong); found {len(levels)}"
        )
    return y == levels[-1] if len(levels) == 2 else y > 0


def _groups_of_equal_scores(
    x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts
) -> tuple[FloatArray, FloatArray]:
    """Return the weight of wrong and of right rows by resample and score, lowest score first."""
    rank, right = dense_ranks(x), _levels(y)
    levels = int(rank.max(initial=0)) + 1
    wrong_weight, right_weight = np.zeros((2, len(counts), levels))
    for row in range(len(x)):
        target = right_weight if right[row] else wrong_weight
        target[:, rank[row]] += counts[:, unit[row]]
    return wrong_weight, right_weight


def _average_precision(x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts) -> FloatArray:
    """Average precision of finding the wrong rows, lowest score first. Equal scores enter together."""
    wrong, right = _groups_of_equal_scores(x, y, unit, counts)
    wrong_so_far, all_so_far = wrong.cumsum(axis=1), (wrong + right).cumsum(axis=1)
    precision = np.divide(wrong_so_far, all_so_far, out=np.zeros_like(wrong), where=all_so_far > 0)
    return _ratio((wrong * precision).sum(axis=1), wrong.sum(axis=1))


def _area_under_curve(x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts) -> FloatArray:
    """Share of pairs (right row, wrong row) where the right one scores higher. Equal scores count half."""
    wrong, right = _groups_of_equal_scores(x, y, unit, counts)
    below = wrong.cumsum(axis=1) - wrong / 2
    return _ratio((right * below).sum(axis=1), wrong.sum(axis=1) * right.sum(axis=1))


def _share(x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts) -> FloatArray:
    """Mean of the scores, which are 1 where a metric named the wrong word and 0 elsewhere."""
    weights = counts.astype(np.float64)
    total = np.bincount(unit, x, minlength=counts.shape[1])
    number = np.bincount(unit, minlength=counts.shape[1]).astype(np.float64)
    return _ratio(weights @ total, weights @ number)


COEFFICIENTS: dict[str, Coefficient] = {
    "tau-b": Coefficient("tau-b", _tau_b),
    "tau-c": Coefficient("tau-c", _tau_c),
    "pearson": Coefficient("pearson", _pearson),
    "spearman": Coefficient("spearman", _spearman),
    "accuracy": Coefficient("accuracy", _accuracy),
    "ap": Coefficient("ap", _average_precision),
    "auc": Coefficient("auc", _area_under_curve),
    "word named": Coefficient("word named", _share),
}

#: Accuracy by treatment of equal scores.
ACCURACIES: dict[str, Coefficient] = {
    "half": COEFFICIENTS["accuracy"],
    "first": Coefficient("accuracy", partial(_accuracy, ties="first")),
    "drop": Coefficient("accuracy", partial(_accuracy, ties="drop")),
}
