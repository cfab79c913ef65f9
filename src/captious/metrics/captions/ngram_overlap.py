"""Precision of n-grams and recall of words, without brevity penalty (features of LCEval)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.kernels.types import Int32, Int64, Out
from captious.metrics.base import FloatArray, Measure, as_statistics, ratio
from captious.metrics.captions.bleu import ngram_matches
from captious.metrics.captions.cider import next_shared
from captious.metrics.captions.over_references import check_overlap, combined
from captious.metrics.options import OVERLAP, Option


class _Share(Measure):
    """Column 0 of the sums over column 1, 0 where column 1 is 0 (captions that are too short)."""

    def value(self, sums: FloatArray) -> FloatArray:
        return ratio(sums[..., 0], sums[..., 1])


class NgramPrecision(_Share):
    """Share of a candidate's n-grams that some reference, or the best one, has, counts clipped."""

    options: ClassVar[tuple[Option, ...]] = (OVERLAP,)

    def __init__(self, n: int = 1, overlap: str | None = None) -> None:
        # Saved scores name the default.
        self.overlap = "union" if overlap in (None, "union") else check_overlap(overlap)
        self.n = n
        self.name = f"Precision-{n}"
        self.summary = f"clipped precision of n-grams with n = {n}"
        self.fixed = {"n": str(n)}

    def prepare(self, references: Captions) -> None:
        references.ngrams(self.n)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        matches, totals = ngram_matches(corpus, self.n)
        if self.overlap != "union":
            shared = combined(corpus, _common(corpus, self.n).astype(np.float64), self.overlap)
            return np.stack([np.nan_to_num(shared), totals], axis=1)
        return np.stack([matches, totals], axis=1).astype(np.float64)


@kernel
def _common_words(
    c_number: Int32,
    c_count: Int32,
    c_offsets: Int64,
    r_number: Int32,
    r_count: Int32,
    r_offsets: Int64,
    candidate: Int64,
    reference: Int64,
    out: Out[Int64],
) -> None:
    """Compute the size of the multiset intersection of the words of each pair."""
    for p in range(candidate.shape[0]):
        c, r = candidate[p], reference[p]
        i_end, j_end = c_offsets[c + 1], r_offsets[r + 1]
        i, j = next_shared(c_number, c_offsets[c], i_end, r_number, r_offsets[r], j_end)
        common = 0
        while i < i_end and j < j_end:
            common += int(min(c_count[i], r_count[j]))
            i, j = next_shared(c_number, i + 1, i_end, r_number, j + 1, j_end)
        out[p] = common


def _common(corpus: Corpus, n: int) -> IntArray:
    """Return the number of n-grams that candidate and reference share, for each pair."""
    candidate, reference = corpus.pairs
    c, r = corpus.candidates.ngrams(n), corpus.references.ngrams(n)
    common = np.zeros(len(candidate), dtype=np.int64)
    _common_words(c.number, c.count, c.offsets, r.number, r.count, r.offsets, candidate, reference, common)
    return common


class UnigramRecall(_Share):
    """Share of a reference's words that the candidate has, for the best-recalled reference.

    Over references, the option ``overlap`` takes the mean or the minimum instead.
    """

    name = "Recall-1"
    summary = "share of a reference's words in the candidate, best reference"
    options: ClassVar[tuple[Option, ...]] = (OVERLAP,)

    def __init__(self, overlap: str | None = None) -> None:
        self.overlap = "max" if overlap is None else check_overlap(overlap)

    def prepare(self, references: Captions) -> None:
        references.ngrams(1)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        candidate, reference = corpus.pairs
        common = _common(corpus, 1)
        lengths = corpus.references.lengths[reference]
        recall = ratio(common, lengths)
        if self.overlap != "max":
            return as_statistics(combined(corpus, recall, self.overlap))
        rows = np.zeros((len(corpus.candidates), 2))
        # A stable sort, best first, puts the first of the best references of each candidate in front.
        order = np.lexsort((-recall, candidate))
        has = np.diff(corpus.pair_offsets) > 0
        best = order[corpus.pair_offsets[:-1][has]]
        rows[has] = np.stack([common[best], lengths[best]], axis=1)
        return rows
