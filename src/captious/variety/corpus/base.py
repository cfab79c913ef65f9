"""A measure of a whole corpus of captions: one row of statistics per image, and a value only for all of them together.

After van Miltenburg, Elliott & Vossen (2018) and beyond. All captions of an image count, in their order.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious import digest
from captious.corpus import Captions, Corpus
from captious.language.parsers import Parser
from captious.language.parsers import get as get_parser
from captious.measures.base import FloatArray, Measure, Need, Unit
from captious.measures.options import PARSER, Option
from captious.measures.resources import Resource
from captious.statistics import Rows, Sequences, Texts
from captious.variety.corpus.trees import Parsed, parsed


class CorpusMeasure(Measure):
    """Base of the measures here."""

    rows: ClassVar[Unit] = "corpus"
    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False
    #: What the measure is called in the JSON of ``captious corpus``.
    key: str
    bounds: tuple[float | None, float | None] = (0.0, None)

    @abstractmethod
    def statistics(self, corpus: Corpus, state: Any) -> Rows:
        """One row per image."""

    def per_row(self, statistics: Any) -> FloatArray:
        """Nothing: an image by itself has no value."""
        return np.full(len(statistics), np.nan)

    def title(self, references: int) -> str:
        """The head of the column, where images have so many references each."""
        return self.name


class TextMeasure(CorpusMeasure):
    """A measure of the words of all captions together, which reads every resample anew."""

    def statistics(self, corpus: Corpus, state: Any) -> Sequences:
        return words_of(corpus.candidates)

    @abstractmethod
    def value(self, sums: Texts) -> FloatArray: ...


class TypesMeasure(TextMeasure):
    """A measure of how often each word occurs."""

    @abstractmethod
    def of_counts(self, counts: FloatArray, table: Sequences) -> FloatArray:
        """Values from the counts of words, shape (…, words)."""

    def value(self, sums: Texts) -> FloatArray:
        return self.of_counts(sums.counts(), sums.table)


class TreeMeasure(CorpusMeasure):
    """A measure that needs tags or trees. They are of PTB tokens without punctuation, whatever the run's tokenizer."""

    options: ClassVar[tuple[Option, ...]] = (PARSER,)
    parser: Parser

    def __init__(self, parser: Parser | str | None = None) -> None:
        self.parser = get_parser(parser)

    def resources(self) -> dict[str, Resource]:
        return {"parser": self.parser}

    def parsed(self, captions: Captions) -> Parsed:
        """The trees of captions, made once."""
        return parsed(captions, self.parser)


def words_of(captions: Captions) -> Sequences:
    """The words of each image's captions, in order; only words that occur have a number."""

    def make() -> Sequences:
        distinct, items = np.unique(captions.tokens, return_inverse=True)
        keys = word_keys(captions)[distinct]
        return Sequences(items.astype(np.int32), captions.token_offsets, keys).grouped(captions.image_offsets)

    return captions.cached("words of images", make)


def word_keys(captions: Captions) -> NDArray[np.uint64]:
    """What stands for each word of the vocabulary in tables that may be put together."""
    return captions.encoding.per_word("keys", digest.keys_of)


def sums_by_image(captions: Captions, *columns: NDArray[Any]) -> FloatArray:
    """Values of captions, summed over each image's captions: one column for each."""
    return np.stack(
        [
            np.bincount(captions.image_of, weights=column, minlength=captions.n_images).astype(np.float64)
            for column in columns
        ],
        axis=1,
    )


def share(above: NDArray[Any], below: NDArray[Any]) -> FloatArray:
    """above / below, not a number where below is 0."""
    below = np.asarray(below, dtype=np.float64)
    out: FloatArray = np.divide(above, below, out=np.full_like(below, np.nan), where=below > 0)
    return out
