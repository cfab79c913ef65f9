"""CAPTURE (Dong et al. 2024): objects, attributes and relations of detailed descriptions, matched softly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.threads import one_blas_thread
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics, ratio
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
    """Tuples of a caption by their length, and the phrases by which they are compared, as numbers."""

    tuples: tuple[list[SentenceTuple], ...]
    #: Objects: the name. Attributes: the attribute alone. Relations: subject, relation and object.
    numbers: tuple[list[list[int]], ...]
    #: The same as one phrase.
    joined: tuple[list[int], ...]


class Capture(Measure):
    """Mean over references of (0.5 objects + 0.5 attributes + 0.2 relations) / 1.2, each an F1.

    Equal phrases are matched one to one, then synonyms and phrases with a common main word. Each of the
    others counts by its highest cosine with an unmatched phrase of the other side (distilled caption
    vectors). A kind that neither side has does not count.
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
        return as_statistics(ratio(values, counts))

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
                tuple([number for other in own for number in other.joined[k]] for k in range(3)),
            )
            yield _nearest(table, scene, merged), _nearest(table, merged, scene)

    def _scenes(self, corpus: Corpus) -> tuple[PhraseTable, list[_Scene], list[_Scene]]:
        def make() -> tuple[PhraseTable, list[_Scene], list[_Scene]]:
            sides = [paragraph_tuples(side, self.parser) for side in (corpus.candidates, corpus.references)]
            phrases = {
                phrase
                for side in sides
                for row in side
                for item in row
                for phrase in (*item.items, " ".join(item.items))
            }
            table = PhraseTable(phrases, load().words, Synonyms.load(self.meteor_data))
            ours, theirs = ([_scene(row, table) for row in side] for side in sides)
            return table, ours, theirs

        key = ("capture scenes", self.parser.label, self.parser.digest, str(self.meteor_data))
        return corpus.cached(key, make)


def _scene(row: list[SentenceTuple], table: PhraseTable) -> _Scene:
    kinds = tuple([item for item in row if len(item.items) == size] for size in (1, 2, 3))
    compared = [[item.items[1:] if len(item.items) == 2 else item.items for item in kind] for kind in kinds]
    return _Scene(
        kinds,
        tuple([[table.numbers[phrase] for phrase in items] for items in kind] for kind in compared),
        tuple([table.numbers[" ".join(items)] for items in kind] for kind in compared),
    )


class _Cells(NamedTuple):
    """Phrases of one kind on both sides: which match, and cosines."""

    is_match: NDArray[np.bool_]
    cosines: FloatArray


def _cells(table: PhraseTable, ours: _Scene, theirs: _Scene, kind: int) -> _Cells:
    """Compare all phrases of one kind. A relation matches in all of its places."""
    own, other = np.array(ours.numbers[kind]), np.array(theirs.numbers[kind])
    is_match = np.ones((len(own), len(other)), np.bool_)
    for place in range(own.shape[1]):
        first, row = np.unique(own[:, place], return_inverse=True)
        second, column = np.unique(other[:, place], return_inverse=True)
        cells = table.similarities(first.tolist(), second.tolist(), cosines=False)
        is_match &= cells[np.ix_(row, column)] == 1.0
    return _Cells(is_match, table.cosines(ours.joined[kind], theirs.joined[kind]))


def _f1(table: PhraseTable, ours: _Scene, theirs: _Scene, kind: int) -> float:
    """Return the F1 of one kind, which both sides have."""
    own, other = ours.joined[kind], theirs.joined[kind]
    cells = _cells(table, ours, theirs, kind)
    free = dict.fromkeys(range(len(other)))
    left: list[int] = []
    places: dict[int, list[int]] = {}
    for j, number in enumerate(other):
        places.setdefault(number, []).append(j)
    for i, number in enumerate(own):
        if places.get(number):
            del free[places[number].pop(0)]
        else:
            left.append(i)
    unmatched = []
    for i in left:
        match = next((j for j in np.flatnonzero(cells.is_match[i]).tolist() if j in free), -1)
        if match >= 0:
            del free[match]
        else:
            unmatched.append(i)
    matched = len(own) - len(unmatched)
    near = cells.cosines[np.ix_(unmatched, list(free))]
    precision = (matched + near.max(axis=1, initial=0.0).sum()) / len(own)
    recall = (matched + near.max(axis=0, initial=0.0).sum()) / len(other)
    return float(2 * precision * recall / (precision + recall)) if precision + recall > 0 else 0.0


def _score(table: PhraseTable, ours: _Scene, theirs: _Scene) -> float:
    total = weights = 0.0
    for kind, weight in enumerate(WEIGHTS):
        own, other = ours.tuples[kind], theirs.tuples[kind]
        if own or other:
            weights += weight
        if own and other:
            total += weight * _f1(table, ours, theirs, kind)
    return total / weights if weights else 0.0


def _nearest(table: PhraseTable, ours: _Scene, theirs: _Scene) -> list[TupleMatch]:
    rows = []
    for kind, (own, others) in enumerate(zip(ours.tuples, theirs.tuples)):
        if not own or not others:
            rows += [TupleMatch(item.items, item.sentence, 0.0, ()) for item in own]
            continue
        cells = _cells(table, ours, theirs, kind)
        similarities = np.where(cells.is_match, 1.0, cells.cosines)
        # Of attributes that are equally near, that of the same object.
        subjects = [[table.numbers[item.items[0]] for item in side] for side in (own, others)]
        best = (similarities + 1e-6 * table.cosines(*subjects)).argmax(axis=1).tolist()
        rows += [
            TupleMatch(item.items, item.sentence, float(line[k]), others[k].items)
            for item, line, k in zip(own, similarities, best)
        ]
    return rows
