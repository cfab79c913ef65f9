"""Base classes of measures of sets: one row of statistics per image."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Need, Unit, as_statistics, ratio


class SetMeasure(Measure):
    """Base of the measures of sets. ``statistics`` has one row per image, not one per caption."""

    rows: ClassVar[Unit] = "image"
    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False


class MeanMeasure(SetMeasure):
    """Measure whose corpus value is the mean over images."""

    @abstractmethod
    def per_image(self, corpus: Corpus, state: Any) -> FloatArray:
        """Return the value of each image's set, NaN where undefined."""

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        return as_statistics(self.per_image(corpus, state))


def image_means(captions: Captions, values: FloatArray) -> FloatArray:
    """Return the mean of caption values over each image, NaN for images without captions."""
    totals = np.bincount(captions.image_of, weights=values, minlength=captions.n_images)
    return ratio(totals, captions.per_image, np.nan)
