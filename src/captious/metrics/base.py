"""What a metric is: a table of sufficient statistics, and a formula from their sums to a score.

Everything else (corpus value, per-caption values, intervals, tests, tables) is derived in :mod:`captious.scores`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus

FloatArray = NDArray[np.float64]


class Metric(ABC):
    """Base of all metrics. A metric never reads captions from a file, never tokenises, never prints."""

    #: The name people know, as in the papers.
    name: str
    #: One line for tables of metrics.
    summary: str = ""
    higher_is_better: ClassVar[bool] = True
    #: Smallest and largest possible value; ``None`` where there is none.
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    #: What a corpus must have beyond candidates: "references", "images" (more than one), "meteor-data", ….
    needs: ClassVar[frozenset[str]] = frozenset({"references"})
    #: Keyword options that the constructor takes from :func:`captious.score` and the command line.
    options: ClassVar[tuple[str, ...]] = ()
    #: Whether a caption equal to one of its references gets the upper bound.
    perfect_is_maximum: ClassVar[bool] = True

    @abstractmethod
    def statistics(self, corpus: Corpus) -> FloatArray:
        """One row of sufficient statistics per candidate caption."""

    def value(self, sums: FloatArray) -> FloatArray:
        """Scores from summed (or averaged) statistics of shape (…, k). By default the mean: column 0 over column 1."""
        count = sums[..., 1]
        mean: FloatArray = np.divide(sums[..., 0], count, out=np.full_like(count, np.nan), where=count > 0)
        return mean

    def per_caption(self, statistics: FloatArray) -> FloatArray:
        """The score of each caption by itself."""
        return self.value(statistics)

    def check(self) -> None:  # noqa: B027 - most metrics need nothing more
        """Raise an error that says what to install or to give, when something this metric needs is not there."""

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        """What, beyond name, tokenizer and version, makes two numbers of this metric comparable."""
        return {}


def as_statistics(values: FloatArray) -> FloatArray:
    """The statistics of a metric that is a mean of per-caption values: (value, 1), and (0, 0) where it is undefined."""
    defined = ~np.isnan(values)
    return np.stack([np.where(defined, values, 0.0), defined.astype(np.float64)], axis=1)
