"""Scores of words by tag in the caption grammar: sums of weights of words, spellings and suffixes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.digests import of_lines
from captious.core.ragged import offsets_of, runs
from captious.parser.exact.pcfg import BOUNDARY_TAG, Floats
from captious.parser.grammar.spelling import spelling_class, suffixes
from captious.parser.network_model import shipped_model

#: Arrays of the model file that belong to the lexicon.
Arrays = dict[str, NDArray[Any]]
SCALE = np.float32(1 / 512)  # of weights that are stored as integers


def names_of(array: NDArray[Any]) -> list[str]:
    """Return the names that are stored as lines of text."""
    return bytes(array.tobytes()).decode("utf-8").split("\n")


@lru_cache(maxsize=1)
def classes_digest() -> str:
    """Return a digest of the word classes, which are part of the fast parser's model."""
    classes = shipped_model().classes
    rows = (*sorted(classes.words.items()), *sorted(classes.spellings.items()), ("", classes.other))
    return of_lines([f"{name} {number}" for name, number in rows])


class CaptionLexicon:
    """The lexicon of a model file.

    Words of a class share their weights. A class that occurred in training has a list of tags with weights of
    its own, another one of plain tags, and a weight for all other tags. Words of rare classes (all that have
    the mark) and of unknown ones also take the weights of their spelling and may have every open tag.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.tags = names_of(arrays["tags"])
        self.plain_of = arrays["plain_of"].astype(np.int64)
        groups = arrays["groups"].astype(np.int64)
        self.classes = shipped_model().classes
        #: Row of each word class; row 0 is for classes that did not occur.
        self.row_of = np.zeros(self.classes.size, np.int64)
        self.row_of[groups] = np.arange(1, len(groups) + 1)
        self.is_rare = np.concatenate(([True], np.unpackbits(arrays["is_rare"])[: len(groups)] > 0))
        self.default = np.concatenate(([0], arrays["default"])).astype(np.float32) * SCALE
        self.pair_offsets = offsets_of([0, *arrays["pair_counts"].tolist()])
        self.pair_tags = arrays["pair_tags"].astype(np.int64)
        self.pair_weights = arrays["pair_weights"].astype(np.float32) * SCALE
        self.pair_seen = np.unpackbits(arrays["pair_seen"])[: len(self.pair_tags)] > 0
        self.plain_offsets = offsets_of([0, *arrays["plain_counts"].tolist()])
        self.plain_tags = arrays["plain_tags"].astype(np.int64)
        self.plain_weights = arrays["plain_weights"].astype(np.float32) * SCALE
        self.is_open = np.unpackbits(arrays["is_open"])[: len(self.tags)] > 0
        self.is_common = np.unpackbits(arrays["is_common"])[: len(self.tags)] > 0
        self.spellings = {name: i for i, name in enumerate(names_of(arrays["classes"]))}
        self.class_weights = arrays["class_weights"].astype(np.float32) * SCALE
        self.suffix_names = {name: i for i, name in enumerate(names_of(arrays["suffixes"]))}
        self.suffix_weights = arrays["suffix_weights"].astype(np.float32) * SCALE
        self.boundary = self.tags.index(BOUNDARY_TAG)

    def table(self, forms: Sequence[str]) -> Floats:
        """Return a row of scores by tag for each word, minus infinity for impossible tags.

        Row 0 is the end of a sentence; the words follow.
        """
        rows = self.row_of[np.array([self.classes.of(form) for form in forms], np.int64)]
        few = self.is_rare[rows]
        spelled = [forms[i] for i in np.flatnonzero(few).tolist()]
        # The last row is for spellings that never occurred.
        spellings = np.array([self.spellings.get(spelling_class(form), -1) for form in spelled], np.int64)
        endings = np.array(
            [[self.suffix_names.get(part, 0) for part in suffixes(form)] for form in spelled], np.int64
        ).reshape(-1, 3)
        by_plain: Floats = np.zeros((len(rows), self.suffix_weights.shape[1]), np.float32)
        by_plain[few] = self.suffix_weights[endings].sum(1)
        plain_places, plain_starts = runs(self.plain_offsets, rows)
        line = np.repeat(np.arange(len(rows)), np.diff(plain_starts))
        by_plain[line, self.plain_tags[plain_places]] += self.plain_weights[plain_places]
        scores: Floats = np.empty((len(rows) + 1, len(self.tags)), np.float32)
        body = scores[1:]
        np.add(by_plain[:, self.plain_of], self.default[rows][:, None], out=body)
        places, starts = runs(self.pair_offsets, rows)
        line = np.repeat(np.arange(len(rows)), np.diff(starts))
        tags, seen = self.pair_tags[places], self.pair_seen[places]
        body[line, tags] += self.pair_weights[places]
        body[few] += self.class_weights[spellings]
        is_allowed: NDArray[np.bool_] = few[:, None] & self.is_open
        plain_seen: NDArray[np.bool_] = np.zeros((len(rows), self.suffix_weights.shape[1]), np.bool_)
        plain_seen[line[seen], self.plain_of[tags[seen]]] = True
        is_allowed |= plain_seen[:, self.plain_of] & self.is_common
        is_allowed[line[seen], tags[seen]] = True
        is_allowed[:, self.boundary] = False
        body[~is_allowed] = -np.inf
        scores[0] = -np.inf
        scores[0, self.boundary] = 0
        return scores
