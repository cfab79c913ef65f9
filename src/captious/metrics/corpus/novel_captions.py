"""Novelty: captions that are not among the training captions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import MissingInputError
from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.kernels.types import Bool, Int64, Out, UInt64
from captious.metrics.corpus.corpus_measure import CorpusMeasure, sums_by_image, word_keys
from captious.metrics.corpus.training_captions import TrainingCaptions
from captious.metrics.options import TRAIN, Option
from captious.metrics.resources import Resource
from captious.metrics.statistics import FloatArray

Hashes = NDArray[np.uint64]


@kernel
def _hash_rows(
    tokens: UInt64, offsets: Int64, kept: Bool, multiplier: np.uint64, half: np.uint64, out: Out[UInt64]
) -> None:
    """Compute a 64-bit hash of the kept tokens of each caption.

    ``half`` (32) and ``multiplier`` are typed scalars, which keep the arithmetic unsigned.
    """
    for i in range(offsets.shape[0] - 1):
        value = multiplier
        for j in range(offsets[i], offsets[i + 1]):
            if kept[j]:
                value = (value ^ tokens[j]) * multiplier
                value = value ^ (value >> half)
        out[i] = value


def caption_hashes(captions: Captions) -> Hashes:
    """Return one number per caption, equal for captions of the same words.

    Punctuation does not count: "a dog." and "a dog ." are the same description. Among a million captions, two
    different ones share a number with probability 3 in 10⁸.
    """
    out = np.empty(len(captions), dtype=np.uint64)
    tokens = captions.tokens
    with np.errstate(over="ignore"):
        _hash_rows(
            word_keys(captions)[tokens],
            captions.token_offsets,
            is_word(captions)[tokens],
            np.uint64(0x9E3779B97F4A7C15),
            np.uint64(32),
            out,
        )
    return out


def is_word(captions: Captions) -> NDArray[np.bool_]:
    """Return which words of the vocabulary are not punctuation."""
    return captions.encoding.per_word(
        "is word",
        lambda words: np.fromiter((any(map(str.isalnum, word)) for word in words), np.bool_, len(words)),
    )


def are_novel(captions: Hashes, training: Hashes) -> NDArray[np.bool_]:
    """Return which captions are not among the training captions (``training`` is sorted)."""
    if not len(training):
        return np.ones(len(captions), dtype=np.bool_)
    place = np.minimum(np.searchsorted(training, captions), len(training) - 1)
    new: NDArray[np.bool_] = training[place] != captions
    return new


class NovelShare(CorpusMeasure):
    """Share of captions that are not among the training captions, without regard to punctuation."""

    name, key, format = "%Novel", "novel", ".1%"
    summary = "captions that are not among the training captions"
    bounds = (0.0, 1.0)
    options: ClassVar[tuple[Option, ...]] = (TRAIN,)

    def __init__(self, train: TrainingCaptions | str | Path | Any = None) -> None:
        self.train = TrainingCaptions.read(train) if train is not None else None

    def check(self, corpus: Corpus | None = None) -> None:
        if self.train is None:
            raise MissingInputError(
                f"{self.name} compares captions with the training captions: pass them (--train FILE, train=…)"
            )
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {} if self.train is None else {"train": self.train}

    def prepare(self, references: Captions) -> Hashes:
        self.check()
        assert self.train is not None
        return np.unique(caption_hashes(self.train.captions(references.tokenizer)))

    def statistics(self, corpus: Corpus, state: Hashes) -> FloatArray:
        captions = corpus.candidates
        return sums_by_image(captions, are_novel(caption_hashes(captions), state), np.ones(len(captions)))
