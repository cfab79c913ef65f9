"""SPICE-U (Wang et al. 2020): SPICE that also asks how unusual the tuples are that a caption chose to mention."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from captious.corpus import Corpus
from captious.metrics.base import FloatArray, Metric, as_statistics
from captious.metrics.spice import Spice, candidate_graphs, ratio
from captious.scene.build import reference_graphs
from captious.scene.concept_table import ConceptTable
from captious.scene.rules import Tuple
from captious.text.synonyms import Synonyms

Concepts = ConceptTable | str | Path | None


def uniqueness(candidate: Iterable[Tuple], reference: Iterable[Tuple], table: ConceptTable) -> float:
    """Where the candidate's tuples lie between the most common and the most unusual choice of as many tuples from what
    the candidate and the references say: 0 for the most common, 1 for the most unusual, and 1 if there is no choice."""
    own = set(candidate)
    all_values = sorted(map(table.uniqueness, own | set(reference)))
    number = len(own)
    least, most = sum(all_values[:number]), sum(all_values[len(all_values) - number :])
    if most <= least:
        return 1.0
    # Rounding must not take the most common choice below 0 or the most unusual above 1.
    return min(1.0, max(0.0, (sum(sorted(map(table.uniqueness, own))) - least) / (most - least)))


class Uniq(Metric):
    """How unusual the tuples of a caption are, among those that the image offers."""

    name = "Uniq"
    summary = "how unusual a caption's tuples are among those the image offers (Wang et al. 2020)"
    needs = frozenset({"references", "meteor-data"})
    options = ("concepts", "meteor_data")
    perfect_is_maximum = False

    def __init__(self, concepts: Concepts = None, meteor_data: str | Path | None = None) -> None:
        self.concepts = ConceptTable.load(concepts) if isinstance(concepts, str | Path) else concepts
        self.spice = Spice(meteor_data=meteor_data)

    def check(self) -> None:
        self.spice.check()

    def table(self, corpus: Corpus) -> ConceptTable:
        """The table given, or that of the references of the run."""
        if self.concepts is not None:
            return self.concepts
        synonyms = Synonyms.load(self.spice.meteor_data)
        return corpus.references.cached(
            ("concepts", synonyms),
            lambda: ConceptTable.of(graph.tuples for graph in reference_graphs(corpus.references, synonyms)),
        )

    def values(self, corpus: Corpus) -> FloatArray:
        """Uniq of every caption."""
        table = self.table(corpus)
        return corpus.cached(("uniqueness", table), lambda: self._values(corpus, table))

    def _values(self, corpus: Corpus, table: ConceptTable) -> FloatArray:
        synonyms = Synonyms.load(self.spice.meteor_data)
        references = [graph.tuples for graph in reference_graphs(corpus.references, synonyms)]
        candidates = candidate_graphs(corpus.candidates, synonyms)
        images = corpus.candidates.image_of.tolist()
        return np.array([uniqueness(graph.tuples, references[i], table) for graph, i in zip(candidates, images)])

    def statistics(self, corpus: Corpus) -> FloatArray:
        return as_statistics(self.values(corpus))

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        table = self.table(corpus)
        where = "references" if self.concepts is None else table.digest
        return {**self.spice.signature_fields(corpus), "concepts": f"{where}({table.images})"}


class SpiceU(Uniq):
    """The harmonic mean of SPICE and Uniq, 0 if either is 0."""

    name = "SPICE-U"
    summary = "harmonic mean of SPICE and Uniq (Wang et al. 2020)"

    def statistics(self, corpus: Corpus) -> FloatArray:
        f = self.spice.statistics(corpus)[:, 0]
        unique = self.values(corpus)
        return as_statistics(ratio(2 * f * unique, f + unique))
