"""Novelty: captions that are not among the training captions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, contained
from captious.metrics.corpus.corpus_measure import CorpusMeasure, hash_runs, sums_by_image, word_keys
from captious.metrics.corpus.training_captions import NoveltyMeasure

Hashes = NDArray[np.uint64]


def caption_hashes(captions: Captions) -> Hashes:
    """Return one number per caption, equal for captions of the same words.

    Punctuation does not count: "a dog." and "a dog" are the same description.
    """
    tokens, offsets = captions.tokens, captions.token_offsets
    return hash_runs(word_keys(captions)[tokens], offsets[:-1], offsets[1:], is_word(captions)[tokens])


def is_word(captions: Captions) -> NDArray[np.bool_]:
    """Return which words of the vocabulary are not punctuation."""
    return captions.encoding.per_word(
        "is word",
        lambda words: np.fromiter((any(map(str.isalnum, word)) for word in words), np.bool_, len(words)),
    )


class NovelShare(NoveltyMeasure, CorpusMeasure):
    """Share of captions that are not among the training captions, without regard to punctuation."""

    name, key, format = "%Novel", "novel", ".1%"
    summary = "captions that are not among the training captions"
    bounds = (0.0, 1.0)

    def prepare(self, references: Captions) -> Hashes:
        return np.unique(caption_hashes(self.required().captions(references.tokenizer)))

    def statistics(self, corpus: Corpus, state: Hashes) -> FloatArray:
        captions = corpus.candidates
        return sums_by_image(captions, ~contained(caption_hashes(captions), state), np.ones(len(captions)))
