"""Variation by synonyms: a system with one caption per image becomes one with many.

Wang & Chan (2019) put such a baseline on the plane of accuracy and diversity: every word is switched, with a given
probability, for one of the words nearest to it, so that p moves the system from accurate to diverse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.errors import InputError
from captious.progress import track

NEIGHBOURS = 10
SAMPLES = 10
SEED = 12345


def synonym_switch(
    captions: Any,
    probability: float = 0.3,
    *,
    samples: int = SAMPLES,
    vectors: Any = None,
    neighbours: int = NEIGHBOURS,
    keep: frozenset[str] = frozenset(),
    tokenizer: str = "ptb",
    seed: int = SEED,
) -> Any:
    """``samples`` variations of each caption, each word switched with ``probability`` for one of its nearest words.

    ``captions`` is a list of captions (→ a list of lists), a corpus or ``{image: caption}`` (→ ``{image: [captions]}``;
    where an image has several captions they are varied in turn). The neighbour is drawn with a chance in proportion to
    its similarity, neighbours of no positive similarity never. Words without a vector, and those in ``keep``, stay.
    ``vectors`` is whatever :func:`captious.vectors.get` takes: a name, a file, ``{word: vector}``; see
    :func:`train_vectors` for vectors from one's own captions. The same seed gives the same captions.
    """
    if not 0 <= probability <= 1:
        raise InputError(f"the probability of switching a word lies between 0 and 1, not {probability}")
    if samples < 1 or neighbours < 1:
        raise InputError(f"samples and neighbours are positive whole numbers, not {samples} and {neighbours}")
    ids, encoded = _encoded(captions, tokenizer)
    table = _Neighbours(encoded, vectors, neighbours, keep)
    generator = np.random.default_rng(seed)
    varied: list[list[str]] = []
    for group in track(range(encoded.n_images), "switching words"):
        first, last = int(encoded.image_offsets[group]), int(encoded.image_offsets[group + 1])
        sources = [first + k % (last - first) for k in range(samples)] if last > first else []
        varied.append([_vary(encoded, i, probability, table, generator) for i in sources])
    return varied if ids is None else dict(zip(ids, varied))


def _encoded(captions: Any, tokenizer: str) -> tuple[list[str] | None, Captions]:
    if isinstance(captions, Corpus):
        return list(captions.ids), captions.candidates
    if isinstance(captions, Mapping):
        from captious.io import read

        file = read(captions, "predictions", several=True)
        return file.ids, Captions.of(file.captions, tokenizer)
    if isinstance(captions, str) or not all(isinstance(caption, str) for caption in captions):
        raise InputError("captions are a list of texts, {image: caption}, or a corpus")
    return None, Captions.of([[caption] for caption in captions], tokenizer)


class _Neighbours:
    """The nearest words of each word of the captions, with the chance of each; looked up when first needed."""

    def __init__(self, captions: Captions, vectors: Any, count: int, keep: frozenset[str]) -> None:
        from captious.vectors import get

        self.vectors = get(vectors)
        self.words = captions.vocabulary.words
        self.count = count
        self.keep = keep
        self._found: dict[int, tuple[list[str], NDArray[np.float64]] | None] = {}

    def of(self, token: int) -> tuple[list[str], NDArray[np.float64]] | None:
        """Words and cumulative chances, or nothing for a word that stays."""
        if token not in self._found:
            self._found[token] = self._look_up(self.words[token])
        return self._found[token]

    def _look_up(self, word: str) -> tuple[list[str], NDArray[np.float64]] | None:
        if word in self.keep:
            return None
        near = [(other, cosine) for other, cosine in self.vectors.nearest(word, self.count) if cosine > 0 and other != word]
        if not near:
            return None
        chances = np.array([cosine for _, cosine in near], dtype=np.float64)
        return [other for other, _ in near], np.cumsum(chances / chances.sum())


def _vary(captions: Captions, i: int, probability: float, table: _Neighbours, generator: np.random.Generator) -> str:
    tokens = captions.tokens[captions.token_offsets[i] : captions.token_offsets[i + 1]].tolist()
    # Two draws for each word, used or not: the words of a caption do not depend on which others have vectors.
    draws = generator.random((len(tokens), 2)).tolist()
    out = []
    for token, (switch, which) in zip(tokens, draws):
        near = table.of(token) if switch < probability else None
        if near is None:
            out.append(table.words[token])
        else:
            words, cumulative = near
            out.append(words[min(int(np.searchsorted(cumulative, which, side="right")), len(words) - 1)])
    return " ".join(out)
