"""ROUGE-L (Lin 2004) as in the COCO tools: maximum precision and recall over references, beta 1.2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.kernels import kernel
from captious.kernels.types import Int32, Int64, Out
from captious.metrics.base import FloatArray, Measure, as_statistics

BETA = 1.2


#: Bits per word, which leave room for the carry of an addition.
_BITS = 62
_FULL = (1 << 62) - 1


@kernel
def common_subsequences(
    c_tokens: Int32,
    c_offsets: Int64,
    r_tokens: Int32,
    r_offsets: Int64,
    candidate: Int64,
    reference: Int64,
    row_of: Out[Int32],
    out: Out[Int64],
) -> None:
    """Compute the length of the longest common subsequence of each pair, with table rows as rows of bits.

    A bit is set where the length does not grow (Hyyrö 2004). A row follows from the previous one by an
    addition whose carries run along it, so 62 cells take a few steps. ``row_of`` is −1 for every word before
    and after the call. In between it says which row of ``places`` holds the positions of the word in the
    reference as bits.
    """
    places = np.zeros(64, np.int64)
    state = np.zeros(1, np.int64)
    for p in range(candidate.shape[0]):
        c_low, c_high = c_offsets[candidate[p]], c_offsets[candidate[p] + 1]
        r_low, r_high = r_offsets[reference[p]], r_offsets[reference[p] + 1]
        width = r_high - r_low
        words = (width + _BITS - 1) // _BITS
        rows = 0
        for j in range(r_low, r_high):
            if row_of[r_tokens[j]] < 0:
                row_of[r_tokens[j]] = rows
                rows += 1
        if rows * words > places.shape[0]:
            places = np.zeros(2 * rows * words, np.int64)
        if words > state.shape[0]:
            state = np.zeros(2 * words, np.int64)
        for k in range(rows * words):
            places[k] = 0
        for j in range(width):
            places[row_of[r_tokens[r_low + j]] * words + j // _BITS] |= 1 << (j % _BITS)
        for w in range(words):
            state[w] = _FULL
        for i in range(c_low, c_high):
            row = row_of[c_tokens[i]]
            if row >= 0:
                carry = 0
                for w in range(words):
                    same = places[row * words + w]
                    total = state[w] + (state[w] & same) + carry
                    carry = total >> _BITS
                    state[w] = (total & _FULL) | (state[w] & ~same)
        length = 0
        for j in range(width):
            if not (state[j // _BITS] >> (j % _BITS)) & 1:
                length += 1
        out[p] = length
        for j in range(r_low, r_high):
            row_of[r_tokens[j]] = -1


def longest_common(corpus: Corpus) -> NDArray[np.int64]:
    """Return the length of the longest common subsequence of every pair of candidate and reference."""
    candidate, reference = corpus.pairs
    c, r = corpus.candidates, corpus.references
    lengths = np.zeros(len(candidate), dtype=np.int64)
    row_of = np.full(max(len(c.vocabulary), len(r.vocabulary)), -1, dtype=np.int32)
    common_subsequences(
        c.tokens, c.token_offsets, r.tokens, r.token_offsets, candidate, reference, row_of, lengths
    )
    return lengths


class RougeL(Measure):
    """F-measure of longest common subsequences."""

    name = "ROUGE-L"
    summary = "longest common subsequence, F with beta 1.2 (Lin 2004)"
    fixed: Mapping[str, str] = {"beta": f"{BETA:g}"}

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        candidate, reference = corpus.pairs
        c, r = corpus.candidates, corpus.references
        common = longest_common(corpus)
        # The COCO tools split an empty caption into one empty word, so two empty captions share a word.
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
            values[has] = np.divide(
                (1 + BETA**2) * p * r_best, bottom, out=np.zeros_like(p), where=bottom > 0
            )
        return as_statistics(values)
