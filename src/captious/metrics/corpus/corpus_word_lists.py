"""Measures by lists of words: negation and concreteness."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from captious.core import digests as digest
from captious.core.errors import InputError, MissingInputError
from captious.core.memo import cached_property
from captious.corpus import Captions, Corpus
from captious.io.content import check_lines, decode, read_bytes, shown_name
from captious.metrics.base import FloatArray, Resource
from captious.metrics.corpus.corpus_measure import CorpusMeasure, sums_by_image
from captious.metrics.options import NORMS, Option
from captious.parser.graph_codes import word_set

#: Words that negate. A caption with one of them says what is not in the image.
NEGATIONS = word_set("no not n't nt n’t never none nobody nothing nowhere neither nor without cannot")

#: Names of the rating column in published norms.
_COLUMNS = ("conc.m", "concreteness", "conc", "rating", "mean")


class Negations(CorpusMeasure):
    """Share of captions with a negation."""

    name, key, format = "Neg", "negations", ".2%"
    summary = "captions with a negation"
    bounds = (0.0, 1.0)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        denies = captions.encoding.per_word(
            "negation", lambda words: np.fromiter(map(NEGATIONS.__contains__, words), np.bool_, len(words))
        )
        before = np.concatenate([[0], np.cumsum(denies[captions.tokens])])
        some = before[captions.token_offsets[1:]] > before[captions.token_offsets[:-1]]
        return sums_by_image(captions, some, np.ones(len(captions)))


def read_norms(path: str | Path) -> dict[str, float]:
    """Read concreteness norms.

    The table (comma, semicolon or tab) has the word in the first column and the rating in a column called
    Conc.M or concreteness, or else in the second.
    """
    source = shown_name(path)
    lines = decode(read_bytes(path), source).splitlines()
    check_lines(lines, source)
    delimiter = max("\t;,", key=lines[0].count)
    rows = list(csv.reader(lines, delimiter=delimiter))
    header = [cell.strip().casefold() for cell in rows[0]]
    column = next((header.index(name) for name in _COLUMNS if name in header), 1)
    has_header = not _is_number(rows[0][column]) if len(rows[0]) > column else True
    norms: dict[str, float] = {}
    for number, row in enumerate(rows[has_header:], start=1 + has_header):
        if not row:
            continue
        if len(row) <= column or not _is_number(row[column]):
            cell = f"'{row[column][:40]}'" if len(row) > column else f"{len(row)} columns"
            raise InputError(f"{source}, line {number}: column {column + 1} must hold a rating, not {cell}")
        norms[row[0].strip().lower()] = float(row[column])
    if not norms:
        raise InputError(f"{source}: the table has no words")
    return norms


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


class Norms:
    """Concreteness ratings by word."""

    label = "norms"

    def __init__(self, ratings: Mapping[str, float]) -> None:
        self.ratings = dict(ratings)

    @classmethod
    def read(cls, source: Norms | str | Path | Mapping[str, float]) -> Norms:
        """Create norms from a file or a mapping."""
        if isinstance(source, Norms):
            return source
        return cls(source if isinstance(source, Mapping) else read_norms(source))

    @cached_property
    def digest(self) -> str:
        """Digest of words and ratings in any order."""
        return digest.of_lines(f"{word}\t{rating!r}" for word, rating in sorted(self.ratings.items()))

    def of(self, captions: Captions) -> FloatArray:
        """Return the rating of each word of the vocabulary, NaN for words without one."""
        return captions.encoding.per_word(
            ("norms", self.digest),
            lambda words: np.array([self.ratings.get(word, np.nan) for word in words], dtype=np.float64),
        )


class Concreteness(CorpusMeasure):
    """Mean rating over the tokens that have one."""

    name, key, format = "Concr", "concreteness", ".2f"
    summary = "mean concreteness of the words that the norms rate"
    bounds = (None, None)
    options: ClassVar[tuple[Option, ...]] = (NORMS,)

    def __init__(self, norms: Norms | str | Path | Mapping[str, float] | None = None) -> None:
        self.norms = Norms.read(norms) if norms is not None else None

    def check(self, corpus: Corpus | None = None) -> None:
        if self.norms is None:
            raise MissingInputError(
                f"{self.name} needs concreteness ratings of words: pass them (--norms TABLE, norms=…)"
            )
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {} if self.norms is None else {"norms": self.norms}

    def prepare(self, references: Captions) -> Norms:
        self.check()
        assert self.norms is not None
        return self.norms

    def statistics(self, corpus: Corpus, state: Norms) -> FloatArray:
        """Return the sum of the ratings, the number of rated tokens, and the number of tokens."""
        captions = corpus.candidates
        values = state.of(captions)[captions.tokens]
        rated = ~np.isnan(values)
        image = np.repeat(captions.image_of, captions.lengths)
        columns = [
            np.bincount(image, weights=column, minlength=captions.n_images)
            for column in (np.where(rated, values, 0.0), rated, np.ones(len(rated)))
        ]
        return np.stack(columns, axis=1).astype(np.float64)
