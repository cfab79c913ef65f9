"""Base classes of corpus measures: one row of statistics per image, and a value only for all images together.

After van Miltenburg, Elliott & Vossen (2018) and beyond. All captions of an image count, in their order.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.kernels.types import Bool, Int64, Out, UInt64
from captious.metrics.base import FloatArray, Measure, Need, Resource, Rows, Sequences, Texts, Unit
from captious.metrics.corpus.caption_trees import Parsed, parsed
from captious.metrics.options import PARSER, Option
from captious.parser.choice import Parser
from captious.parser.choice import get as get_parser


class CorpusMeasure(Measure):
    """Base of the corpus measures."""

    rows: ClassVar[Unit] = "corpus"
    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False
    #: Key of the measure in the JSON of ``captious corpus``.
    key: str
    bounds: tuple[float | None, float | None] = (0.0, None)

    @abstractmethod
    def statistics(self, corpus: Corpus, state: Any) -> Rows:
        """Return one row per image."""

    def per_row(self, statistics: Any) -> FloatArray:
        """Return NaN: a single image has no value."""
        return np.full(len(statistics), np.nan)

    def title(self, references: int) -> str:
        """Return the head of the column for images with this many references each."""
        return self.name


class WholeTextMeasure(CorpusMeasure):
    """Measure of the words of all captions together. Every resample is read again."""

    def statistics(self, corpus: Corpus, state: Any) -> Sequences:
        return words_of(corpus.candidates)

    @abstractmethod
    def value(self, sums: Texts) -> FloatArray: ...


class TypesMeasure(WholeTextMeasure):
    """Measure of word counts."""

    @abstractmethod
    def of_counts(self, counts: FloatArray, table: Sequences) -> FloatArray:
        """Return values from the counts of words, shape (…, words)."""

    def value(self, sums: Texts) -> FloatArray:
        return self.of_counts(sums.counts(), sums.table)


class TreeMeasure(CorpusMeasure):
    """Measure that needs tags or trees, of PTB tokens without punctuation under any tokenizer."""

    options: ClassVar[tuple[Option, ...]] = (PARSER,)
    parser: Parser

    def __init__(self, parser: Parser | str | None = None) -> None:
        self.parser = get_parser(parser)

    def resources(self) -> dict[str, Resource]:
        return {"parser": self.parser}

    def parsed(self, captions: Captions) -> Parsed:
        """Return the trees of captions, computed once."""
        return parsed(captions, self.parser)


def words_of(captions: Captions) -> Sequences:
    """Return the words of each image's captions, in order. Only words that occur have a number."""

    def make() -> Sequences:
        distinct, items = np.unique(captions.tokens, return_inverse=True)
        keys = word_keys(captions)[distinct]
        return Sequences(items.astype(np.int32), captions.token_offsets, keys).grouped(captions.image_offsets)

    return captions.cached("words of images", make)


def word_keys(captions: Captions) -> NDArray[np.uint64]:
    """Return a key for each word of the vocabulary, equal in all tables."""
    return captions.encoding.per_word("keys", digest.keys_of)


@kernel
def _hash_runs(
    words: UInt64,
    first: Int64,
    end: Int64,
    counted: Bool,
    multiplier: np.uint64,
    half: np.uint64,
    out: Out[UInt64],
) -> None:
    """Compute a 64-bit hash of the counted words of each run.

    ``half`` (32) and ``multiplier`` are typed scalars, which keep the arithmetic unsigned.
    """
    for i in range(first.shape[0]):
        value = multiplier
        for j in range(first[i], end[i]):
            if counted[j]:
                value = (value ^ words[j]) * multiplier
                value = value ^ (value >> half)
        out[i] = value


def hash_runs(
    keys: NDArray[np.uint64], first: IntArray, end: IntArray, counted: NDArray[np.bool_]
) -> NDArray[np.uint64]:
    """Return a number for the words first[i]…end[i] of each run, equal for runs of the same words.

    ``keys`` are the keys of all words in sequence, ``counted`` marks those that count. Among a million runs,
    two different ones share a number with a probability of 3 in 10⁸.
    """
    out = np.empty(len(first), dtype=np.uint64)
    with np.errstate(over="ignore"):
        _hash_runs(keys, first, end, counted, np.uint64(0x9E3779B97F4A7C15), np.uint64(32), out)
    return out


def sums_by_image(captions: Captions, *columns: NDArray[Any]) -> FloatArray:
    """Sum values of captions over each image's captions, one column for each."""
    return np.stack(
        [
            np.bincount(captions.image_of, weights=column, minlength=captions.n_images).astype(np.float64)
            for column in columns
        ],
        axis=1,
    )
