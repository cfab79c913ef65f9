"""Soft matching of tuples and facts: words that are equal, synonyms or near each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.metrics.base import FloatArray
from captious.text.stopwords import ENGLISH
from captious.text.synonyms import Synonyms
from captious.vectors.caption_vectors import SubwordVectors


class PhraseTable:
    """Unit vectors and synsets of phrases, looked up once. A phrase is one or several words."""

    def __init__(self, phrases: Iterable[str], vectors: SubwordVectors, synonyms: Synonyms) -> None:
        self.phrases = sorted(set(phrases))
        self.numbers = {phrase: number for number, phrase in enumerate(self.phrases)}
        parts = [phrase.split() for phrase in self.phrases]
        listed = sorted({word for words in parts for word in words})
        place = {word: k for k, word in enumerate(listed)}
        rows = vectors.lookup(listed)[0]
        self.units = np.zeros((len(self.phrases), vectors.dimension), np.float32)
        for number, words in enumerate(parts):
            # "lie on" means what "lie" does.
            content = [word for word in words if word not in ENGLISH] or words
            self.units[number] = rows[[place[word] for word in content]].sum(axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->i", self.units, self.units))
        self.units /= np.maximum(lengths, np.float32(1e-12))[:, None]
        synsets = synonyms.synset_sets([phrase if " " not in phrase else "" for phrase in self.phrases])
        #: Phrases with a common key have the same meaning.
        self._keys = list(map(_keys, self.phrases, parts, synsets))

    def cosines(self, ours: Sequence[int], theirs: Sequence[int]) -> FloatArray:
        """Return the cosines of phrases, 0 for negative ones."""
        table: NDArray[np.float64] = np.clip(
            self.units[list(ours)] @ self.units[list(theirs)].T, 0.0, 1.0
        ).astype(np.float64)
        return table

    def similarities(self, ours: Sequence[int], theirs: Sequence[int], *, cosines: bool = True) -> FloatArray:
        """Return the similarity of phrases: 1 for equal ones, synonyms and parts, else the cosine (or 0)."""
        table = self.cosines(ours, theirs) if cosines else np.zeros((len(ours), len(theirs)))
        by_key: dict[object, list[int]] = {}
        for j, number in enumerate(theirs):
            for key in self._keys[number]:
                by_key.setdefault(key, []).append(j)
        for i, number in enumerate(ours):
            for key in self._keys[number]:
                for j in by_key.get(key, ()):
                    table[i, j] = 1.0
        return table


def _keys(phrase: str, words: Sequence[str], synsets: frozenset[int]) -> tuple[object, ...]:
    """Return the phrase, its synsets, and the main word of several."""
    main_word = () if len(words) < 2 else (words[0 if words[-1] in ENGLISH else -1],)
    return (phrase, *synsets, *main_word)
