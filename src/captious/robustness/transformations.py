"""Pathological captions (Cui et al. 2018, section 3.3): another image's caption, permuted words, random words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError

Words = list[str]


def changed_words(words: int, gamma: float) -> int:
    """How many of a caption's words a transformation of strength γ (in per cent) touches: that share, but at least two; none
    at 0."""
    if not 0 <= gamma <= 100:
        raise InputError(f"the strength of a transformation lies between 0 and 100 per cent, not {gamma}")
    if gamma == 0:
        return 0
    return min(words, max(2, math.floor(gamma * words / 100 + 0.5)))


def permute_words(words: Sequence[str], gamma: float, generator: np.random.Generator) -> Words:
    """Move γ per cent of the words, at least two, to each other's places; every chosen word leaves its place.

    The result differs from the caption whenever the caption has two different words.
    """
    found = list(words)
    count = changed_words(len(words), gamma)
    if count < 2 or len(set(words)) < 2:
        return found
    for _ in range(20):
        places = np.sort(generator.choice(len(words), size=count, replace=False))
        moved = _cycle(places, generator)
        for place, source in zip(places.tolist(), moved.tolist()):
            found[place] = words[source]
        if found != list(words):
            return found
    # All draws met equal words: exchange two that differ.
    first = 0
    second = next(k for k, word in enumerate(words) if word != words[0])
    found = list(words)
    found[first], found[second] = found[second], found[first]
    return found


def _cycle(places: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """A random permutation in one cycle (Sattolo's): nothing stays where it was."""
    moved: NDArray[np.int64] = places.copy()
    for last in range(len(moved) - 1, 0, -1):
        other = int(generator.integers(0, last))
        moved[last], moved[other] = moved[other], moved[last]
    return moved


def random_words(words: Sequence[str], gamma: float, vocabulary: Sequence[str], generator: np.random.Generator) -> Words:
    """Replace γ per cent of the words, at least two, by random words of the vocabulary, each by a different one."""
    found = list(words)
    count = changed_words(len(words), gamma)
    if count == 0:
        return found
    if len(vocabulary) < 2:
        raise InputError("random words need a vocabulary of at least two words")
    for place in generator.choice(len(words), size=count, replace=False).tolist():
        word = vocabulary[int(generator.integers(0, len(vocabulary)))]
        while word == words[place]:
            word = vocabulary[int(generator.integers(0, len(vocabulary)))]
        found[place] = word
    return found


class Neighbours:
    """Images by distance: the cosine of features, or of the tf-idf of the words of their captions."""

    def __init__(self, features: NDArray[np.float64]) -> None:
        norms = np.linalg.norm(features, axis=1, keepdims=True)
        self._features = features / np.where(norms == 0, 1, norms)
        #: The image asked for last, and how far the others are: all strengths ask for one image in turn.
        self._last: tuple[int, NDArray[np.float64]] = (-1, np.zeros(0))

    @classmethod
    def by_captions(cls, images: Sequence[Sequence[Sequence[str]]]) -> Neighbours:
        """Distance by captions: tf-idf of an image's words, reduced to 256 dimensions by a random projection of fixed seed
        where there are more words than that."""
        numbers: dict[str, int] = {}
        rows: list[dict[int, int]] = []
        for captions in images:
            counts: dict[int, int] = {}
            for words in captions:
                for word in words:
                    k = numbers.setdefault(word, len(numbers))
                    counts[k] = counts.get(k, 0) + 1
            rows.append(counts)
        from scipy.sparse import csr_matrix

        places = np.cumsum([0, *map(len, rows)])
        columns = np.fromiter((k for row in rows for k in row), np.int64, int(places[-1]))
        values = np.fromiter((v for row in rows for v in row.values()), np.float64, int(places[-1]))
        known = np.bincount(columns, minlength=max(len(numbers), 1))
        matrix = csr_matrix((values * np.log(len(rows) / known[columns]), columns, places), shape=(len(rows), max(len(numbers), 1)))
        return cls(np.asarray(matrix.toarray()) if len(rows) * len(numbers) <= 4_000_000 else _project(matrix))

    def draw(self, image: int, gamma: float, generator: np.random.Generator) -> int:
        """One of the γ per cent nearest other images, at least one, at random; the image itself at 0."""
        if not 0 <= gamma <= 100:
            raise InputError(f"the strength of a transformation lies between 0 and 100 per cent, not {gamma}")
        others = len(self._features) - 1
        if gamma == 0:
            return image
        if others < 1:
            raise InputError("another image's caption needs at least two images")
        nearest = max(1, math.ceil(gamma * others / 100))
        if self._last[0] != image:
            apart = -(self._features @ self._features[image])
            apart[image] = np.inf
            self._last = (image, apart)
        apart = self._last[1]
        rank = int(generator.integers(0, nearest))
        return int(np.argpartition(apart, rank)[rank])


def _project(matrix: object, dimensions: int = 256) -> NDArray[np.float64]:
    generator = np.random.default_rng(0)
    directions = generator.standard_normal((matrix.shape[1], dimensions)) / math.sqrt(dimensions)  # type: ignore[attr-defined]
    projected: NDArray[np.float64] = np.asarray(matrix @ directions)  # type: ignore[operator]
    return projected
