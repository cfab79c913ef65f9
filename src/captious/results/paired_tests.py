"""Paired tests of many systems at once, from their per-image statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from captious.core.ragged import IntArray
from captious.metrics.base import FloatArray
from captious.metrics.statistics import Sequences
from captious.results import significance
from captious.results.scores import Scores


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

    def _value(self, metric: str) -> significance.Value:
        return self.scores[0][metric].measure.value

    def resampled(self, resamples: int, seed: int) -> dict[tuple[str, int], FloatArray]:
        """Return the value of each metric and system in each bootstrap sample. All share the same samples."""
        values: dict[tuple[str, int], FloatArray] = {}
        for metrics, columns, where in self.groups:
            sums = significance.bootstrap_sums(columns, resamples, seed)
            for metric in metrics:
                for system in range(len(self.scores)):
                    values[metric, system] = self._value(metric)(sums[:, where[metric, system]])
        for metric in self.word_metrics:
            for system in range(len(self.scores)):
                rows = self.rows(metric, system)
                values[metric, system] = significance.bootstrap_values(
                    rows, self._value(metric), resamples, seed
                )
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
            for batch in significance.swaps(len(columns), trials, seed):
                # Sums over the swapped images, for every system at once.
                swapped = batch.astype(np.float64) @ columns
                parts = {key: swapped[:, places] for key, places in where.items()}
                for metric, a, b in observed:
                    value = self._value(metric)
                    moved = parts[metric, b] - parts[metric, a]
                    apart = value(totals[metric, b] - moved) - value(totals[metric, a] + moved)
                    counts[metric, a, b] += significance.extreme_trials(apart, observed[metric, a, b])
            for key, (extreme, defined) in counts.items():
                p = float((extreme + 1) / (defined + 1))
                p_values[key] = float("nan") if np.isnan(observed[key]) else p
        for metric in self.word_metrics:
            for a, b in pairs:
                rows = self.rows(metric, a), self.rows(metric, b)
                p_values[metric, a, b] = significance.randomisation(*rows, self._value(metric), trials, seed)
        return p_values
