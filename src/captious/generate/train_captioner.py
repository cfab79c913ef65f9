"""Word vectors trained on captions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from captious.core.errors import InputError, MissingExtraError
from captious.corpus import Captions
from captious.vectors.vector_table import WordVectors


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
