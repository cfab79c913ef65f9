"""Distilled vectors of captions, computed once for all measures that use them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import runs, sums_of_rows
from captious.corpus import Captions
from captious.metrics.captions.vocabulary_vectors import vocabulary_vectors
from captious.vectors.caption_vectors import CaptionVectors

#: Captions processed at a time, few enough for the processor's cache.
_PORTION = 1 << 11


def distilled_vectors(captions: Captions, vectors: CaptionVectors) -> NDArray[np.float32]:
    """Return the unit vector of each caption, zeros if no word has a vector. Equal captions share one."""
    return captions.cached(("distilled vectors", vectors.digest), lambda: _distilled(captions, vectors))


def _distilled(captions: Captions, vectors: CaptionVectors) -> NDArray[np.float32]:
    words = vectors.words
    table, _ = vocabulary_vectors(captions.encoding, words)
    row_of = captions.encoding.per_word(("rows", words.digest), words.rows_of)
    first, inverse = captions.unique
    positions, offsets = runs(captions.token_offsets, first)
    tokens = captions.tokens[positions]
    rows = row_of[tokens]
    pairs = np.full(len(tokens), -1, np.int64)
    pairs[:-1] = vectors.find_pairs(rows[:-1], rows[1:])
    # The last word of a caption has no neighbour.
    pairs[offsets[1:][np.diff(offsets) > 0] - 1] = -1
    is_pair = pairs >= 0
    pairs_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_pair)])[offsets]
    pairs = pairs[is_pair]
    units = np.empty((len(first), table.shape[1]), np.float32)
    for low in range(0, len(first), _PORTION):
        part = slice(low, low + _PORTION + 1)
        sums = sums_of_rows(table, tokens, offsets[part])
        sums += sums_of_rows(vectors.pair_rows, pairs, pairs_before[part])
        norms = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        units[low : low + _PORTION] = sums / np.maximum(norms, np.float32(1e-12))[:, None]
    return units[inverse]
