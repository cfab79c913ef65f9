"""ROUGE-L (Lin 2004) in the form of the COCO tools: maximum precision and recall over references, beta 1.2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from captious.corpus import Corpus
from captious.kernels import kernel
from captious.measures.base import FloatArray, Measure, as_statistics

BETA = 1.2


@kernel
def common_subsequences(c_tokens, c_offsets, r_tokens, r_offsets, candidate, reference, row, out):  # type: ignore[no-untyped-def]
    """Length of the longest common subsequence of each pair, by dynamic programming over one row."""
    for p in range(candidate.shape[0]):
        c_low, c_high = c_offsets[candidate[p]], c_offsets[candidate[p] + 1]
        r_low, r_high = r_offsets[reference[p]], r_offsets[reference[p] + 1]
        width = r_high - r_low
        for j in range(width + 1):
            row[j] = 0
        for i in range(c_low, c_high):
            token = c_tokens[i]
            diagonal = 0
            for j in range(width):
                above = row[j + 1]
                if r_tokens[r_low + j] == token:
                    row[j + 1] = diagonal + 1
                elif row[j] > above:
                    row[j + 1] = row[j]
                diagonal = above
        out[p] = row[width]


class RougeL(Measure):
    """F-measure of longest common subsequences."""

    name = "ROUGE-L"
    summary = "longest common subsequence, F with beta 1.2 (Lin 2004)"
    fixed: Mapping[str, str] = {"beta": f"{BETA:g}"}

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        candidate, reference = corpus.pairs
        c, r = corpus.candidates, corpus.references
        longest = int(r.lengths.max(initial=0))
        common = np.zeros(len(candidate), dtype=np.int64)
        work = float(np.dot(c.lengths[candidate], r.lengths[reference]))
        common_subsequences.pick(work)(
            c.tokens, c.token_offsets, r.tokens, r.token_offsets, candidate, reference,
            np.zeros(longest + 1, dtype=np.int64), common,
        )  # fmt: skip
        # The COCO tools split an empty caption into one empty word: two empty captions then share a word.
        c_length, r_length = c.lengths[candidate], r.lengths[reference]
        common[(c_length == 0) & (r_length == 0)] = 1
        precision = common / np.maximum(c_length, 1)
        recall = common / np.maximum(r_length, 1)
        values = np.zeros(len(c))
        has = np.diff(corpus.pair_offsets) > 0
        if has.any():
            starts = corpus.pair_offsets[:-1][has]
            p = np.maximum.reduceat(precision, starts)
            r_best = np.maximum.reduceat(recall, starts)
            bottom = r_best + BETA**2 * p
            values[has] = np.divide((1 + BETA**2) * p * r_best, bottom, out=np.zeros_like(p), where=bottom > 0)
        return as_statistics(values)
