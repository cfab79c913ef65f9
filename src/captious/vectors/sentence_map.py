"""Map of sentence vectors that brings captions of one image nearer to each other.

``python -m tools.make_sentence_map`` learned it for all-MiniLM-L6-v2 from people's captions, without any
judgement. Vectors of other encoders stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.core import digests
from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.vectors.bert import scale_rows
from captious.vectors.caption_vectors import read_arrays
from captious.vectors.sentence_vectors import SentenceEncoder

Floats = NDArray[np.float32]

FILE = Path(__file__).parent / "sentence_map.npz"

#: Rows multiplied at a time, few enough for the processor's cache.
_PORTION = 1 << 10
#: Every such row of the encoder's word embeddings tells which encoder it is.
_STEP = 64


@dataclass(frozen=True)
class SentenceMap:
    """The identity plus a product of two thin matrices."""

    left: Floats
    right: Floats
    #: Digest of the encoder it was learned for (:func:`fingerprint`).
    encoder: str

    @property
    def label(self) -> str:
        """Dimension and rank, for signatures."""
        return f"{self.left.shape[0]}r{self.left.shape[1]}"

    @cached_property
    def digest(self) -> str:
        """Digest of both matrices."""
        return digests.of_arrays(self.left, self.right)

    def apply(self, vectors: Floats) -> Floats:
        """Return the mapped vectors, scaled to length one."""
        mapped = np.empty_like(vectors)
        for start in range(0, len(vectors), _PORTION):
            portion = vectors[start : start + _PORTION]
            rows = np.asarray(portion + (portion @ self.left) @ self.right, np.float32)
            scale_rows(rows)
            mapped[start : start + _PORTION] = rows
        return mapped


def fingerprint(encoder: SentenceEncoder) -> str:
    """Return a digest of the encoder's word embeddings, which does not depend on its tokenizer's settings."""
    return digests.of_arrays(np.ascontiguousarray(encoder.bert.words[::_STEP]))


@lru_cache(maxsize=1)
def load() -> SentenceMap:
    """Load the map that ships."""
    arrays = read_arrays(FILE, "the map of sentence vectors")
    try:
        left, right = (np.asarray(arrays[name], np.float32) for name in ("left", "right"))
        if left.ndim != 2 or left.shape != right.shape[::-1]:
            raise ValueError(f"shapes {left.shape} and {right.shape}")
        return SentenceMap(left, right, str(arrays["encoder"].item()))
    except (ValueError, KeyError) as error:
        raise InputError(
            f"cannot read the map of sentence vectors {FILE} ({error}); reinstall captious"
        ) from error


def map_of(encoder: SentenceEncoder) -> SentenceMap | None:
    """Return the map of this encoder, None for an encoder that it was not learned for."""
    shipped = load()
    return shipped if shipped.encoder == fingerprint(encoder) else None
