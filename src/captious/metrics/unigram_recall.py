"""Unigram recall: how much of a reference's words a candidate mentions (an LCEval feature)."""

from __future__ import annotations

import numpy as np

from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.measures.base import FloatArray, Measure


@kernel
def _common_words(c_number, c_count, c_offsets, r_number, r_count, r_offsets, candidate, reference, out):  # type: ignore[no-untyped-def]
    """Size of the multiset intersection of the words of each pair."""
    for p in range(candidate.shape[0]):
        i, i_end = c_offsets[candidate[p]], c_offsets[candidate[p] + 1]
        j, j_end = r_offsets[reference[p]], r_offsets[reference[p] + 1]
        common = 0
        while i < i_end and j < j_end:
            if c_number[i] < r_number[j]:
                i += 1
            elif c_number[i] > r_number[j]:
                j += 1
            else:
                common += int(min(c_count[i], r_count[j]))
                i += 1
                j += 1
        out[p] = common


class UnigramRecall(Measure):
    """Share of a reference's words that the candidate has, with the reference that is recalled best."""

    name = "Recall-1"
    summary = "share of a reference's words in the candidate, best reference"

    def prepare(self, references: Captions) -> None:
        references.ngrams(1)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        candidate, reference = corpus.pairs
        c, r = corpus.candidates.ngrams(1), corpus.references.ngrams(1)
        common = np.zeros(len(candidate), dtype=np.int64)
        _common_words.pick(len(candidate) * 40)(
            c.number, c.count, c.offsets, r.number, r.count, r.offsets, candidate, reference, common
        )
        lengths = corpus.references.lengths[reference]
        recall = np.divide(common, lengths, out=np.zeros(len(common)), where=lengths > 0)
        rows = np.zeros((len(corpus.candidates), 2))
        # The first of the best references of each candidate (a stable sort, best first).
        order = np.lexsort((-recall, candidate))
        has = np.diff(corpus.pair_offsets) > 0
        best = order[corpus.pair_offsets[:-1][has]]
        rows[has] = np.stack([common[best], lengths[best]], axis=1)
        return rows

    def value(self, sums: FloatArray) -> FloatArray:
        """Common words over reference words; 0 where the references are empty."""
        common, lengths = sums[..., 0], sums[..., 1]
        recall: FloatArray = np.divide(common, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return recall
