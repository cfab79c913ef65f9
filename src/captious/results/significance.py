"""Error bars and tests from per-image statistics, written once for every metric.

A system is a table of statistics with one row per image; a score is a function of the rows' sum. Where rows
are numbers, resampling images is a matrix product of counts with statistics. Where they are the words
themselves (:class:`captious.metrics.statistics.Sequences`), a resample is a text that is measured anew. Such
a text has some images twice and more, and so fewer different words than as many new images would have: these
measures are biased under resampling, and their resampled values are shifted, so that their median is the
value itself, before anything is read from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.metrics.statistics import FloatArray, Rows, Sequences

#: From sums of rows (:data:`captious.metrics.statistics.Sums`) to values.
Value = Callable[[Any], FloatArray]

RESAMPLES = 1000
TRIALS = 10_000
SEED = 12345


class Bootstrap(NamedTuple):
    """How confidence intervals are made."""

    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = SEED


#: Resamples handled at once: keeps the matrix of counts small for large corpora.
_CELLS = 20_000_000


def _batches(total: int, n: int) -> Iterator[int]:
    size = max(1, min(total, _CELLS // max(n, 1)))
    for start in range(0, total, size):
        yield min(size, total - start)


def bootstrap_sums(statistics: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Sums of the statistics over ``resamples`` samples of images with replacement."""
    n = len(statistics)
    draws = _drawn_once if resamples * n <= _CELLS else _drawn
    return np.concatenate([counts.astype(np.float64) @ statistics for counts in draws(n, resamples, seed)])


def _drawn(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.integer[Any]]]:
    """How often each image is drawn, one row per resample; in batches."""
    generator = np.random.default_rng(seed)
    for size in _batches(resamples, n):
        draws = generator.integers(0, n, size=(size, n), dtype=np.int32)
        draws += np.arange(size, dtype=np.int32)[:, None] * np.int32(n)
        counts = np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)
        yield counts.astype(np.uint8) if counts.size and counts.max() < 256 else counts


@lru_cache(maxsize=1)
def _drawn_once(n: int, resamples: int, seed: int) -> tuple[NDArray[np.integer[Any]], ...]:
    """The same, kept: many scores of the same images are resampled one after the other."""
    return tuple(_drawn(n, resamples, seed))


def bootstrap_values(statistics: Rows, value: Value, resamples: int, seed: int) -> FloatArray:
    """The score of each of ``resamples`` samples of images with replacement."""
    if not isinstance(statistics, Sequences):
        return value(bootstrap_sums(statistics, resamples, seed))
    n = len(statistics)
    generator = np.random.default_rng(seed)
    drawn = [
        value(statistics.read(generator.integers(0, n, size=(size, n), dtype=np.int32)))
        for size in _batches(resamples, n)
    ]
    return np.concatenate(drawn)


def _shifted(values: FloatArray, observed: float) -> FloatArray:
    """Resampled values of a biased measure, their median moved to the value itself."""
    if np.isnan(values).all():
        return values
    moved: FloatArray = values - np.nanmedian(values) + observed
    return moved


def interval(
    statistics: Rows, value: Value, level: float = 0.95, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float, float]:
    """Percentile bootstrap confidence interval of a score, over images."""
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not {level}")
    values = bootstrap_values(statistics, value, resamples, seed)
    if isinstance(statistics, Sequences):
        values = _shifted(values, float(value(statistics.sum(axis=0))))
    return percentile_interval(values, level)


def percentile_interval(values: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Return the middle ``level`` of the defined values. A resample may lack every image that counts."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def paired_bootstrap(
    a: Rows, b: Rows, value: Value, level: float = 0.95, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float, float, float]:
    """Interval of the difference B − A, and a two-sided p-value, resampling the same images for both.

    The p-value is twice the share of resamples in which the difference does not have the sign it has on all
    images (ties count), with one added to both counts so that it is never 0. Resamples in which either score
    is undefined are left out; where the difference itself is undefined, so are interval and p-value.
    """
    if isinstance(a, Sequences) or isinstance(b, Sequences):
        # One seed draws the same images for both.
        differences = bootstrap_values(b, value, resamples, seed) - bootstrap_values(
            a, value, resamples, seed
        )
    else:
        sums = bootstrap_sums(np.concatenate([a, b], axis=1), resamples, seed)
        k = a.shape[1]
        differences = value(sums[:, k:]) - value(sums[:, :k])
    observed = float(value(b.sum(axis=0)) - value(a.sum(axis=0)))
    return of_differences(differences, observed, level, biased=isinstance(a, Sequences))


