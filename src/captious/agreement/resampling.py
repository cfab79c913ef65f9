"""Bootstrap resamples of images, confidence intervals, and tests between metrics on the same rows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from captious.agreement.coefficients import FloatArray
from captious.core.errors import require
from captious.results.significance import RESAMPLES, SEED

LEVEL = 0.95

#: Maximum number of counts per batch, to bound memory.
_CELLS = 8_000_000


def resample_counts(units: int, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[NDArray[np.int32]]:
    """Yield batches of draw counts (resamples × units). The same seed gives the same draws."""
    generator = np.random.default_rng(seed)
    size = max(1, min(resamples, _CELLS // max(units, 1)))
    for start in range(0, resamples, size):
        rows = min(size, resamples - start)
        draws = generator.integers(0, units, size=(rows, units)) + units * np.arange(rows)[:, None]
        yield np.bincount(draws.ravel(), minlength=rows * units).reshape(rows, units).astype(np.int32)


def perfect_interval(accuracy: float, n: int) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of an accuracy of 0 or 1, which no resample changes."""
    bound = ((1 - LEVEL) / 2) ** (1 / max(n, 1))
    return (bound, 1.0) if accuracy == 1 else (0.0, 1 - bound)


def small_sample_interval(value: float, n: int, coefficient: str) -> tuple[float, float]:
    """Return the interval of a correlation over few systems, through Fisher's z.

    The standard error is Fisher's for Pearson, Bonett and Wright's for Spearman, and Fieller's for Kendall.
    With too few systems, the interval is [−1, 1].
    """
    stats = require("scipy.stats", "agreement", "the interval of a correlation over systems")
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
    z, wide = math.atanh(value), float(stats.norm.ppf((1 + LEVEL) / 2)) * error
    return math.tanh(z - wide), math.tanh(z + wide)


def bootstrap_p(difference: float, differences: FloatArray) -> float:
    """Return the two-sided normal p-value of a difference, with the bootstrap standard error.

    A share of 1,000 resamples cannot fall below 0.002, too coarse for corrections over many comparisons; the
    normal p-value has no such floor. Without any spread, the p-value is 1 for a difference of 0, else 0.
    """
    stats = require("scipy.stats", "agreement", "comparing metrics")
    defined = differences[~np.isnan(differences)]
    if math.isnan(difference) or len(defined) < 2:
        return float("nan")
    error = float(defined.std(ddof=1))
    if error < 1e-12:
        return 1.0 if abs(difference) < 1e-12 else 0.0
    return float(2 * stats.norm.sf(abs(difference) / error))


def williams(r12: float, r13: float, r23: float, n: int) -> tuple[float, float]:
    """Williams' test of two correlations that share a variable: t with n − 3 degrees of freedom, two-sided p.

    ``r12`` and ``r13`` are the correlations of two metrics with people, ``r23`` is that between the metrics.
    The test assumes independent rows, which captions of one image are not. With several rows per image, trust
    the bootstrap.
    """
    stats = require("scipy.stats", "agreement", "comparing metrics")
    if n <= 3 or any(math.isnan(r) for r in (r12, r13, r23)):
        return float("nan"), float("nan")
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    bottom = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    if bottom <= 0:
        # The two metrics are identical.
        return (0.0, 1.0) if abs(r12 - r13) < 1e-12 else (math.copysign(math.inf, r12 - r13), 0.0)
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / bottom)
    return t, float(2 * stats.t.sf(abs(t), n - 3))
