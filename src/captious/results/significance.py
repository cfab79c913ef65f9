"""Confidence intervals and paired tests from per-image statistics, for every metric.

A system is a table of statistics with one row per image. A score is a function of the sum of the rows. If the
rows are numbers, resampling images is a matrix product of counts and statistics. If they are words
(:class:`captious.metrics.base.Sequences`), each resample is a text that is measured again. Such a text
repeats images and has fewer distinct words than as many new images would have, so these measures are biased
under resampling. Their resampled values are shifted so that the median equals the value on all images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray
from captious.metrics.base import FloatArray, Rows, Sequences

if TYPE_CHECKING:
    from captious.results.scores import Scores

#: From sums of rows (:data:`captious.metrics.base.Sums`) to values.
Value = Callable[[Any], FloatArray]

RESAMPLES = 1000
TRIALS = 10_000
SEED = 12345


class Bootstrap(NamedTuple):
    """Settings of confidence intervals."""

    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = SEED


#: Maximum number of counts per batch of resamples, to bound memory.
_CELLS = 20_000_000


def _batches(total: int, n: int) -> Iterator[int]:
    size = max(1, min(total, _CELLS // max(n, 1)))
    for start in range(0, total, size):
        yield min(size, total - start)


def bootstrap_sums(statistics: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Return the sums of the statistics over ``resamples`` samples of images with replacement."""
    n = len(statistics)
    draws = _drawn_once if resamples * n <= _CELLS else _drawn
    return np.concatenate([counts.astype(np.float64) @ statistics for counts in draws(n, resamples, seed)])


def _drawn(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.integer[Any]]]:
    """Yield batches of draw counts: one row per resample, one column per image."""
    generator = np.random.default_rng(seed)
    for size in _batches(resamples, n):
        draws = generator.integers(0, n, size=(size, n), dtype=np.int32)
        draws += np.arange(size, dtype=np.int32)[:, None] * np.int32(n)
        counts = np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)
        yield counts.astype(np.uint8) if counts.size and counts.max() < 256 else counts


@lru_cache(maxsize=1)
def _drawn_once(n: int, resamples: int, seed: int) -> tuple[NDArray[np.integer[Any]], ...]:
    """Cache the latest draws, because many scores of the same images are resampled in sequence."""
    return tuple(_drawn(n, resamples, seed))


def bootstrap_values(statistics: Rows, value: Value, resamples: int, seed: int) -> FloatArray:
    """Return the score of each of ``resamples`` samples of images with replacement."""
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
    """Shift the resampled values of a biased measure so that their median is the observed value."""
    if np.isnan(values).all():
        return values
    shifted: FloatArray = values - np.nanmedian(values) + observed
    return shifted


def interval(
    statistics: Rows, value: Value, level: float = 0.95, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float, float]:
    """Return the percentile bootstrap confidence interval of a score, over images."""
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not {level}")
    return percentile_interval(resampled_values(statistics, value, resamples, seed), level)


def resampled_values(statistics: Rows, value: Value, resamples: int, seed: int) -> FloatArray:
    """Return the score of each resample. Those of a biased measure are shifted to its value."""
    values = bootstrap_values(statistics, value, resamples, seed)
    if isinstance(statistics, Sequences):
        return _shifted(values, float(value(statistics.sum(axis=0))))
    return values


