"""How accurate a set is, by any metric, and the trade-off of accuracy with diversity."""

from __future__ import annotations

import numpy as np

from captious.corpus import Corpus
from captious.diversity.sets.base import SetMeasure, sizes
from captious.errors import InputError
from captious.metrics.base import FloatArray, Metric
from captious.scores import Score

#: β² of the F-measure as in Wang & Chan (2019).
BETA_SQUARED = 5.0


class SetAccuracy(SetMeasure):
    """A metric over the captions of each set: the mean, or the best caption of each image (the oracle)."""

    def __init__(self, metric: Metric, *, oracle: bool = False) -> None:
        self.metric = metric
        self.oracle = oracle
        self.name = f"{'oracle' if oracle else 'mean'} {metric.name}"
        self.summary = f"{metric.name} of {'the best caption' if oracle else 'all captions'} of each image"
        self.higher_is_better = metric.higher_is_better  # type: ignore[misc]
        self.bounds = metric.bounds  # type: ignore[misc]

    def statistics(self, corpus: Corpus) -> FloatArray:
        score = caption_score(self.metric, corpus)
        return score.statistics[score.best_captions] if self.oracle else score.image_statistics

    def value(self, sums: FloatArray) -> FloatArray:
        return self.metric.value(sums)

    def per_caption(self, statistics: FloatArray) -> FloatArray:
        return self.metric.per_caption(statistics)

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        return {"m": sizes(corpus.candidates), **self.metric.signature_fields(corpus)}


def caption_score(metric: Metric, corpus: Corpus) -> Score:
    """The metric on every caption, once per corpus: mean, oracle and ranking need the same numbers."""
    return corpus.cached(("caption score", id(metric)), lambda: Score.of(metric, corpus))


def f_measure(
    diversity: FloatArray | float, accuracy: FloatArray | float, beta_squared: float = BETA_SQUARED
) -> FloatArray:
    """(1 + β²)·div·acc / (β²·div + acc); 0 where both are 0. (The formula as printed in the paper is a slip.)"""
    diversity, accuracy = np.asarray(diversity, dtype=np.float64), np.asarray(accuracy, dtype=np.float64)
    below = beta_squared * diversity + accuracy
    above = (1.0 + beta_squared) * diversity * accuracy
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below > 0)


class FMeasure(SetMeasure):
    """The weighted harmonic mean of a diversity and an accuracy; over a corpus, of their means."""

    bounds = (0.0, None)

    def __init__(self, diversity: Score, accuracy: Score, beta_squared: float = BETA_SQUARED) -> None:
        if not beta_squared > 0:
            raise InputError(f"β² must be positive, not {beta_squared}")
        if not (diversity.metric.higher_is_better and accuracy.metric.higher_is_better):
            raise InputError(f"the F-measure needs numbers where more is better, not {diversity.name}, {accuracy.name}")
        self.diversity = diversity
        self.accuracy = accuracy
        self.beta_squared = beta_squared
        self.name = "F-measure"
        self.summary = f"weighted harmonic mean of {diversity.name} and {accuracy.name}, β² = {beta_squared:g}"

    def statistics(self, corpus: Corpus) -> FloatArray:
        # Both parts keep their own statistics, so that resampled images give both means anew.
        return np.concatenate([self.diversity.image_statistics, self.accuracy.image_statistics], axis=1)

    def value(self, sums: FloatArray) -> FloatArray:
        k = self.diversity.image_statistics.shape[1]
        return f_measure(
            self.diversity.metric.value(sums[..., :k]), self.accuracy.metric.value(sums[..., k:]), self.beta_squared
        )

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        return {
            "m": sizes(corpus.candidates),
            "beta2": f"{self.beta_squared:g}",
            "div": _described(self.diversity.metric, corpus),
            "acc": _described(self.accuracy.metric, corpus),
        }


def _described(metric: Metric, corpus: Corpus) -> str:
    fields = [f"{key}:{value}" for key, value in metric.signature_fields(corpus).items() if key != "m"]
    return f"{metric.name}({','.join(fields)})" if fields else metric.name
