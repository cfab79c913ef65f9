"""Error bars and tests from per-image statistics, written once for every metric.

A system is a matrix of statistics with one row per image; a score is a function of the rows' sum. Resampling images is
then a matrix product of counts with statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Value = Callable[[FloatArray], FloatArray]

RESAMPLES = 1000
TRIALS = 10_000
SEED = 12345

#: Resamples handled at once: keeps the matrix of counts small for large corpora.
_CELLS = 20_000_000


def _batches(total: int, n: int) -> Iterator[int]:
    size = max(1, min(total, _CELLS // max(n, 1)))
    for start in range(0, total, size):
        yield min(size, total - start)


def bootstrap_sums(statistics: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Sums of the statistics over ``resamples`` samples of images with replacement."""
    n = len(statistics)
    generator = np.random.default_rng(seed)
    sums = []
    for size in _batches(resamples, n):
        # How often each image is drawn: one row of counts per resample.
        draws = generator.integers(0, n, size=(size, n), dtype=np.int32)
        draws += np.arange(size, dtype=np.int32)[:, None] * np.int32(n)
        counts = np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)
        sums.append(counts.astype(np.float64) @ statistics)
    return np.concatenate(sums)


def interval(
    statistics: FloatArray, value: Value, level: float = 0.95, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float, float]:
    """Percentile bootstrap confidence interval of a score, over images."""
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not {level}")
    return _percentiles(value(bootstrap_sums(statistics, resamples, seed)), level)


def _percentiles(values: FloatArray, level: float) -> tuple[float, float]:
    """The middle ``level`` of the values that are defined (a resample may lack every image that counts)."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def paired_bootstrap(
    a: FloatArray, b: FloatArray, value: Value, level: float = 0.95, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float, float, float]:
    """Interval of the difference B − A, and a two-sided p-value, resampling the same images for both.

    The p-value is twice the share of resamples in which the difference does not have the sign it has on all images
    (ties count), with one added to both counts so that it is never 0. Resamples in which either score is undefined are
    left out; where the difference itself is undefined, so are interval and p-value.
    """
    both = np.concatenate([a, b], axis=1)
    sums = bootstrap_sums(both, resamples, seed)
    k = a.shape[1]
    differences = value(sums[:, k:]) - value(sums[:, :k])
    observed = float(value(b.sum(axis=0)) - value(a.sum(axis=0)))
    if np.isnan(observed):
        return float("nan"), float("nan"), float("nan")
    low, high = _percentiles(differences, level)
    differences = differences[~np.isnan(differences)]
    against = int(np.sum(differences <= 0)) if observed > 0 else int(np.sum(differences >= 0))
    p = min(1.0, 2 * (against + 1) / (len(differences) + 1))
    return low, high, p


def randomisation(a: FloatArray, b: FloatArray, value: Value, trials: int = TRIALS, seed: int = SEED) -> float:
    """Two-sided p-value of approximate randomisation: swap the two systems' rows on random images.

    Trials in which a score is undefined are left out; where the difference itself is undefined, so is the p-value.
    """
    n = len(a)
    generator = np.random.default_rng(seed)
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    observed = abs(float(value(total_b) - value(total_a)))
    if np.isnan(observed):
        return float("nan")
    difference = b - a
    extreme = defined = 0
    for size in _batches(trials, n):
        swaps = generator.integers(0, 2, size=(size, n), dtype=np.int8).astype(np.float64)
        moved = swaps @ difference
        apart = np.abs(value(total_b - moved) - value(total_a + moved))
        # Rounding must not turn a tie into a loss.
        extreme += int(np.sum(apart >= observed - 1e-12))
        defined += int(np.sum(~np.isnan(apart)))
    return (extreme + 1) / (defined + 1)