def percentile_interval(values: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Return the central ``level`` of the defined values. A score is undefined on some resamples."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return float("nan"), float("nan")
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def interval_and_p(
    differences: FloatArray, observed: float, level: float = 0.95, *, biased: bool = False
) -> tuple[float, float, float]:
    """Return interval and p-value of the paired bootstrap from the differences of all resamples.

    The p-value is two-sided: twice the share of resamples whose difference is 0 or has the opposite sign of
    the difference on all images, with one added to both counts so that it is never 0. Resamples in which a
    score is undefined are skipped. If the difference itself is undefined, so are interval and p-value.
    ``biased`` marks measures whose resampled values must be shifted to the value on all images.
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
    """Correct p-values for their number (Holm 1979).

    Rejecting all corrected values up to α keeps the chance of any false rejection at or below α. Undefined
    values stay undefined and are not counted.
    """
    p = np.asarray(p_values, dtype=np.float64)
    corrected = np.full(len(p), np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    # The smallest p-value is multiplied by n, the next by n − 1, and so on; the result never decreases.
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return [float(value) for value in corrected]


def swaps(n: int, trials: int, seed: int) -> Iterator[NDArray[np.int8]]:
    """Yield batches of trials of a randomisation test: 1 for images on which the two systems swap sides."""
    generator = np.random.default_rng(seed)
    for size in _batches(trials, n):
        yield generator.integers(0, 2, size=(size, n), dtype=np.int8)


def extreme_trials(apart: FloatArray, observed: float) -> tuple[int, int]:
    """Count the trials with a difference at least as large as observed, and the trials with a difference."""
    # The tolerance keeps ties that differ by rounding.
    return int(np.sum(np.abs(apart) >= observed - 1e-12)), int(np.sum(~np.isnan(apart)))


def randomisation(a: Rows, b: Rows, value: Value, trials: int = TRIALS, seed: int = SEED) -> float:
    """Return the two-sided p-value of approximate randomisation, swapping rows on random images.

    Trials in which a score is undefined are skipped. An undefined difference has an undefined p-value.
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
        batch_extreme, batch_defined = extreme_trials(swapped(batch), observed)
        extreme, defined = extreme + batch_extreme, defined + batch_defined
    return (extreme + 1) / (defined + 1)


def _swap_sums(a: Any, b: Any, value: Value) -> Callable[[NDArray[np.int8]], FloatArray]:
    """Return a function from swaps to the differences of the scores."""
    total_a, total_b, difference = a.sum(axis=0), b.sum(axis=0), b - a

    def apart(swaps: NDArray[np.int8]) -> FloatArray:
        moved = swaps.astype(np.float64) @ difference
        return value(total_b - moved) - value(total_a + moved)

    return apart


def _swap_texts(a: Sequences, b: Sequences, value: Value) -> Callable[[NDArray[np.int8]], FloatArray]:
    """Return the same function for texts: each image's row is read from one system or the other."""
    both, n = Sequences.concatenate([a, b]), len(a)
    own = np.arange(n, dtype=np.int32)

    def apart(swaps: NDArray[np.int8]) -> FloatArray:
        moved = swaps.astype(np.int32) * np.int32(n)
        return value(both.read(own + n - moved)) - value(both.read(own + moved))

    return apart


class PairedTests:
    """Statistics of all systems side by side, so that all systems and metrics share each draw of images."""

    def __init__(self, scores: Sequence[Scores], metrics: Sequence[str]) -> None:
        self.scores = scores
        first = scores[0]
        #: Metrics whose rows are words, which are measured again for each resample.
        self.word_metrics = [metric for metric in metrics if isinstance(first[metric].statistics, Sequences)]
        self._orders: dict[tuple[tuple[str, ...], tuple[str, ...]], IntArray] = {}
        # Group metrics by their images: leave-one-out scores may cover fewer.
        by_images: dict[tuple[str, ...], list[str]] = {}
        for metric in metrics:
            if metric not in self.word_metrics:
                by_images.setdefault(first[metric].ids, []).append(metric)
        self.groups = [(names, *self._columns(names)) for names in by_images.values()]

    def rows(self, metric: str, system: int) -> Any:
        """Return per-image statistics, in the order of the first system's images."""
        score, ids = self.scores[system][metric], self.scores[0][metric].ids
        if score.ids == ids:
            return score.image_statistics
        key = (score.ids, ids)
        if key not in self._orders:
            place = {image: k for k, image in enumerate(score.ids)}
            self._orders[key] = np.array([place[image] for image in ids], dtype=np.int64)
        return score.image_statistics[self._orders[key]]

    def _columns(self, metrics: Sequence[str]) -> tuple[FloatArray, dict[tuple[str, int], IntArray]]:
        """Return the distinct columns, and the indices of those that each metric of each system reads.

        Many columns are equal: tables shared by BLEU-1 to BLEU-4, counts of 1, lengths of references.
        """
        columns: dict[bytes, int] = {}
        distinct: list[FloatArray] = []
        seen: dict[int, IntArray] = {}
        where: dict[tuple[str, int], IntArray] = {}
        for metric in metrics:
            for system, scores in enumerate(self.scores):
                table = id(scores[metric].statistics)
                if table not in seen:
                    places = []
                    for column in np.ascontiguousarray(self.rows(metric, system).T):
                        key = column.tobytes()
                        if key not in columns:
                            columns[key] = len(distinct)
                            distinct.append(column)
                        places.append(columns[key])
                    seen[table] = np.array(places, dtype=np.int64)
                where[metric, system] = seen[table]
        return np.stack(distinct, axis=1), where

    def _value(self, metric: str) -> Value:
        return self.scores[0][metric].measure.value

    def resampled(self, resamples: int, seed: int) -> dict[tuple[str, int], FloatArray]:
        """Return the value of each metric and system in each bootstrap sample. All share the same samples."""
        values: dict[tuple[str, int], FloatArray] = {}
        for metrics, columns, where in self.groups:
            sums = bootstrap_sums(columns, resamples, seed)
            for metric in metrics:
                for system in range(len(self.scores)):
                    values[metric, system] = self._value(metric)(sums[:, where[metric, system]])
        for metric in self.word_metrics:
            for system in range(len(self.scores)):
                rows = self.rows(metric, system)
                values[metric, system] = bootstrap_values(rows, self._value(metric), resamples, seed)
        return values

    def randomised(
        self, pairs: Sequence[tuple[int, int]], trials: int, seed: int
    ) -> dict[tuple[str, int, int], float]:
        """Return p-values of approximate randomisation by metric and pair, with the same swaps for all."""
        p_values: dict[tuple[str, int, int], float] = {}
        for metrics, columns, where in self.groups:
            totals = {key: columns[:, places].sum(axis=0) for key, places in where.items()}
            observed = {
                (metric, a, b): abs(self.scores[b][metric].value - self.scores[a][metric].value)
                for metric in metrics
                for a, b in pairs
            }
            counts = {key: np.zeros(2, dtype=np.int64) for key in observed}
            for batch in swaps(len(columns), trials, seed):
                # Sums over the swapped images, for every system at once.
                swapped = batch.astype(np.float64) @ columns
                parts = {key: swapped[:, places] for key, places in where.items()}
                for metric, a, b in observed:
                    value = self._value(metric)
                    moved = parts[metric, b] - parts[metric, a]
                    apart = value(totals[metric, b] - moved) - value(totals[metric, a] + moved)
                    counts[metric, a, b] += extreme_trials(apart, observed[metric, a, b])
            for key, (extreme, defined) in counts.items():
                p = float((extreme + 1) / (defined + 1))
                p_values[key] = float("nan") if np.isnan(observed[key]) else p
        for metric in self.word_metrics:
            for a, b in pairs:
                rows = self.rows(metric, a), self.rows(metric, b)
                p_values[metric, a, b] = randomisation(*rows, self._value(metric), trials, seed)
        return p_values
