"""Captions as rows of word indices, truncated to a fixed length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.core.ragged import IntArray
from captious.vectors import WordVectors

#: Indices of the padding and of unknown words.
FILLING, UNKNOWN = 0, 1
_FIRST = 2
#: Root mean square of the components of GloVe vectors.
_SPREAD = np.float32(0.4)


class EncodedTexts(NamedTuple):
    """Word indices (captions × positions), and the length of each caption (at least 1)."""

    tokens: NDArray[np.int64]
    lengths: IntArray


@dataclass(frozen=True)
class CriticVocabulary:
    """Words known to a critic, the most frequent first, and the number of words it reads."""

    names: tuple[str, ...]
    longest: int = 15

    @classmethod
    def learn(
        cls, sentences: Iterable[str], size: int = 10_000, least: int = 5, longest: int = 15
    ) -> CriticVocabulary:
        """Collect the ``size`` most frequent words that occur at least ``least`` times."""
        counts = Counter(word for sentence in sentences for word in sentence.split(" ") if word)
        frequent = sorted(
            (word for word, count in counts.items() if count >= least), key=lambda word: (-counts[word], word)
        )[:size]
        if len(frequent) < 2:
            raise InputError(
                f"only {len(frequent)} of {len(counts):,} words occur at least {least} times in the "
                "references of the "
                "training images; use more images, or lower --least"
            )
        return cls(tuple(frequent), longest)

    def __len__(self) -> int:
        return len(self.names) + _FIRST

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.names, _FIRST)}

    def encode(self, sentences: Sequence[str] | Sequence[Sequence[str]]) -> EncodedTexts:
        """Encode captions (words joined by spaces, or lists of words)."""
        tokens = np.full((len(sentences), self.longest), FILLING, np.int64)
        lengths = np.ones(len(sentences), np.int64)
        numbers = self._numbers
        for i, sentence in enumerate(sentences):
            words = (
                (sentence.split(" ") if isinstance(sentence, str) else sentence)[: self.longest]
                if sentence
                else []
            )
            if words:
                tokens[i, : len(words)] = [numbers.get(word, UNKNOWN) for word in words]
                lengths[i] = len(words)
        return EncodedTexts(tokens, lengths)

    def embeddings(self, vectors: WordVectors, seed: int) -> NDArray[np.float32]:
        """Return the initial embedding of each word: its vector, a random one, or zeros for padding.

        All rows are scaled to the average length of GloVe vectors. Tables differ in scale, and an LSTM hardly
        learns from small values.
        """
        word_vectors, has_vector = vectors.lookup(list(self.names))
        rows = np.random.default_rng([seed, 5]).normal(size=(len(self), vectors.dimension)).astype(np.float32)
        has_vector &= word_vectors.any(axis=1)
        rows[_FIRST:][has_vector] = word_vectors[has_vector]
        rows *= _SPREAD * np.sqrt(vectors.dimension) / np.linalg.norm(rows, axis=1, keepdims=True)
        rows[FILLING] = 0
        return rows

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {"names": list(self.names), "longest": self.longest}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> CriticVocabulary:
        """Rebuild from :meth:`to_json`."""
        return cls(tuple(map(str, value["names"])), int(value["longest"]))
