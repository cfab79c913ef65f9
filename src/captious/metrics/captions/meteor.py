"""METEOR 1.5 (Denkowski & Lavie 2014) for English, with the parameters and the data of the COCO tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray, places_in, stretches
from captious.corpus import Captions, Corpus
from captious.meteor.align import STATISTICS, combined, links, pair_statistics, score_sums, summable
from captious.meteor.encoding_words import encode_captions, prepare_references
from captious.meteor.meteor_tables import MeteorTables, Resources
from captious.metrics.base import FloatArray, Measure, Resource
from captious.metrics.options import METEOR_DATA, Option
from captious.text import meteor_data

#: Candidates aligned at a time. The data of their words and phrases take far more memory than their scores.
PORTION = 1 << 14


class Best(NamedTuple):
    """Best reference of each candidate."""

    #: The 23 statistics of the reference implementation, and the number of chunks in sums.
    table: FloatArray
    #: Number of the reference (−1 for images without references), and the index of its line.
    reference: IntArray
    part: IntArray


class Alignment(NamedTuple):
    """METEOR's alignment of a candidate: its words, those of the best reference, and their matches."""

    words: list[str]
    reference: int
    reference_words: list[str]
    #: Rows of start and length in the reference, start and length in the candidate, and module
    #: (:data:`captious.meteor.matches.MODULES`).
    matches: NDArray[np.int32]


class Meteor(Measure):
    """Words aligned by form, stem, synonym and paraphrase.

    The score is a mean of precision and recall, reduced by a penalty for disorder.
    """

    name = "METEOR"
    summary = "alignment by form, stem, synonym and paraphrase (Denkowski & Lavie 2014)"
    options: ClassVar[tuple[Option, ...]] = (METEOR_DATA,)
    fixed: Mapping[str, str] = {"version": "1.5", "lang": "en", "norm": "yes"}

    def __init__(self, meteor_data: str | Path | None = None) -> None:
        """Read METEOR's data from a directory instead of the installed package ``pycocoevalcap``."""
        self.meteor_data = meteor_data

    def check(self, corpus: Corpus | None = None) -> None:
        meteor_data.find(self.meteor_data)
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {"data": MeteorTables(meteor_data.find(self.meteor_data))}

    def prepare(self, references: Captions) -> Resources:
        resources = Resources.open(self.meteor_data)
        prepare_references(references, resources)
        return resources

    def statistics(self, corpus: Corpus, state: Resources) -> FloatArray:
        """Return the reference implementation's 23 statistics and the chunks in sums."""
        return self._best(corpus, state).table

    def _best(self, corpus: Corpus, state: Resources) -> Best:
        return corpus.cached(("meteor", state), lambda: _best_reference(corpus, state))

    def alignments(self, corpus: Corpus, state: Resources) -> list[Alignment | None]:
        """Return the alignment of each candidate with its best reference, or None without references."""
        best = self._best(corpus, state)
        aligned = np.flatnonzero(best.reference >= 0)
        encoded, line, (begin, _) = encode_captions(
            corpus.candidates, corpus.references, state, np.unique(best.reference[aligned])
        )
        reference_line = begin[best.reference] + best.part
        matches_of = links(encoded, line[aligned], reference_line[aligned], state)
        out: list[Alignment | None] = [None] * len(best.reference)
        for i, matches in zip(aligned.tolist(), matches_of):
            words = encoded.words(encoded.ours, int(line[i]))
            reference_words = encoded.words(encoded.theirs, int(reference_line[i]))
            out[i] = Alignment(words, int(best.reference[i]), reference_words, matches)
        return out

    def value(self, sums: FloatArray) -> FloatArray:
        return score_sums(sums)


def _best_reference(corpus: Corpus, resources: Resources) -> Best:
    """Return the reference with the highest score for each candidate (the first of equals)."""
    parts = [
        _best_of_part(corpus, resources, *some)
        for some in stretches(corpus.candidates.image_offsets, PORTION)
    ]
    if len(parts) == 1:
        return parts[0]
    return (
        Best(*(np.concatenate(column) for column in zip(*parts)))
        if parts
        else Best(np.zeros((0, STATISTICS + 1)), *np.zeros((2, 0), np.int64))
    )


def _best_of_part(corpus: Corpus, resources: Resources, first_image: int, end_image: int) -> Best:
    """Return the same for the candidates of some images, one after the other."""
    candidates = corpus.candidates
    here = slice(int(candidates.image_offsets[first_image]), int(candidates.image_offsets[end_image]))
    pairs = slice(int(corpus.pair_offsets[here.start]), int(corpus.pair_offsets[here.stop]))
    candidate, reference = (side[pairs] for side in corpus.pairs)
    if here.stop - here.start < len(candidates):
        candidates = candidates.take(
            np.arange(here.start, here.stop),
            candidates.image_offsets[first_image : end_image + 1] - here.start,
        )
        candidate = candidate - here.start
    wanted = np.unique(reference) if end_image - first_image < corpus.references.n_images else None
    encoded, line, (begin, end) = encode_captions(candidates, corpus.references, resources, wanted)
    # A reference with a separator in it counts as several.
    parts = (end - begin)[reference]
    pair = np.repeat(np.arange(len(reference)), parts)
    part = places_in(parts)
    candidate = candidate[pair]
    statistics, ingredients = pair_statistics(
        encoded, line[candidate], begin[reference[pair]] + part, resources
    )

    scores = combined(ingredients)
    best = np.full(len(candidates), -1.0)
    np.maximum.at(best, candidate, scores)
    at_best = np.flatnonzero(scores == best[candidate])
    # The pairs of a candidate are adjacent.
    chosen = at_best[np.diff(candidate[at_best], prepend=-1) > 0]
    rows = candidate[chosen]
    table = np.zeros((len(candidates), STATISTICS + 1))
    table[rows] = summable(statistics[chosen])
    nearest, its_part = np.full((2, len(candidates)), -1, dtype=np.int64)
    nearest[rows], its_part[rows] = reference[pair][chosen], part[chosen]
    return Best(table, nearest, its_part)
