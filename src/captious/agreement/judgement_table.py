"""Table of judgements under a protocol with the scores of metrics, from which all agreement is computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from captious.agreement.coefficients import (
    ACCURACIES,
    COEFFICIENTS,
    Coefficient,
    Counts,
    FloatArray,
    IntArray,
)
from captious.core.memo import cached_property
from captious.io.judgements import Protocol


@dataclass(frozen=True)
class JudgementTable:
    """One row per judgement in use, with the rated caption's score by each metric (higher is better)."""

    name: str
    #: Name, size and digest of the set, for signatures.
    judged: str
    protocol: Protocol
    human: FloatArray
    #: The image (or system) of each row, the unit of resampling.
    unit: IntArray
    scores: Mapping[str, FloatArray]
    signatures: Mapping[str, str]
    #: Word count and index of the rated caption, used by curves and folds.
    words: IntArray
    caption: IntArray
    #: A part of the set, such as a category of pairs. "" is the whole set.
    part: str = ""
    #: Rated captions skipped: copies of a reference (protocol "drop"), or captions without references.
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.human)

    @property
    def coefficient(self) -> Coefficient:
        name = self.protocol.coefficient
        return ACCURACIES[self.protocol.ties] if name == "accuracy" else COEFFICIENTS[name]

    @cached_property
    def units(self) -> int:
        """Number of images (or systems) of the rows."""
        return int(self.unit.max(initial=-1)) + 1

    def where(self, chosen: NDArray[np.bool_], part: str | None = None) -> JudgementTable:
        """Select rows and renumber their images."""
        return replace(
            self,
            human=self.human[chosen],
            unit=np.unique(self.unit[chosen], return_inverse=True)[1].reshape(-1).astype(np.int64),
            scores={name: values[chosen] for name, values in self.scores.items()},
            words=self.words[chosen],
            caption=self.caption[chosen],
            part=self.part if part is None else part,
        )

    def under(self, **changes: object) -> JudgementTable:
        """Return the same rows under another coefficient or level."""
        return replace(self, protocol=replace(self.protocol, **changes))  # type: ignore[arg-type]

    def with_scores(self, scores: Mapping[str, FloatArray]) -> JudgementTable:
        """Return the same rows with other scores."""
        return replace(
            self, scores=dict(scores), signatures={name: self.signatures.get(name, name) for name in scores}
        )

    def defined(self, metrics: Iterator[str] | list[str]) -> NDArray[np.bool_]:
        """Return a mask of the rows where all these metrics have a score."""
        chosen = np.ones(len(self), dtype=bool)
        for metric in metrics:
            chosen &= np.isfinite(self.scores[metric])
        return chosen

    def estimate(self, metric: str) -> float:
        """Return a metric's agreement over the rows where it is defined. A constant metric gets 0."""
        rows = self.where(self.defined([metric]))
        if not len(rows):
            return float("nan")
        scores = rows.scores[metric]
        if self.protocol.level == "image":
            return float(np.nanmean(rows.within_images(metric))) if rows.varied_images else float("nan")
        return _constant_is_zero(self.coefficient(scores, rows.human), scores)

    def resampled(self, metric: str, counts: Counts) -> FloatArray:
        """Return the agreement on each resample of images. The metric must be defined in every row."""
        scores = self.scores[metric]
        if self.protocol.level == "image":
            values = self.within_images(metric)
            is_defined = ~np.isnan(values)
            weights = counts[:, is_defined].astype(np.float64)
            total = weights.sum(axis=1)
            means: FloatArray = np.divide(
                weights @ values[is_defined], total, out=np.full(len(counts), np.nan), where=total > 0
            )
            return means
        coefficients = self.coefficient.resampled(scores, self.human, self.unit, counts)
        return np.where(np.isnan(coefficients), 0.0, coefficients) if np.ptp(scores) == 0 else coefficients

    @cached_property
    def varied_images(self) -> int:
        """Number of images whose ratings differ. Only these enter the mean over images."""
        lowest, highest = np.full(self.units, np.inf), np.full(self.units, -np.inf)
        np.minimum.at(lowest, self.unit, self.human)
        np.maximum.at(highest, self.unit, self.human)
        return int(np.sum(highest > lowest))

    def within_images(self, metric: str) -> FloatArray:
        """Return each image's coefficient: NaN for constant ratings, 0 where only the scores are constant."""
        order = np.argsort(self.unit, kind="stable")
        bounds = np.searchsorted(self.unit[order], np.arange(self.units + 1))
        scores, human = self.scores[metric][order], self.human[order]
        values = np.full(self.units, np.nan)
        for image in range(self.units):
            rows = slice(bounds[image], bounds[image + 1])
            if rows.stop - rows.start > 1 and np.ptp(human[rows]) > 0:
                values[image] = _constant_is_zero(self.coefficient(scores[rows], human[rows]), scores[rows])
        return values


def _constant_is_zero(value: float, scores: FloatArray) -> float:
    return 0.0 if np.isnan(value) and np.ptp(scores) == 0 else value
