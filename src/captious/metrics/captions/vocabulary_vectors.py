"""Word vectors of a vocabulary, its content words, and a warning about unknown words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.corpus.encoding import Encoding
from captious.io import CaptionWarning
from captious.text.stopwords import ENGLISH
from captious.vectors import WordVectors

Table = tuple[NDArray[np.float32], NDArray[np.bool_]]

#: Share of unknown content words that triggers a warning.
MANY = 0.05


def vocabulary_vectors(encoding: Encoding, vectors: WordVectors) -> Table:
    """Return a row for each word of the vocabulary, and which words have one. Each word is looked up once."""

    def make() -> Table:
        if encoding.base is None:
            return vectors.lookup(encoding.vocabulary.words)
        below = vocabulary_vectors(encoding.base, vectors)
        if not encoding.vocabulary.new:
            return below
        own = vectors.lookup(encoding.vocabulary.new)
        return np.concatenate([below[0], own[0]]), np.concatenate([below[1], own[1]])

    return encoding.memo.get(("word vectors", vectors), make)


def content_words(encoding: Encoding) -> NDArray[np.bool_]:
    """Return which words of the vocabulary are content words."""
    return encoding.per_word("content", content_mask)


def content_mask(words: Sequence[str]) -> NDArray[np.bool_]:
    """Return which words are not stop words."""
    return np.fromiter((word not in ENGLISH for word in words), np.bool_, len(words))


class KnownWords(NamedTuple):
    """Number of content words of captions, and of those without a vector (which are left out)."""

    content: int
    unknown: int
    examples: tuple[str, ...]


def coverage(captions: Captions, vectors: WordVectors) -> KnownWords:
    """Count the content words of captions that a table lacks."""
    words = captions.encoding.words
    _, has_vector = vocabulary_vectors(captions.encoding, vectors)
    counts = np.bincount(captions.tokens, minlength=len(words)) * content_words(captions.encoding)
    missing = np.where(has_vector, 0, counts)
    order = np.argsort(-missing, kind="stable")[:3]
    return KnownWords(
        int(counts.sum()), int(missing.sum()), tuple(str(words[i]) for i in order if missing[i])
    )


def warn_of_unknown(corpus: Corpus, vectors: WordVectors, metric: str) -> None:
    """Warn when a noticeable share of the candidates' content words has no vector."""
    words = corpus.candidates.cached(("coverage", vectors), lambda: coverage(corpus.candidates, vectors))
    if words.unknown > MANY * words.content:
        warnings.warn(
            CaptionWarning(
                f"{corpus.name}: {words.unknown:,} of {words.content:,} content words have no vector in "
                f"{vectors.name} "
                f"and are left out of {metric} (such as {', '.join(map(repr, words.examples))})"
            ),
            stacklevel=4,
        )
