"""Which captions are new: not among the training captions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.diversity.corpus.flat import Flat
from captious.kernels import kernel

Hashes = NDArray[np.uint64]


@kernel
def _hash_rows(tokens, offsets, kept, multiplier, half, out):  # type: ignore[no-untyped-def]
    """A 64-bit hash of the kept tokens of each caption. ``half`` (32) and ``multiplier`` are typed scalars, so that
    the arithmetic stays unsigned."""
    for i in range(offsets.shape[0] - 1):
        value = multiplier
        for j in range(offsets[i], offsets[i + 1]):
            if kept[j]:
                value = (value ^ tokens[j]) * multiplier
                value = value ^ (value >> half)
        out[i] = value


def caption_hashes(flat: Flat, is_word: NDArray[np.bool_]) -> Hashes:
    """One number per caption, equal for captions of the same words: punctuation does not count, so "a dog." and
    "a dog ." are the same description. Two different captions among a million share one with probability 3 in 10⁸."""
    out = np.empty(len(flat), dtype=np.uint64)
    with np.errstate(over="ignore"):
        _hash_rows.pick(4 * len(flat.tokens))(
            flat.tokens.astype(np.uint64), flat.offsets, is_word[flat.tokens], np.uint64(0x9E3779B97F4A7C15), np.uint64(32), out
        )
    return out


def share_novel(captions: Hashes, training: Hashes) -> float:
    """Share of captions that are not among the training captions (``training`` is sorted)."""
    if not len(captions):
        return float("nan")
    if not len(training):
        return 1.0
    place = np.minimum(np.searchsorted(training, captions), len(training) - 1)
    return float((training[place] != captions).mean())
