"""METEOR 1.5 (Denkowski & Lavie 2014) for English, with the parameters and the data of the COCO tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from captious.corpus import Captions, Corpus
from captious.measures.base import FloatArray, Measure
from captious.measures.options import METEOR_DATA, Option
from captious.measures.resources import Resource
from captious.meteor.encode import encode_captions, encode_references
from captious.meteor.resources import Resources, Tables
from captious.meteor.score import score, score_sums, summable
from captious.meteor.statistics import pair_statistics
from captious.ragged import offsets_of
from captious.text import meteor_data


class Meteor(Measure):
    """Words aligned by form, stem, synonym and paraphrase: a mean of precision and recall, less a penalty for disorder."""

    name = "METEOR"
    summary = "alignment by form, stem, synonym and paraphrase (Denkowski & Lavie 2014)"
    options: ClassVar[tuple[Option, ...]] = (METEOR_DATA,)
    fixed: Mapping[str, str] = {"version": "1.5", "lang": "en", "norm": "yes"}

    def __init__(self, meteor_data: str | Path | None = None) -> None:
        """Take METEOR's data from a directory rather than from the installed package ``pycocoevalcap``."""
        self.meteor_data = meteor_data

    def check(self, corpus: Corpus | None = None) -> None:
        meteor_data.find(self.meteor_data)
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {"data": Tables(meteor_data.find(self.meteor_data))}

    def prepare(self, references: Captions) -> Resources:
        resources = Resources.open(self.meteor_data)
        encode_references(references, resources.normaliser)
        return resources

    def statistics(self, corpus: Corpus, state: Resources) -> FloatArray:
        """The reference implementation's 23 numbers for the best reference, and the chunks that count in sums."""
        return corpus.cached(("meteor", state), lambda: _best_reference(corpus, state))

    def value(self, sums: FloatArray) -> FloatArray:
        return score_sums(sums)


def _best_reference(corpus: Corpus, resources: Resources) -> FloatArray:
    """The statistics of each candidate with the reference that gives it the highest score; the first of equals."""
    candidate, reference = corpus.pairs
    wanted = np.unique(reference) if len(corpus) < corpus.references.n_images else None
    encoded, line, (begin, end) = encode_captions(corpus.candidates, corpus.references, resources.normaliser, wanted)
    # A reference with a separator in it stands for several.
    parts = (end - begin)[reference]
    pair = np.repeat(np.arange(len(reference)), parts)
    part = np.arange(len(pair)) - np.repeat(offsets_of(parts)[:-1], parts)
    candidate = candidate[pair]
    statistics = pair_statistics(encoded, line[candidate], begin[reference[pair]] + part, resources)

    scores = score(statistics)
    best = np.full(len(corpus.candidates), -1.0)
    np.maximum.at(best, candidate, scores)
    at_best = np.flatnonzero(scores == best[candidate])
    rows, first = np.unique(candidate[at_best], return_index=True)
    table = np.zeros((len(corpus.candidates), statistics.shape[1] + 1))
    table[rows] = summable(statistics[at_best[first]])
    return table
