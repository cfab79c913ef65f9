"""ROUGE-L (Lin 2004) in the form of the COCO tools: maximum precision and recall over references, beta 1.2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.kernels import kernel
from captious.measures.base import FloatArray, Measure, as_statistics

BETA = 1.2


#: Pairs with more cells than this are compared 62 cells at a time.
LONG = 50_000
_BITS = 62
_FULL = (1 << 62) - 1


@kernel
def bit_rows(first, last, order, frequent, masks, width):  # type: ignore[no-untyped-def]
    """Length of the longest common subsequence of two long sequences: a row of the table is a row of bits.

    A bit is set where the length does not grow (Hyyrö 2004); a row follows from the one above by an addition whose carries
    run along it. Words of 62 bits leave room for the carry. Word i of one sequence is found in the other, of ``width``
    words, at ``order[first[i]:last[i]]``; frequent words have those places as bits already, in ``masks[frequent[i]]``.
    """
    words = width // _BITS + 1
    same = np.zeros(words, np.int64)
    state = np.full(words, _FULL, np.int64)
    for i in range(len(first)):
        low, high = first[i], last[i]
        if low == high:
            continue
        mask = same
        if frequent[i] >= 0:
            mask = masks[frequent[i]]
        else:
            for k in range(low, high):
                same[order[k] // _BITS] |= 1 << (order[k] % _BITS)
        carry = 0
        for w in range(order[low] // _BITS, words):  # nothing changes before the first occurrence
            total = state[w] + (state[w] & mask[w]) + carry
            carry = total >> _BITS
            state[w] = (total & _FULL) | (state[w] & ~mask[w])
        if frequent[i] < 0:
            for k in range(low, high):
                same[order[k] // _BITS] = 0
    length = 0
    for j in range(width):
        if not (state[j // _BITS] >> (j % _BITS)) & 1:
            length += 1
    return length


def long_common_subsequence(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    """Length of the longest common subsequence of two sequences, however long."""
    order = np.argsort(b, kind="stable")
    known = b[order]
    first, last = np.searchsorted(known, a, "left"), np.searchsorted(known, a, "right")
    words = len(b) // _BITS + 1
    # A word that fills more places than a row has words is set once; there are at most 62 of them.
    often = np.unique(known[first[last - first > words]]) if len(b) else known
    masks = np.zeros((len(often) + 1, words), np.int64)
    for row, token in enumerate(often):
        places = np.flatnonzero(b == token)
        np.bitwise_or.at(masks[row], places // _BITS, np.left_shift(1, places % _BITS))
    frequent = np.where(np.isin(a, often), np.searchsorted(often, a), -1)
    return int(bit_rows.pick(float(len(a)) * words)(first, last, order, frequent, masks, len(b)))


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
        common = np.zeros(len(candidate), dtype=np.int64)
        cells = c.lengths[candidate] * r.lengths[reference]
        short = np.flatnonzero(cells <= LONG)
        found = np.zeros(len(short), dtype=np.int64)
        longest = int(r.lengths[reference[short]].max(initial=0))
        common_subsequences.pick(float(cells[short].sum()))(
            c.tokens, c.token_offsets, r.tokens, r.token_offsets, candidate[short], reference[short],
            np.zeros(longest + 1, dtype=np.int64), found,
        )  # fmt: skip
        common[short] = found
        for p in np.flatnonzero(cells > LONG).tolist():
            here, there = c.token_offsets[candidate[p] :][:2], r.token_offsets[reference[p] :][:2]
            common[p] = long_common_subsequence(c.tokens[slice(*here)], r.tokens[slice(*there)])
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
