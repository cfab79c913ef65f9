"""Caption variation by synonyms: a system with one caption per image becomes one with many.

In this baseline of Wang & Chan (2019), every word is switched with probability p for one of its nearest
words, so p moves the system from accurate to diverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, MissingExtraError
from captious.core.progress import track
from captious.corpus import Captions, Corpus
from captious.parser import parses_of
from captious.vectors.vector_table import WordVectors

NEIGHBOURS = 10
#: Minimum cosine between a word and its replacement (0: none, as published).
SIMILARITY = 0.0
#: Probability of a switch, from the second caption of a set to the last.
SWITCH = (0.1, 0.5)
#: With ``same_tags``, prefixes of the tags of replaceable words: nouns, verbs, adjectives, adverbs.
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
    same_tags: bool = False,
    vocabulary: Any = None,
    keep: frozenset[str] = frozenset(),
    tokenizer: str = "ptb",
    seed: int = SEED,
) -> Any:
    """Write variations of captions by replacing words with similar ones.

    Parameters
    ----------
    captions
        A list of captions, a corpus, or ``{image: caption}``. If an image has several captions, they take
        turns.
    probability
        Probability of replacing a word.
    samples
        Number of variations per caption (or image).
    vectors
        Word vectors: a name, a file, or ``{word: vector}``, as for `captious.vectors.get`. See
        `train_vectors` for vectors trained on your own captions.
    neighbours, similarity
        Replacements are at most this many nearest words with at least this cosine, above 0. One is drawn in
        proportion to its cosine.
    same_tags
        Replace only nouns, verbs, adjectives and adverbs, and only by words that are the same part of speech
        in the vocabulary. Otherwise, as published, any word that has a vector is replaced by any other.
    vocabulary
        Captions whose words can be replacements. Default: the references of a corpus, else the captions
        themselves.
    keep
        Words that are never replaced.
    tokenizer
        Name of the tokenizer.
    seed
        Random seed. The same seed gives the same captions.

    Returns
    -------
    list of lists, or dict
        Variations of each caption: a list of lists for a list of captions, else ``{image: [captions]}``.

    Examples
    --------
    >>> vectors = {"dog": [1.0, 0.0], "puppy": [0.9, 0.1]}
    >>> synonym_switch(["a dog runs"], 1.0, samples=1, vectors=vectors, vocabulary=["a puppy runs"])
    [['a puppy runs']]
    """
    if not 0 <= probability <= 1:
        raise InputError(f"the probability of switching a word must be between 0 and 1, not {probability}")
    if samples < 1 or neighbours < 1:
        raise InputError(f"samples and neighbours must be positive integers, not {samples} and {neighbours}")
    if not 0 <= similarity <= 1:
        raise InputError(f"the similarity must be between 0 and 1, not {similarity}")
    ids, encoded = _encoded(captions, tokenizer)
    replacement_captions = _vocabulary(captions, vocabulary, encoded)
    table = _Neighbours(encoded, replacement_captions, vectors, neighbours, similarity, same_tags, keep)
    generator = np.random.default_rng(seed)
    varied: list[list[str]] = []
    for group in track(range(encoded.n_images), "switching words"):
        first, last = int(encoded.image_offsets[group]), int(encoded.image_offsets[group + 1])
        sources = [first + k % (last - first) for k in range(samples)] if last > first else []
        varied.append([_vary(encoded, i, probability, table, generator) for i in sources])
    return varied if ids is None else dict(zip(ids, varied))


def synonym_sets(
    captions: Any,
    *,
    m: int = SAMPLES,
    switch: tuple[float, float] = SWITCH,
    training: Any = None,
    vectors: Any = None,
    vocabulary: Any = None,
    tokenizer: str = "ptb",
    seed: int = SEED,
    **options: Any,
) -> dict[str, list[str]]:
    """Return each caption followed by variations of it, with more and more words switched.

    This is the generator SS of Wang & Chan (2019): nine variations with p from 0.1 to 0.5, and word2vec
    trained on the captions that the captioner was trained on.

    Parameters
    ----------
    captions
        ``{image: caption}``, or a file of captions with one caption per image.
    m
        Captions per image, the original one included.
    switch
        Probability of replacing a word, in the second caption and in the last.
    training
        Captions (texts, or a file) that vectors are trained on and whose words are the replacements.
    vectors, vocabulary, tokenizer, seed, options
        As for :func:`synonym_switch`; vectors and vocabulary replace those of ``training``.

    Examples
    --------
    >>> vectors = {"dog": [1.0, 0.0], "puppy": [0.9, 0.1]}
    >>> synonym_sets({1: "a dog runs"}, m=2, switch=(1.0, 1.0), vectors=vectors, vocabulary=["a puppy runs"])
    {'1': ['a dog runs', 'a puppy runs']}
    """
    from captious.io import read

    if m < 1:
        raise InputError(f"the number of captions per image must be at least 1, not {m}")
    file = read(captions, "predictions")
    first = {image: texts[0] for image, texts in zip(file.ids, file.captions)}
    if training is not None:
        texts = _texts(training)
        vectors = train_vectors(texts, tokenizer=tokenizer) if vectors is None else vectors
        vocabulary = texts if vocabulary is None else vocabulary
    if vocabulary is not None and not isinstance(vocabulary, Captions):
        vocabulary = Captions.of([_texts(vocabulary)], tokenizer)
    encoded = Captions.of([[text] for text in first.values()], tokenizer)
    sets = [[sentence] for sentence in encoded.sentences]
    for k, chance in enumerate(np.linspace(*switch, m - 1)):
        varied = synonym_switch(
            first, float(chance), samples=1, vectors=vectors, vocabulary=vocabulary, tokenizer=tokenizer,
            seed=seed + k, **options,
        )  # fmt: skip
        for own, variations in zip(sets, varied.values()):
            own.extend(variations)
    return dict(zip(first, sets))


def _vocabulary(captions: Any, vocabulary: Any, encoded: Captions) -> Captions:
    """Return the captions whose words can be replacements."""
    if vocabulary is not None:
        if isinstance(vocabulary, Captions):
            return vocabulary
        return _encoded(vocabulary, encoded.tokenizer)[1]
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
        raise InputError("captions must be a list of texts, {image: caption}, or a corpus")
    return None, Captions.of([[caption] for caption in captions], tokenizer)


def word_tags(captions: Captions) -> dict[str, str]:
    """Return the most frequent tag of each word in captions."""
    counts: dict[str, Counter[str]] = {}
    for parse in parses_of(captions):
        for sentence in parse:
            for form, tag in zip(sentence.forms, sentence.tags):
                counts.setdefault(form.lower(), Counter())[tag] += 1
    return {
        word: min(tag_counts, key=lambda tag: (-tag_counts[tag], tag)) for word, tag_counts in counts.items()
    }


class _Neighbours:
    """Replacement words of each word with their probabilities, computed on first use."""

    def __init__(
        self,
        captions: Captions,
        replacement_captions: Captions,
        vectors: Any,
        count: int,
        similarity: float,
        same_tags: bool,
        keep: frozenset[str],
    ) -> None:
        from captious.vectors import get

        self.vectors = get(vectors)
        self.words = captions.vocabulary.words
        self.count, self.similarity, self.keep = count, similarity, keep
        self.tags: dict[str, str] | None = None
        listed: dict[str, str] = {}
        if same_tags:
            # Tags of words that the vocabulary lacks come from the captions.
            own = word_tags(captions)
            listed = own if replacement_captions is captions else word_tags(replacement_captions)
            self.tags = {**own, **listed}
            offered = sorted(word for word, tag in listed.items() if tag.startswith(OPEN))
        else:
            used = np.unique(replacement_captions.tokens).tolist()
            offered = sorted(replacement_captions.vocabulary.words[word] for word in used)
        rows, has_vector = self.vectors.lookup(offered)
        self.offered = [word for word, present in zip(offered, has_vector.tolist()) if present]
        self.tag_of = np.array([listed.get(word, "") for word in self.offered], dtype=object)
        self.rows = _unit(rows[has_vector].astype(np.float64))
        self._cache: dict[int, tuple[list[str], NDArray[np.float64]] | None] = {}

    def of(self, token: int) -> tuple[list[str], NDArray[np.float64]] | None:
        """Return replacement words and cumulative probabilities, or None for a word that stays."""
        if token not in self._cache:
            self._cache[token] = self._look_up(self.words[token])
        return self._cache[token]

    def _look_up(self, word: str) -> tuple[list[str], NDArray[np.float64]] | None:
        tag = "" if self.tags is None else self.tags.get(word, "-")
        if word in self.keep or not self.offered or (tag and not tag.startswith(OPEN)):
            return None
        row, has_vector = self.vectors.lookup([word])
        if not has_vector[0]:
            return None
        cosine = self.rows @ _unit(row.astype(np.float64))[0]
        is_candidate = (self.tag_of == tag) & (cosine >= self.similarity) & (cosine > 0)
        candidates = [i for i in np.flatnonzero(is_candidate).tolist() if self.offered[i] != word]
        candidates = sorted(candidates, key=lambda i: (-cosine[i], self.offered[i]))[: self.count]
        if not candidates:
            return None
        chances = cosine[candidates]
        return [self.offered[i] for i in candidates], np.cumsum(chances / chances.sum())


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = rows / np.where(length > 0, length, 1.0)
    return scaled


def _vary(
    captions: Captions, i: int, probability: float, table: _Neighbours, generator: np.random.Generator
) -> str:
    tokens = captions.tokens[captions.token_offsets[i] : captions.token_offsets[i + 1]].tolist()
    # Two draws per word, used or not, so that a replacement does not depend on which other words have
    # vectors.
    draws = generator.random((len(tokens), 2)).tolist()
    out = []
    for token, (switch, which) in zip(tokens, draws):
        replacements = table.of(token) if switch < probability else None
        if replacements is None:
            out.append(table.words[token])
        else:
            words, cumulative = replacements
            out.append(words[min(int(np.searchsorted(cumulative, which, side="right")), len(words) - 1)])
    return " ".join(out)


def train_vectors(
    captions: Iterable[str] | Any,
    *,
    dimensions: int = 100,
    window: int = 5,
    min_count: int = 5,
    epochs: int = 5,
    tokenizer: str = "ptb",
    seed: int = 12345,
) -> WordVectors:
    """Train word2vec (skip-gram) vectors on captions.

    Training uses gensim (``pip install 'captious[word2vec]'``) on one thread with a fixed seed: the same
    captions give the same vectors.

    Parameters
    ----------
    captions
        Texts, or anything that `captious.load` accepts as references.
    dimensions, window, min_count, epochs
        Parameters of word2vec.
    tokenizer
        Name of the tokenizer.
    seed
        Random seed.

    Examples
    --------
    >>> vectors = train_vectors(["a dog runs", "a cat runs"] * 10, dimensions=4)
    >>> "dog" in vectors
    True
    """
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise MissingExtraError("gensim", "word2vec", "training word vectors") from error
    encoded = Captions.of([_texts(captions)], tokenizer)
    sentences = [sentence.split(" ") for sentence in encoded.sentences if sentence]
    try:
        model = Word2Vec(
            sentences, vector_size=dimensions, window=window, min_count=min_count, epochs=epochs,
            sg=1, workers=1, seed=seed,
        )  # fmt: skip
    except RuntimeError as error:
        raise InputError(
            f"no word occurs {min_count} times in these {len(encoded):,} captions; give more captions, or a "
            "lower min_count"
        ) from error
    vectors = {word: np.asarray(model.wv[word], dtype=np.float32) for word in model.wv.index_to_key}
    return WordVectors.from_mapping(vectors, f"word2vec-{len(sentences)}-captions")


def _texts(captions: Any) -> list[str]:
    if isinstance(captions, list | tuple) and all(isinstance(text, str) for text in captions):
        return list(captions)
    from captious.io import read

    return [text for group in read(captions, "references").captions for text in group]
