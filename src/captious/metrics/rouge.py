"""ROUGE-L (Lin 2004) in the form of the COCO tools: maximum precision and recall over references, beta 1.2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.kernels import kernel
from captious.measures.base import FloatArray, Measure, as_statistics

BETA = 1.2


#: Words of so many bits leave room for the carry of an addition.
_BITS = 62
_FULL = (1 << 62) - 1


@kernel
def common_subsequences(c_tokens, c_offsets, r_tokens, r_offsets, candidate, reference, row_of, out):  # type: ignore[no-untyped-def]
    """Length of the longest common subsequence of each pair: a row of the usual table is a row of bits.

    A bit is set where the length does not grow (Hyyrö 2004); a row follows from the one above by an addition whose carries
    run along it, so that 62 cells take a few steps. ``row_of`` has -1 for every word, and has so again at the end; meanwhile it
    says which row of ``places`` has the places of the word in the reference as bits.
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
    """The longest common subsequence of every pair of candidate and reference."""
    candidate, reference = corpus.pairs
    c, r = corpus.candidates, corpus.references
    found = np.zeros(len(candidate), dtype=np.int64)
    ours, theirs = c.lengths[candidate], r.lengths[reference]
    work = float(np.sum(ours * (theirs // _BITS + 1) + 4 * theirs))
    row_of = np.full(max(len(c.vocabulary), len(r.vocabulary)), -1, dtype=np.int32)
    common_subsequences.pick(work)(c.tokens, c.token_offsets, r.tokens, r.token_offsets, candidate, reference, row_of, found)
    return found


class RougeL(Measure):
    """F-measure of longest common subsequences."""

    name = "ROUGE-L"
    summary = "longest common subsequence, F with beta 1.2 (Lin 2004)"
    fixed: Mapping[str, str] = {"beta": f"{BETA:g}"}

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        candidate, reference = corpus.pairs
        c, r = corpus.candidates, corpus.references
        common = longest_common(corpus)
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
