"""CAPTURE (Dong et al. 2024): objects, attributes and relations of detailed descriptions, matched softly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from captious.core.threads import one_blas_thread
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics
from captious.metrics.captions.paragraph_scenes import SentenceTuple, paragraph_tuples
from captious.metrics.captions.phrase_matching import PhraseTable
from captious.metrics.options import METEOR_DATA, PARSER, Option
from captious.parser import Parser
from captious.parser.choice import get as get_parser
from captious.text.synonyms import Synonyms
from captious.vectors.caption_vectors import load

#: Weights of objects, attributes and relations.
WEIGHTS = (0.5, 0.5, 0.2)


class TupleMatch(NamedTuple):
    """A tuple of a caption, and the tuple of the references that is nearest to it."""

    items: tuple[str, ...]
    sentence: int
    #: 1 for equal tuples and synonyms, else a cosine; 0 without a tuple of its kind in the references.
    similarity: float
    nearest: tuple[str, ...]


class _Scene(NamedTuple):
    """Tuples of a caption by their length, as numbers of phrases."""

    tuples: tuple[list[SentenceTuple], ...]
    numbers: tuple[list[list[int]], ...]


class Capture(Measure):
    """Mean over references of (0.5 objects + 0.5 attributes + 0.2 relations) / 1.2, each an F1.

    Tuples match if they are equal, by synonyms, or if one contains the other's main word; the others count
    by their nearest cosine (distilled caption vectors). A kind that neither side has does not count.
    """

    name = "CAPTURE"
    summary = "objects, attributes and relations of descriptions, matched softly (Dong et al. 2024)"
    options: ClassVar[tuple[Option, ...]] = (METEOR_DATA, PARSER)
    fixed: Mapping[str, str] = {"weights": "5:5:2"}
    # A mean over different references is below 1 for any caption.
    perfect_is_maximum = False

    def __init__(self, meteor_data: str | Path | None = None, parser: Parser | str | None = None) -> None:
        self.meteor_data = meteor_data
        self.parser = get_parser(parser)

    def resources(self) -> dict[str, Resource]:
        return {
            "parser": self.parser,
            "synonyms": Synonyms.load(self.meteor_data),
            "vectors": load(),
        }

    def prepare(self, references: Captions) -> None:
        # Cached with the references; statistics reads it there.
        paragraph_tuples(references, self.parser)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        table, ours, theirs = self._scenes(corpus)
        values = np.zeros(len(ours))
        candidate, reference = corpus.pairs
        counts = np.bincount(candidate, minlength=len(ours))
        # The products are small: threads would mostly wait for each other.
        with one_blas_thread():
            for i, j in zip(candidate.tolist(), reference.tolist()):
                values[i] += _score(table, ours[i], theirs[j])
        return as_statistics(np.divide(values, counts, out=np.zeros(len(ours)), where=counts > 0))

    def matches(self, corpus: Corpus) -> Iterator[tuple[list[TupleMatch], list[TupleMatch]]]:
        """Yield the tuples of each candidate with the nearest of all its references, and the reverse."""
        table, ours, theirs = self._scenes(corpus)
        reference = corpus.pairs[1]
        bounds = corpus.pair_offsets.tolist()
        for i, scene in enumerate(ours):
            own = [theirs[j] for j in reference[bounds[i] : bounds[i + 1]].tolist()]
            merged = _Scene(
                tuple([item for other in own for item in other.tuples[k]] for k in range(3)),
                tuple([row for other in own for row in other.numbers[k]] for k in range(3)),
            )
            yield _nearest(table, scene, merged), _nearest(table, merged, scene)

    def _scenes(self, corpus: Corpus) -> tuple[PhraseTable, list[_Scene], list[_Scene]]:
        def make() -> tuple[PhraseTable, list[_Scene], list[_Scene]]:
            sides = [paragraph_tuples(side, self.parser) for side in (corpus.candidates, corpus.references)]
            phrases = {phrase for side in sides for row in side for item in row for phrase in item.items}
            table = PhraseTable(phrases, load().words, Synonyms.load(self.meteor_data))
            ours, theirs = ([_scene(row, table) for row in side] for side in sides)
            return table, ours, theirs

        key = ("capture scenes", self.parser.label, self.parser.digest, str(self.meteor_data))
        return corpus.cached(key, make)


def _scene(row: list[SentenceTuple], table: PhraseTable) -> _Scene:
    kinds = tuple([item for item in row if len(item.items) == size] for size in (1, 2, 3))
    return _Scene(
        kinds, tuple([[table.numbers[phrase] for phrase in item.items] for item in kind] for kind in kinds)
    )


def _similarities(table: PhraseTable, ours: list[list[int]], theirs: list[list[int]]) -> FloatArray:
    """Return the similarity of tuples of one kind: the mean over their places."""
    total = np.zeros((len(ours), len(theirs)))
    size = len(ours[0])
    for place in range(size):
        own, other = [row[place] for row in ours], [row[place] for row in theirs]
        first, second = sorted(set(own)), sorted(set(other))
        cells = table.similarities(first, second)
        total += cells[np.ix_(np.searchsorted(first, own), np.searchsorted(second, other))]
    return total / size


def _score(table: PhraseTable, ours: _Scene, theirs: _Scene) -> float:
    total = weights = 0.0
    for own, other, weight in zip(ours.numbers, theirs.numbers, WEIGHTS):
        if not own and not other:
            continue
        weights += weight
        if own and other:
            cells = _similarities(table, own, other)
            precision, recall = cells.max(axis=1).mean(), cells.max(axis=0).mean()
            if precision + recall > 0:
                total += weight * float(2 * precision * recall / (precision + recall))
    return total / weights if weights else 0.0


def _nearest(table: PhraseTable, ours: _Scene, theirs: _Scene) -> list[TupleMatch]:
    rows = []
    for own, numbers, others, other in zip(ours.tuples, ours.numbers, theirs.tuples, theirs.numbers):
        cells = _similarities(table, numbers, other) if numbers and other else np.zeros((len(own), 0))
        for item, line in zip(own, cells):
            best = int(line.argmax()) if len(line) else -1
            rows.append(
                TupleMatch(
                    item.items,
                    item.sentence,
                    float(line[best]) if len(line) else 0.0,
                    others[best].items if len(line) else (),
                )
            )
    return rows
