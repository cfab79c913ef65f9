"""Novelty: captions that are not among the training captions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Resource, contained
from captious.metrics.corpus.corpus_measure import CorpusMeasure, hash_runs, sums_by_image, word_keys
from captious.metrics.corpus.training_captions import TrainingCaptions
from captious.metrics.options import TRAIN, Option

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


class NovelShare(CorpusMeasure):
    """Share of captions that are not among the training captions, without regard to punctuation."""

    name, key, format = "%Novel", "novel", ".1%"
    summary = "captions that are not among the training captions"
    bounds = (0.0, 1.0)
    options: ClassVar[tuple[Option, ...]] = (TRAIN,)

    def __init__(self, train: TrainingCaptions | str | Path | Any = None) -> None:
        self.train = TrainingCaptions.read(train) if train is not None else None

    def check(self, corpus: Corpus | None = None) -> None:
        TrainingCaptions.required(self.train, self.name)
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {} if self.train is None else {"train": self.train}

    def prepare(self, references: Captions) -> Hashes:
        train = TrainingCaptions.required(self.train, self.name)
        return np.unique(caption_hashes(train.captions(references.tokenizer)))

    def statistics(self, corpus: Corpus, state: Hashes) -> FloatArray:
        captions = corpus.candidates
        return sums_by_image(captions, ~contained(caption_hashes(captions), state), np.ones(len(captions)))
