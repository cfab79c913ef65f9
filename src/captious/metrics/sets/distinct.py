"""Counting: Div-1, Div-2, vocabulary of a set, unique and novel captions."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.kernels.types import Int32, Int64, Out
from captious.metrics.base import FloatArray, Resource
from captious.metrics.corpus.training_captions import TrainingCaptions
from captious.metrics.options import TRAIN, Option
from captious.metrics.sets.set_measure import MeanMeasure, image_means, ratio


@kernel
def _count_distinct(
    number: Int32, offsets: Int64, image_offsets: Int64, last: Out[Int64], out: Out[Int64]
) -> None:
    """Count the different numbers among each image's captions.

    ``last`` holds the last image with each number.
    """
    for image in range(image_offsets.shape[0] - 1):
        for j in range(offsets[image_offsets[image]], offsets[image_offsets[image + 1]]):
            if last[number[j]] != image:
                last[number[j]] = image
                out[image] += 1


@kernel
def _count_different(tokens: Int32, offsets: Int64, image_offsets: Int64, out: Out[Int64]) -> None:
    """Count the different captions of each image."""
    for image in range(image_offsets.shape[0] - 1):
        for i in range(image_offsets[image], image_offsets[image + 1]):
            length, new = offsets[i + 1] - offsets[i], 1
            for k in range(image_offsets[image], i):
                if offsets[k + 1] - offsets[k] == length:
                    at = 0
                    while at < length and tokens[offsets[i] + at] == tokens[offsets[k] + at]:
                        at += 1
                    if at == length:
                        new = 0
                        break
            out[image] += new


def distinct_ngrams(captions: Captions, n: int) -> NDArray[np.int64]:
    """Return the number of different n-grams in the captions of each image."""

    def count() -> NDArray[np.int64]:
        table = captions.ngrams(n)
        seen = np.full(int(table.number.max(initial=0)) + 1, -1, dtype=np.int64)
        out = np.zeros(captions.n_images, dtype=np.int64)
        _count_distinct(table.number, table.offsets, captions.image_offsets, seen, out)
        return out

    return captions.cached(("distinct n-grams", n), count)


class Div(MeanMeasure):
    """Different n-grams of a set over its number of words (with repeats); 0 for a set without words."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.name = f"Div-{n}"
        self.summary = f"different {'words' if n == 1 else f'{n}-grams'} of a set over its number of words"

    def per_image(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        words = np.bincount(captions.image_of, weights=captions.lengths, minlength=captions.n_images)
        share = ratio(distinct_ngrams(captions, self.n), words, 0.0)
        return np.where(captions.per_image > 0, share, np.nan)


class VocabularySize(MeanMeasure):
    """Different words in a set."""

    name = "Vocabulary"
    summary = "different words in a set of captions"
    bounds = (0.0, None)
    format = ".1f"

    def per_image(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        return np.where(captions.per_image > 0, distinct_ngrams(captions, 1), np.nan)


class Unique(MeanMeasure):
    """Share of captions of a set that remain when equal ones (the same words in the same order) merge."""

    name = "Unique"
    summary = "different captions of a set over its number of captions"

    def per_image(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        different = np.zeros(captions.n_images, dtype=np.int64)
        _count_different(captions.tokens, captions.token_offsets, captions.image_offsets, different)
        return ratio(different, captions.per_image, np.nan)


class Novel(MeanMeasure):
    """Share of captions that do not equal a training caption word for word."""

    name = "Novel"
    summary = "share of captions that are not among the training captions"

    options: ClassVar[tuple[Option, ...]] = (TRAIN,)

    def __init__(self, train: TrainingCaptions | Collection[str] | str | Path | None = None) -> None:
        self.train = TrainingCaptions.read(train) if train is not None else None

    def check(self, corpus: Corpus | None = None) -> None:
        TrainingCaptions.required(self.train, self.name)
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {} if self.train is None else {"train": self.train}

    def prepare(self, references: Captions) -> frozenset[str]:
        train = TrainingCaptions.required(self.train, self.name)
        return train.sentences(references.tokenizer)

    def per_image(self, corpus: Corpus, state: frozenset[str]) -> FloatArray:
        captions = corpus.candidates
        first, which = captions.unique
        sentences = captions.sentences
        new = np.fromiter((sentences[i] not in state for i in first.tolist()), np.float64, len(first))
        return image_means(captions, new[which])
