"""Agreement coefficients between scores and human ratings, on all rows and on resamples of images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.agreement.kendall import FloatArray, IntArray, dense_ranks, pair_counts, tau_b, tau_c
from captious.kernels import kernel
from captious.kernels.types import Float64x2, Int32x2, Int64, Out

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


def credits(differences: FloatArray, margins: FloatArray) -> FloatArray:
    """Return 1 where metric and people prefer the same caption, ½ where the metric has a tie, else 0.

    NaN where people are tied.
    """
    right = np.where(differences == 0, 0.5, (np.sign(differences) == np.sign(margins)).astype(np.float64))
    return np.where(margins == 0, np.nan, right)


def _accuracy(x: FloatArray, y: FloatArray, unit: IntArray, counts: Counts) -> FloatArray:
    credit = credits(x, y)
    judged = ~np.isnan(credit)
    total = np.bincount(unit[judged], credit[judged], minlength=counts.shape[1])
    number = np.bincount(unit[judged], minlength=counts.shape[1]).astype(np.float64)
    weights = counts.astype(np.float64)
    pairs = weights @ number
    accuracy: FloatArray = np.divide(
        weights @ total, pairs, out=np.full(len(counts), np.nan), where=pairs > 0
    )
    return accuracy


COEFFICIENTS: dict[str, Coefficient] = {
    "tau-b": Coefficient("tau-b", _tau_b),
    "tau-c": Coefficient("tau-c", _tau_c),
    "pearson": Coefficient("pearson", _pearson),
    "spearman": Coefficient("spearman", _spearman),
    "accuracy": Coefficient("accuracy", _accuracy),
}
