"""Accuracy of sets by any metric, accuracy of people, and the trade-off between accuracy and diversity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from captious.core.errors import InputError
from captious.core.ragged import offsets_of
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource
from captious.metrics.recipes import Formula, formula
from captious.metrics.sets.selection import leave_one_out
from captious.metrics.sets.set_measure import SetMeasure
from captious.results.scores import Score
from captious.results.signatures import described, sign

#: β² of the F-measure in Wang & Chan (2019).
BETA_SQUARED = 5.0


class SetAccuracy(SetMeasure):
    """Metric over the captions of each set: the mean, or the best caption of each image (oracle)."""

    def __init__(self, metric: Measure, *, oracle: bool = False) -> None:
        self.metric = metric
        self.oracle = oracle
        self.name = f"{'oracle' if oracle else 'mean'} {metric.name}"
        self.summary = f"{metric.name} of {'the best caption' if oracle else 'all captions'} of each image"
        self.higher_is_better = metric.higher_is_better
        self.bounds = metric.bounds
        self.needs = metric.needs

    def prepare(self, references: Captions) -> Any:
        return self.metric.prepare(references)

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        return self.rows_of(caption_score(self.metric, corpus, state))

    def rows_of(self, score: Score) -> FloatArray:
        """Return the rows of images from the scores of captions."""
        rows: FloatArray = score.statistics[score.best_captions] if self.oracle else score.image_statistics
        return rows

    def value(self, sums: FloatArray) -> FloatArray:
        return self.metric.value(sums)

    def per_row(self, statistics: FloatArray) -> FloatArray:
        return self.metric.per_row(statistics)

    def recipe(self) -> dict[str, Any]:
        return self.metric.recipe()

    def check(self, corpus: Corpus | None = None) -> None:
        self.metric.check(corpus)

    def parameters(self) -> dict[str, str]:
        return self.metric.parameters()

    def resources(self) -> dict[str, Resource]:
        return self.metric.resources()

    def uses_references(self) -> bool:
        return self.metric.uses_references()


def caption_score(metric: Measure, corpus: Corpus, state: Any = None) -> Score:
    """Score every caption, cached per corpus: mean, oracle and ranking share the values."""
    return corpus.cached(("caption score", metric), lambda: Score.of(metric, corpus, state))


class LeaveOneOut(SetAccuracy):
    """Metric of the references by leave-one-out: the mean over an image's references, or the best one."""

    def _score(self, corpus: Corpus, state: Any) -> Score:
        people = corpus.candidates

        def make() -> Score:
            held_out = people.cached("leave one out", lambda: leave_one_out(people))
            several = np.flatnonzero(people.per_image > 1)
            return Score(
                self.metric,
                self.metric.statistics(held_out, state),
                tuple(people.ids[i] for i in several.tolist()),
                offsets_of(people.per_image[several]),
                sign(self.metric, corpus),
            )

        return corpus.cached(("leave-one-out score", self.metric), make)

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        return self.rows_of(self._score(corpus, state))

    def score(self, corpus: Corpus) -> Score:
        """Return the score of people. ``corpus`` has the references as its candidates."""
        state = self.prepare(corpus.references)
        ids = self._score(corpus, state).ids
        return Score.of_images(self, self.statistics(corpus, state), ids, sign(self, corpus))

    def parameters(self) -> dict[str, str]:
        return {**super().parameters(), "references": "leave-one-out"}


def f_measure(
    diversity: FloatArray | float, accuracy: FloatArray | float, beta_squared: float = BETA_SQUARED
) -> FloatArray:
    """Return (1 + β²)·div·acc / (β²·div + acc), or 0 where both are 0.

    The formula printed in the paper has an error.

    Parameters
    ----------
    diversity, accuracy
        Values between 0 and 1, or arrays of them.
    beta_squared
        Weight of accuracy. The paper uses 5.

    Examples
    --------
    >>> f_measure(0.5, 0.5).tolist()
    0.5
    """
    diversity, accuracy = np.asarray(diversity, dtype=np.float64), np.asarray(accuracy, dtype=np.float64)
    below = beta_squared * diversity + accuracy
    above = (1.0 + beta_squared) * diversity * accuracy
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below > 0)


class FFormula:
    """F-measure from summed rows: first the columns of the diversity, then those of the accuracy."""

    def __init__(self, diversity: Formula, accuracy: Formula, columns: int, beta_squared: float) -> None:
        self.diversity, self.accuracy = diversity, accuracy
        self.columns, self.beta_squared = columns, beta_squared

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> FFormula:
        """Build from :meth:`FMeasure.recipe`."""
        parts = formula(recipe["diversity"]), formula(recipe["accuracy"])
        return cls(*parts, int(recipe["columns"]), float(recipe["beta2"]))

    def value(self, sums: FloatArray) -> FloatArray:
        """Return the F-measure of sums of shape (…, k)."""
        k = self.columns
        return f_measure(
            self.diversity.value(sums[..., :k]), self.accuracy.value(sums[..., k:]), self.beta_squared
        )

    def per_row(self, statistics: FloatArray) -> FloatArray:
        """Return the F-measure of each row."""
        return self.value(statistics)


class FMeasure(SetMeasure):
    """Weighted harmonic mean of diversity and accuracy. Over a corpus, of their means."""

    bounds = (0.0, None)

    def __init__(self, diversity: Score, accuracy: Score, beta_squared: float = BETA_SQUARED) -> None:
        if not beta_squared > 0:
            raise InputError(f"β² must be positive, not {beta_squared}")
        if not (diversity.measure.higher_is_better and accuracy.measure.higher_is_better):
            raise InputError(
                f"the F-measure needs measures for which higher is better, not {diversity.name}, "
                f"{accuracy.name}"
            )
        self.diversity = diversity
        self.accuracy = accuracy
        self.beta_squared = beta_squared
        self.name = "F-measure"
        self.summary = (
            f"weighted harmonic mean of {diversity.name} and {accuracy.name}, β² = {beta_squared:g}"
        )
        columns = diversity.image_statistics.shape[1]
        self.formula = FFormula(diversity.measure, accuracy.measure, columns, beta_squared)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        # Both parts stay separate, so that resamples recompute both means.
        return np.concatenate([self.diversity.image_statistics, self.accuracy.image_statistics], axis=1)

    def value(self, sums: FloatArray) -> FloatArray:
        return self.formula.value(sums)

    def recipe(self) -> dict[str, Any]:
        return {
            "formula": "F-measure",
            "diversity": self.diversity.measure.recipe(),
            "accuracy": self.accuracy.measure.recipe(),
            "columns": self.formula.columns,
            "beta2": self.beta_squared,
        }

    def parameters(self) -> dict[str, str]:
        return {
            "beta2": f"{self.beta_squared:g}",
            "div": _described(self.diversity.measure),
            "acc": _described(self.accuracy.measure),
        }

    def uses_references(self) -> bool:
        return True


def _described(measure: Measure) -> str:
    fields = [f"{key}:{value}" for key, value in described(measure).items()]
    return f"{measure.name}({','.join(fields)})" if fields else measure.name
