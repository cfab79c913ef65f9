"""Counting: Div-1, Div-2, vocabulary of a set, unique and novel captions."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.errors import MissingInputError
from captious.kernels import kernel
from captious.measures.base import FloatArray
from captious.measures.options import TRAIN, Option
from captious.measures.resources import Resource
from captious.variety.sets.base import MeanMeasure, image_means, ratio
from captious.variety.training import TrainingCaptions


@kernel
def _count_distinct(number, offsets, image_offsets, last, out):  # type: ignore[no-untyped-def]
    """Different numbers among the captions of each image. ``last`` holds, for each number, the last image with it."""
    for image in range(image_offsets.shape[0] - 1):
        for j in range(offsets[image_offsets[image]], offsets[image_offsets[image + 1]]):
            if last[number[j]] != image:
                last[number[j]] = image
                out[image] += 1


@kernel
def _count_different(tokens, offsets, image_offsets, out):  # type: ignore[no-untyped-def]
    """Different captions of each image: those equal to no earlier one."""
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
    """Number of different n-grams in the captions of each image."""

    def count() -> NDArray[np.int64]:
        table = captions.ngrams(n)
        seen = np.full(int(table.number.max(initial=0)) + 1, -1, dtype=np.int64)
        out = np.zeros(captions.n_images, dtype=np.int64)
        _count_distinct.pick(len(table.number) * 3)(table.number, table.offsets, captions.image_offsets, seen, out)
        return out

    return captions.cached(("distinct n-grams", n), count)


class Div(MeanMeasure):
    """Different n-grams of a set over its number of words (repeats counted); 0 for a set without a word."""

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

    def per_image(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        return np.where(captions.per_image > 0, distinct_ngrams(captions, 1), np.nan)


class Unique(MeanMeasure):
    """Share of a set that remains when equal captions (the same words in the same order) are kept once."""

    name = "Unique"
    summary = "different captions of a set over its number of captions"

    def per_image(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        different = np.zeros(captions.n_images, dtype=np.int64)
        _count_different.pick(len(captions) * 20)(
            captions.tokens, captions.token_offsets, captions.image_offsets, different
        )
        return ratio(different, captions.per_image, np.nan)


class Novel(MeanMeasure):
    """Share of the captions that are not, word for word, among the training captions."""

    name = "Novel"
    summary = "share of captions that are not among the training captions"

    options: ClassVar[tuple[Option, ...]] = (TRAIN,)

    def __init__(self, train: TrainingCaptions | Collection[str] | str | Path | None = None) -> None:
        self.train = train if isinstance(train, TrainingCaptions) or train is None else TrainingCaptions.read(train)

    def check(self, corpus: Corpus | None = None) -> None:
        if self.train is None:
            raise MissingInputError(f"{self.name} compares captions with the training captions: give them (--train FILE, train=…)")
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {} if self.train is None else {"train": self.train}

    def prepare(self, references: Captions) -> frozenset[str]:
        self.check()
        assert self.train is not None
        return self.train.sentences(references.tokenizer)

    def per_image(self, corpus: Corpus, state: frozenset[str]) -> FloatArray:
        captions = corpus.candidates
        first, which = captions.unique
        sentences = captions.sentences
        new = np.fromiter((sentences[i] not in state for i in first.tolist()), np.float64, len(first))
        return image_means(captions, new[which])
