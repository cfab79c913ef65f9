"""SPICE-U (Wang et al. 2020): SPICE that also asks how unusual the tuples are that a caption chose to mention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from captious.corpus import Captions, Corpus
from captious.language import Parser
from captious.measures.base import FloatArray, Measure, as_statistics
from captious.measures.options import CONCEPTS, Option
from captious.measures.resources import Resource
from captious.metrics.spice import Scenes, Spice, ratio
from captious.scene.concept_table import ConceptTable
from captious.scene.flat.unusual import CountedGraphs, CountedTable, flat_uniqueness
from captious.scene.graph import SceneGraph
from captious.scene.packed import PackedGraphs, packed
from captious.scene.rules import Tuple

Concepts = ConceptTable | str | Path | None


def uniqueness(candidate: Iterable[Tuple], reference: Iterable[Tuple], table: ConceptTable) -> float:
    """Where the candidate's tuples lie between the most common and the most unusual choice of as many tuples from what
    the candidate and the references say: 0 for the most common, 1 for the most unusual, and 1 if there is no choice."""
    own = set(candidate)
    all_values = sorted(map(table.uniqueness, own | set(reference)))
    number = len(own)
    least, most = _sum(all_values[:number]), _sum(all_values[len(all_values) - number :])
    if most <= least:
        return 1.0
    # Rounding must not take the most common choice below 0 or the most unusual above 1.
    return min(1.0, max(0.0, (_sum(sorted(map(table.uniqueness, own))) - least) / (most - least)))


def _sum(values: list[float]) -> float:
    """One after the other: Python's own sum rounds in other ways from version 3.12 on."""
    return reduce(add, values, 0.0)


class UniqueScenes(NamedTuple):
    """Scenes of the references, and how many images have each tuple."""

    scenes: Scenes
    table: ConceptTable | CountedGraphs


class Uniq(Measure):
    """How unusual the tuples of a caption are, among those that the image offers."""

    name = "Uniq"
    summary = "how unusual a caption's tuples are among those the image offers (Wang et al. 2020)"
    options: ClassVar[tuple[Option, ...]] = (CONCEPTS, *Spice.options)
    perfect_is_maximum = False

    def __init__(
        self, concepts: Concepts = None, meteor_data: str | Path | None = None, parser: Parser | str | None = None
    ) -> None:
        self.concepts = ConceptTable.load(concepts) if isinstance(concepts, str | Path) else concepts
        self.spice = Spice(meteor_data=meteor_data, parser=parser)

    def check(self, corpus: Corpus | None = None) -> None:
        self.spice.check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {**self.spice.resources(), **({} if self.concepts is None else {"concepts": self.concepts})}

    def parameters(self) -> dict[str, str]:
        return {**super().parameters(), **({"concepts": "references"} if self.concepts is None else {})}

    def prepare(self, references: Captions) -> UniqueScenes:
        scenes = self.spice.prepare(references)
        if self.concepts is not None:
            return UniqueScenes(scenes, self.concepts)
        key = ("concepts", scenes.parser.label, scenes.parser.digest, scenes.synonyms)
        return UniqueScenes(scenes, references.cached(key, lambda: _counted(scenes.references)))

    def values(self, corpus: Corpus, state: UniqueScenes) -> FloatArray:
        """Uniq of every caption."""
        scenes = state.scenes
        key = ("uniqueness", state.table, scenes.parser.label, scenes.parser.digest, scenes.synonyms)
        return corpus.cached(key, lambda: self._values(corpus, state))

    def _values(self, corpus: Corpus, state: UniqueScenes) -> FloatArray:
        candidates, references, images = state.scenes.of(corpus)
        table = state.table
        if isinstance(table, CountedGraphs) or isinstance(candidates, PackedGraphs):
            ours, theirs = (packed(graphs, state.scenes.synonyms).stated for graphs in (candidates, references))
            return flat_uniqueness(ours, theirs, np.array(images, np.int64), CountedTable(table) if isinstance(table, ConceptTable) else table)
        offered = {i: references[i].tuples for i in set(images)}
        return np.array([uniqueness(graph.tuples, offered[i], table) for graph, i in zip(candidates, images)])

    def statistics(self, corpus: Corpus, state: UniqueScenes) -> FloatArray:
        return as_statistics(self.values(corpus, state))


class SpiceU(Uniq):
    """The harmonic mean of SPICE and Uniq, 0 if either is 0."""

    name = "SPICE-U"
    summary = "harmonic mean of SPICE and Uniq (Wang et al. 2020)"

    def statistics(self, corpus: Corpus, state: UniqueScenes) -> FloatArray:
        f = self.spice.statistics(corpus, state.scenes)[:, 0]
        unique = self.values(corpus, state)
        return as_statistics(ratio(2 * f * unique, f + unique))


def _counted(graphs: Sequence[SceneGraph]) -> ConceptTable | CountedGraphs:
    return CountedGraphs(graphs.stated) if isinstance(graphs, PackedGraphs) else ConceptTable.of(graph.tuples for graph in graphs)
