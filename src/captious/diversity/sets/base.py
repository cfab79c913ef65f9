"""A measure of a set of captions: a metric with one row of statistics per image."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Metric, as_statistics
from captious.scores import Score, signature


class SetMeasure(Metric):
    """Base of the measures here. ``statistics`` has one row per image, not one per caption."""

    needs = frozenset()
    perfect_is_maximum = False

    def score(self, corpus: Corpus) -> Score:
        """The score of the candidate sets of a corpus."""
        return Score.of_images(self, self.statistics(corpus), corpus.ids, signature(self, corpus))

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        return {"m": sizes(corpus.candidates)}


class MeanMeasure(SetMeasure):
    """A measure whose corpus value is the mean of the values of the images."""

    @abstractmethod
    def per_image(self, corpus: Corpus) -> FloatArray:
        """The value of each image's set; not a number where there is none."""

    def statistics(self, corpus: Corpus) -> FloatArray:
        return as_statistics(self.per_image(corpus))


def sizes(captions: Captions) -> str:
    """How many captions the sets have: ``10``, or ``5-7``. Diversity depends on it."""
    if not captions.n_images:
        return "0"
    low, high = int(captions.per_image.min()), int(captions.per_image.max())
    return str(high) if low == high else f"{low}-{high}"


def image_means(captions: Captions, values: FloatArray) -> FloatArray:
    """The mean of caption values over each image; not a number for an image without captions."""
    totals = np.bincount(captions.image_of, weights=values, minlength=captions.n_images)
    return ratio(totals, captions.per_image, np.nan)


def ratio(above: NDArray[Any], below: NDArray[Any], otherwise: float) -> FloatArray:
    """above / below, and ``otherwise`` where below is 0."""
    out: FloatArray = np.full(len(below), otherwise)
    np.divide(above, below, out=out, where=below > 0)
    return out
