"""SPICE-U (Wang et al. 2020): SPICE that also measures how unusual a caption's tuples are."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from captious.corpus import Captions, Corpus
from captious.io import CaptionWarning
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics, ratio
from captious.metrics.captions.spice import Scenes, Spice
from captious.metrics.options import CONCEPTS, Option
from captious.parser import Parser
from captious.scene.concept_truth import ConceptTruth
from captious.scene.uniqueness import (
    ConceptTable,
    JoinedConcepts,
    TupleFrequencies,
    read_concepts,
    uniqueness,
)

Concepts = ConceptTable | JoinedConcepts | str | Path | None


class UniqueScenes(NamedTuple):
    """Scenes of the references, and the number of images that have each tuple."""

    scenes: Scenes
    table: ConceptTable | JoinedConcepts | TupleFrequencies


class Uniq(Measure):
    """How unusual the tuples of a caption are among those of the image."""

    name = "Uniq"
    summary = "how unusual a caption's tuples are among those the image offers (Wang et al. 2020)"
    options: ClassVar[tuple[Option, ...]] = (CONCEPTS, *Spice.options)
    perfect_is_maximum = False

    def __init__(
        self,
        concepts: Concepts = None,
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
        truth: ConceptTruth | str | Path | None = None,
        truth_names: str | None = None,
    ) -> None:
        self.concepts = read_concepts(concepts) if isinstance(concepts, str | Path) else concepts
        self.spice = Spice(meteor_data=meteor_data, parser=parser, truth=truth, truth_names=truth_names)

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
        make = lambda: TupleFrequencies(scenes.references.tuple_table)  # noqa: E731
        return UniqueScenes(scenes, references.cached(("concepts", *scenes.key), make))

    def values(self, corpus: Corpus, state: UniqueScenes) -> FloatArray:
        """Return Uniq of every caption."""
        scenes = state.scenes
        return corpus.cached(("uniqueness", state.table, *scenes.key), lambda: self._values(corpus, state))

    def _values(self, corpus: Corpus, state: UniqueScenes) -> FloatArray:
        candidates, references, image_of = state.scenes.of(corpus)
        return uniqueness(candidates.tuple_table, references.tuple_table, image_of, state.table)

    def statistics(self, corpus: Corpus, state: UniqueScenes) -> FloatArray:
        values = self.values(corpus, state)
        self._warn_of_empty(corpus, state, values)
        return as_statistics(values)

    def _warn_of_empty(self, corpus: Corpus, state: UniqueScenes, values: FloatArray) -> None:
        """Warn if captions without tuples, which count as 1, raise the mean."""
        has_tuples = np.diff(state.scenes.of(corpus)[0].tuple_table.offsets) > 0
        others = values[has_tuples]
        if has_tuples.all() or (len(others) and others.mean() >= values.mean()):
            return
        rest = f"; the mean of the others is {others.mean():.4f}" if len(others) else ""
        warnings.warn(
            CaptionWarning(
                f"{corpus.name}: {int((~has_tuples).sum()):,} of {len(values):,} captions name nothing (they "
                f"are empty, or have no noun), and {self.name} counts them as 1, as the authors' code does"
                f"{rest}. SPICE-U counts them as 0"
            ),
            stacklevel=4,
        )


class SpiceU(Uniq):
    """Harmonic mean of SPICE and Uniq, 0 if either is 0."""

    name = "SPICE-U"
    summary = "harmonic mean of SPICE and Uniq (Wang et al. 2020)"

    def statistics(self, corpus: Corpus, state: UniqueScenes) -> FloatArray:
        f = self.spice.statistics(corpus, state.scenes)[:, 0]
        unique = self.values(corpus, state)
        return as_statistics(ratio(2 * f * unique, f + unique))
