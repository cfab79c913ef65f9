"""ROUGE-L (Lin 2004) as in the COCO tools: maximum precision and recall over references, beta 1.2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.core.container import Grouped
from captious.corpus import Captions, Corpus
from captious.kernels import inner, kernel
from captious.kernels.types import Int32, Int64, Out
from captious.metrics.base import FloatArray, Measure, as_statistics, ratio
from captious.text.tokenizers import pieces

BETA = 1.2


#: Bits per word, which leave room for the carry of an addition.
_BITS = 62
_FULL = (1 << 62) - 1


@inner
def set_places(rows: Out[Int64], row: int, words: int, before: Int32, place: int) -> None:
    """Write the positions of a word, a chain that begins with its last one, as a row of bits."""
    for w in range(words):
        rows[row + w] = 0
    while place >= 0:
        rows[row + place // _BITS] |= 1 << (place % _BITS)
        place = int(before[place])


@kernel
def common_subsequences(
    c_tokens: Int32,
    c_offsets: Int64,
    r_tokens: Int32,
    r_offsets: Int64,
    candidate: Int64,
    reference: Int64,
    last_place: Out[Int32],
    out: Out[Int64],
) -> None:
    """Compute the length of the longest common subsequence of each pair, with table rows as rows of bits.

    A bit is set where the length does not grow (Hyyrö 2004). A row follows from the previous one by an
    addition whose carries run along it, so 62 cells take a few steps. ``last_place`` is −1 for every word
    before and after the call. In between it is the last position of the word in the reference, from which a
    chain leads to the earlier ones. The positions of a frequent word are also stored as a row of bits. There
    are fewer than 62 such words, so memory is linear in the length of a reference.
    """
    before, count, row_of = np.zeros(64, np.int32), np.zeros(64, np.int32), np.zeros(64, np.int32)
    state, rows = np.zeros(2, np.int64), np.zeros(2 * _BITS, np.int64)
    for p in range(candidate.shape[0]):
        c_low, c_high = c_offsets[candidate[p]], c_offsets[candidate[p] + 1]
        r_low, r_high = r_offsets[reference[p]], r_offsets[reference[p] + 1]
        width = r_high - r_low
        words = (width + _BITS - 1) // _BITS
        if width > before.shape[0]:
            size = 2 * width
            before, count, row_of = (
                np.zeros(size, np.int32),
                np.zeros(size, np.int32),
                np.zeros(size, np.int32),
            )
            state, rows = np.zeros(2 * words, np.int64), np.zeros(2 * words * _BITS, np.int64)
        for j in range(width):
            place = int(last_place[r_tokens[r_low + j]])
            before[j] = place
            count[j] = 1 if place < 0 else count[place] + 1
            last_place[r_tokens[r_low + j]] = j
        # Row 0 is for the other words.
        frequent = 0
        for j in range(width):
            row_of[j] = 0
            if count[j] > words and last_place[r_tokens[r_low + j]] == j:
                frequent += 1
                row_of[j] = frequent
                set_places(rows, frequent * words, words, before, j)
        for w in range(words):
            state[w] = _FULL
        for i in range(c_low, c_high):
            place = int(last_place[c_tokens[i]])
            if place < 0:
                continue
            row = int(row_of[place]) * words
            if row == 0:
                set_places(rows, 0, words, before, place)
            carry = 0
            for w in range(words):
                same = rows[row + w]
                total = state[w] + (state[w] & same) + carry
                carry = total >> _BITS
                state[w] = (total & _FULL) | (state[w] & ~same)
        length = 0
        for j in range(width):
            if not (state[j // _BITS] >> (j % _BITS)) & 1:
                length += 1
        out[p] = length
        for j in range(r_low, r_high):
            last_place[r_tokens[j]] = -1


def longest_common(corpus: Corpus) -> NDArray[np.int64]:
    """Return the length of the longest common subsequence of every pair of candidate and reference."""
    candidate, reference = corpus.pairs
    c, r = corpus.candidates, corpus.references
    lengths = np.zeros(len(candidate), dtype=np.int64)
    last_place = np.full(max(len(c.vocabulary), len(r.vocabulary)), -1, dtype=np.int32)
    common_subsequences(
        c.tokens, c.token_offsets, r.tokens, r.token_offsets, candidate, reference, last_place, lengths
    )
    return lengths


def split_at_single_spaces(corpus: Corpus) -> Corpus:
    """Return a corpus whose captions are split at every single space, as ROUGE-L of the COCO tools does."""

    def split(captions: Captions, over: Captions | None = None) -> Captions:
        groups = Grouped([pieces(text) for text in captions.texts], captions.image_offsets)
        return Captions.of(groups, "none", ids=captions.ids, over=over)

    references = corpus.references.cached("split at single spaces", lambda: split(corpus.references))
    return Corpus(split(corpus.candidates, references), references, name=corpus.name, images=corpus.images)


class RougeL(Measure):
    """F-measure of longest common subsequences."""

    name = "ROUGE-L"
    summary = "longest common subsequence, F with beta 1.2 (Lin 2004)"
    fixed: Mapping[str, str] = {"beta": f"{BETA:g}"}

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        if corpus.tokenizer == "raw":
            corpus = split_at_single_spaces(corpus)
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
            values[has] = ratio((1 + BETA**2) * p * r_best, bottom)
        return as_statistics(values)
