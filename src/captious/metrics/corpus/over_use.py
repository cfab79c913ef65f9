"""Words that a system uses more, or less, than people do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from captious.core.ragged import IntArray
from captious.metrics.statistics import FloatArray


@dataclass(frozen=True)
class Usage:
    """Frequencies of every word of the shared vocabulary in two corpora."""

    system: IntArray
    humans: IntArray
    #: Relative frequency of the system divided by that of people; infinite for words that people never use.
    ratio: FloatArray
    #: Log-likelihood (G²) of the two frequencies, positive for over-used words, negative for under-used ones.
    log_likelihood: FloatArray

    def most(self, limit: int, *, over: bool) -> IntArray:
        """Return the words with the strongest over-use (or under-use), strongest first."""
        sign = -1.0 if over else 1.0
        order = np.argsort(sign * self.log_likelihood, kind="stable")[:limit]
        kept: IntArray = order[sign * self.log_likelihood[order] < 0]
        return kept


def usage(system: IntArray, humans: IntArray) -> Usage:
    """Compare the word counts of a system with those of the references."""
    a, b = system.astype(np.float64), humans.astype(np.float64)
    total_a, total_b = a.sum(), b.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (a / total_a) / (b / total_b)
        share = (a + b) / (total_a + total_b)
        g2 = 2.0 * (_part(a, total_a * share) + _part(b, total_b * share))
        sign = np.sign(a / total_a - b / total_b)
    return Usage(system, humans, ratio, np.nan_to_num(sign) * np.maximum(g2, 0.0))


def _part(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Return observed × log(observed / expected), 0 where nothing was observed."""
    out = np.zeros_like(observed)
    np.log(np.divide(observed, expected, out=out, where=observed > 0), out=out, where=observed > 0)
    return out * observed
