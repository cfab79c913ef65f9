"""Pathological captions (Cui et al. 2018, section 3.3): another image's caption, permuted words, random
words.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import offsets_of, sums_of_rows

Words = list[str]


def changed_words(words: int, gamma: float) -> int:
    """Return the number of words that a transformation of strength γ (in percent) changes.

    At least two words change, or none at strength 0.
    """
    if not 0 <= gamma <= 100:
        raise InputError(f"strength {gamma} is not between 0 and 100 percent")
    if gamma == 0:
        return 0
    return min(words, max(2, math.floor(gamma * words / 100 + 0.5)))


def permute_words(words: Sequence[str], gamma: float, generator: np.random.Generator) -> Words:
    """Permute γ percent of the words (at least two) among themselves. Every chosen word moves.

    The result differs from the caption whenever the caption has two different words.
    """
    permuted = list(words)
    count = changed_words(len(words), gamma)
    if count < 2 or len(set(words)) < 2:
        return permuted
    for _ in range(20):
        positions = np.sort(generator.choice(len(words), size=count, replace=False))
        sources = _cycle(positions, generator)
        for position, source in zip(positions.tolist(), sources.tolist()):
            permuted[position] = words[source]
        if permuted != list(words):
            return permuted
    # Every draw permuted equal words: swap two different ones.
    first = 0
    second = next(k for k, word in enumerate(words) if word != words[0])
    permuted = list(words)
    permuted[first], permuted[second] = permuted[second], permuted[first]
    return permuted


def _cycle(positions: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Return a random cyclic permutation (Sattolo's algorithm), in which no element stays in place."""
    moved: NDArray[np.int64] = positions.copy()
    for last in range(len(moved) - 1, 0, -1):
        other = int(generator.integers(0, last))
        moved[last], moved[other] = moved[other], moved[last]
    return moved


def random_words(
    words: Sequence[str], gamma: float, vocabulary: Sequence[str], generator: np.random.Generator
) -> Words:
    """Replace γ percent of the words (at least two) by different random words of the vocabulary."""
    replaced = list(words)
    count = changed_words(len(words), gamma)
    if count == 0:
        return replaced
    if len(vocabulary) < 2:
        raise InputError("random words need a vocabulary of at least two words")
    for position in generator.choice(len(words), size=count, replace=False).tolist():
        word = vocabulary[int(generator.integers(0, len(vocabulary)))]
        while word == words[position]:
            word = vocabulary[int(generator.integers(0, len(vocabulary)))]
        replaced[position] = word
    return replaced


class Neighbours:
    """Nearest images by cosine distance of features, or of the tf-idf of their captions' words."""

    def __init__(self, features: NDArray[np.float64]) -> None:
        norms = np.linalg.norm(features, axis=1, keepdims=True)
        self._features = features / np.where(norms == 0, 1, norms)
        #: Distances from the most recent image, reused for its other strengths.
        self._last: tuple[int, NDArray[np.float64]] = (-1, np.zeros(0))

    @classmethod
    def by_captions(cls, images: Sequence[Sequence[Sequence[str]]]) -> Neighbours:
        """Build features from the tf-idf of an image's words.

        Large tables are reduced to 256 dimensions by a random projection with a fixed seed.
        """
        numbers: dict[str, int] = {}
        rows: list[dict[int, int]] = []
        for captions in images:
            counts: dict[int, int] = {}
            for words in captions:
                for word in words:
                    k = numbers.setdefault(word, len(numbers))
                    counts[k] = counts.get(k, 0) + 1
            rows.append(counts)
        offsets = offsets_of([len(row) for row in rows])
        word_ids = np.fromiter((k for row in rows for k in row), np.int64, int(offsets[-1]))
        term_counts = np.fromiter((v for row in rows for v in row.values()), np.float64, int(offsets[-1]))
        vocabulary = max(len(numbers), 1)
        tf_idf = term_counts * np.log(len(rows) / np.bincount(word_ids, minlength=vocabulary)[word_ids])
        if len(rows) * len(numbers) > 4_000_000:
            return cls(sums_of_rows(_random_directions(vocabulary), word_ids, offsets, tf_idf))
        features = np.zeros((len(rows), vocabulary))
        features[np.repeat(np.arange(len(rows)), np.diff(offsets)), word_ids] = tf_idf
        return cls(features)

    def draw(self, image: int, gamma: float, generator: np.random.Generator) -> int:
        """Draw one of the γ percent nearest other images (at least one). Strength 0 returns the image."""
        if not 0 <= gamma <= 100:
            raise InputError(f"strength {gamma} is not between 0 and 100 percent")
        others = len(self._features) - 1
        if gamma == 0:
            return image
        if others < 1:
            raise InputError("the transformation 'random caption' needs at least two images")
        nearest = max(1, math.ceil(gamma * others / 100))
        if self._last[0] != image:
            distances = -(self._features @ self._features[image])
            distances[image] = np.inf
            self._last = (image, distances)
        distances = self._last[1]
        rank = int(generator.integers(0, nearest))
        return int(np.argpartition(distances, rank)[rank])


def _random_directions(count: int) -> NDArray[np.float64]:
    return np.random.default_rng(0).standard_normal((count, 256)) / math.sqrt(256)


def read_features(path: str | Path) -> dict[str, NDArray[np.float64]]:
    """Read image id → vector from an ``.npz`` file with ``ids`` and ``features`` (one row per id)."""
    try:
        data = Path(path).read_bytes()
        # allow_pickle=False: no code from the file is executed.
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            ids, features = archive["ids"], np.asarray(archive["features"], dtype=np.float64)
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror or problem}") from None
    except Exception as problem:  # damaged archives raise many kinds of errors
        raise InputError(f"{path}: not an .npz file with 'ids' and 'features' ({problem})") from None
    if features.ndim != 2 or ids.ndim != 1 or len(ids) != len(features):
        raise InputError(
            f"{path}: {len(ids)} ids but features of shape {features.shape}; save one row of features per id"
        )
    if not np.all(np.isfinite(features)):
        raise InputError(f"{path}: the features contain NaN or infinite values; remove them")
    return {str(name): row for name, row in zip(ids.tolist(), features)}
