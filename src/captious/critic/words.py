"""Captions as rows of word numbers, cut to a fixed length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError
from captious.ragged import IntArray
from captious.vectors import WordVectors

#: What fills short captions (and is all there is of an empty one), and what stands for a word outside the vocabulary.
FILLING, UNKNOWN = 0, 1
_FIRST = 2
#: The size of a number of a word vector, on average: that of GloVe.
_SPREAD = np.float32(0.4)


class Encoded(NamedTuple):
    """Captions × places, and how many of the places each caption fills (at least one)."""

    tokens: NDArray[np.int64]
    lengths: IntArray


@dataclass(frozen=True)
class Words:
    """The words a critic knows, commonest first, and how many of a caption's words it reads."""

    names: tuple[str, ...]
    longest: int = 15

    @classmethod
    def learn(cls, sentences: Iterable[str], size: int = 10_000, least: int = 5, longest: int = 15) -> Words:
        """The ``size`` commonest words that occur at least ``least`` times."""
        counts = Counter(word for sentence in sentences for word in sentence.split(" ") if word)
        kept = sorted((word for word, count in counts.items() if count >= least), key=lambda word: (-counts[word], word))[:size]
        if len(kept) < 2:
            raise InputError(
                f"{len(kept)} of {len(counts):,} words occur {least} times or more in the references that a critic learns from; "
                "give more images, or lower --least"
            )
        return cls(tuple(kept), longest)

    def __len__(self) -> int:
        return len(self.names) + _FIRST

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.names, _FIRST)}

    def encode(self, sentences: Sequence[str] | Sequence[Sequence[str]]) -> Encoded:
        """Captions (words joined by spaces, or lists of words) as numbers."""
        tokens = np.full((len(sentences), self.longest), FILLING, np.int64)
        lengths = np.ones(len(sentences), np.int64)
        numbers = self._numbers
        for i, sentence in enumerate(sentences):
            words = (sentence.split(" ") if isinstance(sentence, str) else sentence)[: self.longest] if sentence else []
            if words:
                tokens[i, : len(words)] = [numbers.get(word, UNKNOWN) for word in words]
                lengths[i] = len(words)
        return Encoded(tokens, lengths)

    def embeddings(self, vectors: WordVectors, seed: int) -> NDArray[np.float32]:
        """A row for each word number: the direction of its vector, or a random one where it has none; zeros for the filling.

        All are as long as vectors of GloVe are on average. Tables differ in the size of their numbers, and an LSTM hardly learns
        from small ones.
        """
        found, known = vectors.lookup(list(self.names))
        rows = np.random.default_rng([seed, 5]).normal(size=(len(self), vectors.dimension)).astype(np.float32)
        known &= found.any(axis=1)
        rows[_FIRST:][known] = found[known]
        rows *= _SPREAD * np.sqrt(vectors.dimension) / np.linalg.norm(rows, axis=1, keepdims=True)
        rows[FILLING] = 0
        return rows

    def to_json(self) -> dict[str, Any]:
        """For files."""
        return {"names": list(self.names), "longest": self.longest}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Words:
        """Back from :meth:`to_json`."""
        return cls(tuple(map(str, value["names"])), int(value["longest"]))
