"""Resamples of images, intervals, and tests between metrics that were measured on the same rows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from captious.human.kendall import FloatArray
from captious.significance import RESAMPLES, SEED

LEVEL = 0.95

#: Counts handled at once: keeps memory small for many images.
_CELLS = 8_000_000


def resample_counts(units: int, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[NDArray[np.int32]]:
    """How often each unit is drawn in each resample with replacement, in batches; the same seed gives the same draws."""
    generator = np.random.default_rng(seed)
    size = max(1, min(resamples, _CELLS // max(units, 1)))
    for start in range(0, resamples, size):
        rows = min(size, resamples - start)
        draws = generator.integers(0, units, size=(rows, units)) + units * np.arange(rows)[:, None]
        yield np.bincount(draws.ravel(), minlength=rows * units).reshape(rows, units).astype(np.int32)


def percentile_interval(values: FloatArray, level: float = LEVEL) -> tuple[float, float]:
    """The middle ``level`` of the resampled values that are defined."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def perfect_interval(accuracy: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Interval of an accuracy of 0 or 1, which no resample changes: that of Clopper and Pearson for n images."""
    bound = ((1 - level) / 2) ** (1 / max(n, 1))
    return (bound, 1.0) if accuracy == 1 else (0.0, 1 - bound)


def small_sample_interval(value: float, n: int, coefficient: str, level: float = LEVEL) -> tuple[float, float]:
    """Interval of a correlation over few systems, through Fisher's z.

    The standard error is that of Fisher for Pearson, of Bonett and Wright for Spearman and of Fieller for Kendall. With too
    few systems for it the interval is everything from −1 to 1.
    """
    from scipy.stats import norm

    least = 4 if coefficient.startswith("tau") else 3
    if math.isnan(value):
        return float("nan"), float("nan")
    if n <= least or abs(value) >= 1:
        return -1.0, 1.0
    if coefficient.startswith("tau"):
        error = math.sqrt(0.437 / (n - 4))
    elif coefficient == "spearman":
        error = math.sqrt((1 + value * value / 2) / (n - 3))
    else:
        error = 1 / math.sqrt(n - 3)
    z, wide = math.atanh(value), float(norm.ppf((1 + level) / 2)) * error
    return math.tanh(z - wide), math.tanh(z + wide)


def bootstrap_p(difference: float, differences: FloatArray) -> float:
    """Two-sided p-value of a difference: normal, with the standard error that the resampled differences show.

    A share of 1,000 resamples cannot go below 0.002, which no correction for many comparisons would let pass; the normal
    form has no such floor. A difference that no resample changes is 0 or certain.
    """
    from scipy.stats import norm

    defined = differences[~np.isnan(differences)]
    if math.isnan(difference) or len(defined) < 2:
        return float("nan")
    error = float(defined.std(ddof=1))
    if error < 1e-12:
        return 1.0 if abs(difference) < 1e-12 else 0.0
    return float(2 * norm.sf(abs(difference) / error))


def williams(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """Williams' test that two correlations with the same variable differ: t with n − 3 degrees of freedom, two-sided p.

    ``r12`` and ``r13`` are the correlations of two metrics with people, ``r23`` that of the metrics with each other. Rows
    count as independent, which captions of one image are not: with several rows an image, trust the bootstrap.
    """
    from scipy.stats import t as student

    if n <= 3 or any(math.isnan(r) for r in (r12, r13, r23)):
        return float("nan"), float("nan")
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    bottom = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    if bottom <= 0:
        # The two metrics are one and the same.
        return (0.0, 1.0) if abs(r12 - r13) < 1e-12 else (math.copysign(math.inf, r12 - r13), 0.0)
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / bottom)
    return t, float(2 * student.sf(abs(t), n - 3))
