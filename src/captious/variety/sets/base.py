"""A measure of a set of captions: one row of statistics per image."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.measures.base import FloatArray, Measure, Need, Unit, as_statistics


class SetMeasure(Measure):
    """Base of the measures here. ``statistics`` has one row per image, not one per caption."""

    rows: ClassVar[Unit] = "image"
    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False


class MeanMeasure(SetMeasure):
    """A measure whose corpus value is the mean of the values of the images."""

    @abstractmethod
    def per_image(self, corpus: Corpus, state: Any) -> FloatArray:
        """The value of each image's set; not a number where there is none."""

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        return as_statistics(self.per_image(corpus, state))


def image_means(captions: Captions, values: FloatArray) -> FloatArray:
    """The mean of caption values over each image; not a number for an image without captions."""
    totals = np.bincount(captions.image_of, weights=values, minlength=captions.n_images)
    return ratio(totals, captions.per_image, np.nan)


def ratio(above: NDArray[Any], below: NDArray[Any], otherwise: float) -> FloatArray:
    """above / below, and ``otherwise`` where below is 0."""
    out: FloatArray = np.full(len(below), otherwise)
    np.divide(above, below, out=out, where=below > 0)
    return out
