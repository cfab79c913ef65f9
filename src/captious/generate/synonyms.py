"""Variation by synonyms: a system with one caption per image becomes one with many.

Wang & Chan (2019) put such a baseline on the plane of accuracy and diversity: every word is switched, with a given
probability, for one of the words nearest to it, so that p moves the system from accurate to diverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.errors import InputError
from captious.language import parses_of
from captious.progress import track

NEIGHBOURS = 10
#: The least cosine of a word with what it is switched for.
SIMILARITY = 0.5
#: Beginnings of the tags of words that are switched: nouns, verbs, adjectives, adverbs.
OPEN = ("NN", "VB", "JJ", "RB")
SAMPLES = 10
SEED = 12345


def synonym_switch(
    captions: Any,
    probability: float = 0.3,
    *,
    samples: int = SAMPLES,
    vectors: Any = None,
    neighbours: int = NEIGHBOURS,
    similarity: float = SIMILARITY,
    vocabulary: Any = None,
    keep: frozenset[str] = frozenset(),
    tokenizer: str = "ptb",
    seed: int = SEED,
) -> Any:
    """Make ``samples`` variations of each caption: each word is replaced, with ``probability``, by one of its nearest words.

    ``captions`` is a list of captions (→ a list of lists), a corpus or ``{image: caption}`` (→ ``{image: [captions]}``;
    if an image has several captions, they take turns).

    Replacements are the nearest words (at most ``neighbours``) that occur in captions (those in ``vocabulary``, a list of
    captions; by default the references of a corpus, else the captions themselves), are the same part of speech there, and
    have a cosine of at least ``similarity``. One of them is drawn in proportion to its cosine. Only nouns, verbs, adjectives
    and adverbs are replaced; words without a vector and those in ``keep`` stay. ``vectors`` is whatever :func:`captious.vectors.get` takes: a name, a file, ``{word: vector}``; see
    :func:`train_vectors` for vectors trained on your own captions. The same seed gives the same captions.
    """
    if not 0 <= probability <= 1:
        raise InputError(f"the probability of switching a word lies between 0 and 1, not {probability}")
    if samples < 1 or neighbours < 1:
        raise InputError(f"samples and neighbours are positive whole numbers, not {samples} and {neighbours}")
    if not 0 <= similarity <= 1:
        raise InputError(f"the least similarity lies between 0 and 1, not {similarity}")
    ids, encoded = _encoded(captions, tokenizer)
    known = _vocabulary(captions, vocabulary, encoded)
    table = _Neighbours(encoded, known, vectors, neighbours, similarity, keep)
    generator = np.random.default_rng(seed)
    varied: list[list[str]] = []
    for group in track(range(encoded.n_images), "switching words"):
        first, last = int(encoded.image_offsets[group]), int(encoded.image_offsets[group + 1])
        sources = [first + k % (last - first) for k in range(samples)] if last > first else []
        varied.append([_vary(encoded, i, probability, table, generator) for i in sources])
    return varied if ids is None else dict(zip(ids, varied))


def _vocabulary(captions: Any, given: Any, encoded: Captions) -> Captions:
    """The captions whose words may be put in."""
    if given is not None:
        if isinstance(given, Captions):
            return given
        return _encoded(given, encoded.tokenizer)[1]
    if isinstance(captions, Corpus) and captions.has_references:
        return captions.references
    return encoded


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


def word_tags(captions: Captions) -> dict[str, str]:
    """The commonest tag of each word in captions."""
    counts: dict[str, Counter[str]] = {}
    for parse in parses_of(captions):
        for sentence in parse:
            for form, tag in zip(sentence.forms, sentence.tags):
                counts.setdefault(form.lower(), Counter())[tag] += 1
    return {word: min(found, key=lambda tag: (-found[tag], tag)) for word, found in counts.items()}


class _Neighbours:
    """The words that may take the place of each word of the captions, with the chance of each; looked up when first needed."""

    def __init__(
        self, captions: Captions, known: Captions, vectors: Any, count: int, similarity: float, keep: frozenset[str]
    ) -> None:
        from captious.vectors import get

        self.vectors = get(vectors)
        self.words = captions.vocabulary.words
        self.count, self.similarity, self.keep = count, similarity, keep
        # Where the captions themselves are the vocabulary, or lack a word of it, they say what it is.
        own = word_tags(captions)
        listed = own if known is captions else word_tags(known)
        self.tags = {**own, **listed}
        offered = sorted(word for word, tag in listed.items() if tag.startswith(OPEN))
        rows, found = self.vectors.lookup(offered)
        self.offered = [word for word, there in zip(offered, found.tolist()) if there]
        self.tag_of = np.array([listed[word] for word in self.offered], dtype=object)
        self.rows = _unit(rows[found].astype(np.float64))
        self._found: dict[int, tuple[list[str], NDArray[np.float64]] | None] = {}

    def of(self, token: int) -> tuple[list[str], NDArray[np.float64]] | None:
        """Words and cumulative chances, or nothing for a word that stays."""
        if token not in self._found:
            self._found[token] = self._look_up(self.words[token])
        return self._found[token]

    def _look_up(self, word: str) -> tuple[list[str], NDArray[np.float64]] | None:
        tag = self.tags.get(word, "")
        if word in self.keep or not tag.startswith(OPEN) or not self.offered:
            return None
        row, found = self.vectors.lookup([word])
        if not found[0]:
            return None
        cosine = self.rows @ _unit(row.astype(np.float64))[0]
        fits = (self.tag_of == tag) & (cosine >= self.similarity) & (cosine > 0)
        places = [i for i in np.flatnonzero(fits).tolist() if self.offered[i] != word]
        places = sorted(places, key=lambda i: (-cosine[i], self.offered[i]))[: self.count]
        if not places:
            return None
        chances = cosine[places]
        return [self.offered[i] for i in places], np.cumsum(chances / chances.sum())


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = rows / np.where(length > 0, length, 1.0)
    return scaled


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
