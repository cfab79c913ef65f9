"""Counting: Div-1, Div-2, vocabulary of a set, unique and novel captions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.kernels.types import Int32, Int64, Out
from captious.metrics.base import FloatArray, ratio
from captious.metrics.corpus.novel_captions import NoveltyMeasure
from captious.metrics.sets.set_measure import MeanMeasure, image_means


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


def _distinct(captions: Captions, number: NDArray[np.int32], offsets: IntArray) -> IntArray:
    """Count the different numbers of each image; caption i has ``number[offsets[i]:offsets[i + 1]]``."""
    last = np.full(int(number.max(initial=0)) + 1, -1, dtype=np.int64)
    counts = np.zeros(captions.n_images, dtype=np.int64)
    _count_distinct(number, offsets, captions.image_offsets, last, counts)
    return counts


def distinct_ngrams(captions: Captions, n: int) -> IntArray:
    """Return the number of different n-grams in the captions of each image."""
    table = captions.ngrams(n)
    return captions.cached(("distinct n-grams", n), lambda: _distinct(captions, table.number, table.offsets))


class Div(MeanMeasure):
    """Different n-grams of a set over its number of words (with repeats); 0 for a set without words."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.name = f"Div-{n}"
        self.summary = f"different {'words' if n == 1 else f'{n}-grams'} of a set over its number of words"

    def per_image(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        words = np.bincount(captions.image_of, weights=captions.lengths, minlength=captions.n_images)
        share = ratio(distinct_ngrams(captions, self.n), words)
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
        sentence = captions.unique[1].astype(np.int32)
        different = _distinct(captions, sentence, np.arange(len(captions) + 1, dtype=np.int64))
        return ratio(different, captions.per_image, np.nan)


class Novel(NoveltyMeasure, MeanMeasure):
    """Share of captions that do not equal a training caption word for word."""

    name = "Novel"
    summary = "share of captions that are not among the training captions"

    def prepare(self, references: Captions) -> frozenset[str]:
        return self.required().sentences(references.tokenizer)

    def per_image(self, corpus: Corpus, state: frozenset[str]) -> FloatArray:
        captions = corpus.candidates
        first, which = captions.unique
        sentences = captions.sentences
        new = np.fromiter((sentences[i] not in state for i in first.tolist()), np.float64, len(first))
        return image_means(captions, new[which])
