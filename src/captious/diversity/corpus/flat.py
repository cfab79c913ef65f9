"""Captions as runs of one integer array, and ways to pick some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.ragged import IntArray, offsets_of, runs
from captious.text import tokenizers
from captious.text.vocabulary import Vocabulary

FloatArray = NDArray[np.float64]


class Flat(NamedTuple):
    """Caption i is ``tokens[offsets[i]:offsets[i + 1]]``."""

    tokens: NDArray[np.int32]
    offsets: IntArray

    @classmethod
    def of(cls, texts: Sequence[str], tokenizer: str, vocabulary: Vocabulary) -> Flat:
        """Tokenise and encode; the texts themselves are not kept."""
        words, counts = tokenizers.get(tokenizer)(texts)
        return cls(vocabulary.encode(words), offsets_of(counts))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> IntArray:
        """Tokens per caption."""
        return np.diff(self.offsets)

    def take(self, rows: IntArray) -> Flat:
        """The captions of the given numbers, in that order."""
        positions, offsets = runs(self.offsets, rows)
        return Flat(self.tokens[positions], offsets)

    def counts(self, size: int) -> IntArray:
        """How often each word of a vocabulary of that size occurs."""
        return np.bincount(self.tokens, minlength=size)


def parallel_rows(image_offsets: IntArray) -> list[IntArray]:
    """References as N corpora of one description per image: the rows of the first, the second, … description.

    N is the smallest number of descriptions that an image has, so that every such corpus is of the same images.
    """
    per_image = np.diff(image_offsets)
    n = int(per_image.min()) if len(per_image) else 0
    return [image_offsets[:-1] + k for k in range(n)]
