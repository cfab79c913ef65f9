"""n-gram precision: BLEU's clipped precision for one n, without brevity penalty (a feature of LCEval)."""

from __future__ import annotations

import numpy as np

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure
from captious.metrics.captions.bleu import ngram_matches


class NgramPrecision(Measure):
    """Share of a candidate's n-grams that some reference has, counts clipped."""

    def __init__(self, n: int = 1) -> None:
        self.n = n
        self.name = f"Precision-{n}"
        self.summary = f"clipped precision of n-grams with n = {n}"
        self.fixed = {"n": str(n)}

    def prepare(self, references: Captions) -> None:
        references.ngrams(self.n)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        matches, totals = ngram_matches(corpus, self.n)
        return np.stack([matches, totals], axis=1).astype(np.float64)

    def value(self, sums: FloatArray) -> FloatArray:
        """Return matches over n-grams, or 0 for captions too short to have one."""
        matches, totals = sums[..., 0], sums[..., 1]
        precision: FloatArray = np.divide(matches, totals, out=np.zeros_like(totals), where=totals > 0)
        return precision