def of_differences(
    differences: FloatArray, observed: float, level: float = 0.95, *, biased: bool = False
) -> tuple[float, float, float]:
    """Interval and p-value of the paired bootstrap, from the differences of all resamples (of a ``biased``
    measure, whose resampled values lie apart from its value: moved there).
    """
    if np.isnan(observed):
        return float("nan"), float("nan"), float("nan")
    if biased:
        differences = _shifted(differences, observed)
    low, high = percentile_interval(differences, level)
    differences = differences[~np.isnan(differences)]
    against = int(np.sum(differences <= 0)) if observed > 0 else int(np.sum(differences >= 0))
    p = min(1.0, 2 * (against + 1) / (len(differences) + 1))
    return low, high, p


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm 1979): reject where they are at most α, and the chance of any
    false rejection is at most α. Undefined ones stay so and do not count.
    """
    p = np.asarray(p_values, dtype=np.float64)
    corrected = np.full(len(p), np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    # The smallest is multiplied by their number, the next by one less, and none may fall below the one before
    # it.
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return [float(value) for value in corrected]


def swaps(n: int, trials: int, seed: int) -> Iterator[NDArray[np.int8]]:
    """For each trial of a randomisation test, on which images the two systems change sides; in batches."""
    generator = np.random.default_rng(seed)
    for size in _batches(trials, n):
        yield generator.integers(0, 2, size=(size, n), dtype=np.int8)


def extreme_trials(apart: FloatArray, observed: float) -> tuple[int, int]:
    """How many trials have a difference as large as the observed one, and how many have any."""
    # Rounding must not turn a tie into a loss.
    return int(np.sum(np.abs(apart) >= observed - 1e-12)), int(np.sum(~np.isnan(apart)))


def randomisation(a: Rows, b: Rows, value: Value, trials: int = TRIALS, seed: int = SEED) -> float:
    """Two-sided p-value of approximate randomisation: swap the two systems' rows on random images.

    Trials in which a score is undefined are left out; where the difference itself is undefined, so is the
    p-value.
    """
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    observed = abs(float(value(total_b) - value(total_a)))
    if np.isnan(observed):
        return float("nan")
    swapped = (
        _swap_texts(a, b, value)
        if isinstance(a, Sequences) and isinstance(b, Sequences)
        else _swap_sums(a, b, value)
    )
    extreme = defined = 0
    for batch in swaps(len(a), trials, seed):
        more, all_of_them = extreme_trials(swapped(batch), observed)
        extreme, defined = extreme + more, defined + all_of_them
    return (extreme + 1) / (defined + 1)


def _swap_sums(a: Any, b: Any, value: Value) -> Callable[[NDArray[np.int8]], FloatArray]:
    """The difference of the scores once rows have changed sides."""
    total_a, total_b, difference = a.sum(axis=0), b.sum(axis=0), b - a

    def apart(swaps: NDArray[np.int8]) -> FloatArray:
        moved = swaps.astype(np.float64) @ difference
        return value(total_b - moved) - value(total_a + moved)

    return apart


def _swap_texts(a: Sequences, b: Sequences, value: Value) -> Callable[[NDArray[np.int8]], FloatArray]:
    """The same for texts: each image's row is read from one system or the other."""
    both, n = Sequences.concatenate([a, b]), len(a)
    own = np.arange(n, dtype=np.int32)

    def apart(swaps: NDArray[np.int8]) -> FloatArray:
        moved = swaps.astype(np.int32) * np.int32(n)
        return value(both.read(own + n - moved)) - value(both.read(own + moved))

    return apart
