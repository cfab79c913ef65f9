"""SPICE (Anderson et al. 2016): agreement of scene graphs, as F1 over tuples of objects, attributes and relations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from captious.corpus import Captions, Corpus
from captious.language import Parser
from captious.language.parsers import get as get_parser
from captious.measures.base import FloatArray, Measure
from captious.measures.options import METEOR_DATA, PARSER, Option
from captious.measures.resources import Resource
from captious.progress import track
from captious.scene.build import candidate_graphs, reference_graphs
from captious.scene.categories import CATEGORIES
from captious.scene.flat.match import Side, flat_counts
from captious.scene.graph import SceneGraph
from captious.scene.match import counts
from captious.scene.packed import PackedGraphs, packed
from captious.text.synonyms import Synonyms

#: What is counted: all tuples, and the kinds that are also reported apart.
KINDS = ("All", *CATEGORIES)


class Scenes(NamedTuple):
    """What SPICE prepares: how scenes are read, and the scene of each image's references."""

    parser: Parser
    synonyms: Synonyms
    references: Sequence[SceneGraph]

    def of(self, corpus: Corpus) -> tuple[Sequence[SceneGraph], Sequence[SceneGraph], list[int]]:
        """The candidates' graphs, the references', and which of the latter belongs to each candidate."""
        # A rearranged corpus (pairs, leave-one-out) has other references than those that were prepared.
        references = reference_graphs(corpus.references, self.parser, self.synonyms)
        candidates = candidate_graphs(corpus.candidates, self.parser, self.synonyms)
        return candidates, references, corpus.images[corpus.candidates.image_of].tolist()


class Spice(Measure):
    """F1 over the tuples of a candidate's and of all references' scene graph, averaged over captions.

    The statistics of a caption are F, 1, precision, recall, hits, candidate tuples, reference tuples. In a category, a
    caption whose references have no tuple of that kind is left out: its row is zero.
    """

    summary = "F1 over objects, attributes and relations of scene graphs (Anderson et al. 2016)"
    options: ClassVar[tuple[Option, ...]] = (METEOR_DATA, PARSER)
    # The references of an image say more than any one of them.
    perfect_is_maximum = False

    def __init__(
        self, category: str = "All", meteor_data: str | Path | None = None, parser: Parser | str | None = None
    ) -> None:
        self.category = category
        self.name = "SPICE" if category == "All" else f"SPICE-{category}"
        if category != "All":
            self.summary = f"SPICE over tuples of the kind {category.lower()} alone"
        self.meteor_data = meteor_data
        self.parser = get_parser(parser)

    def resources(self) -> dict[str, Resource]:
        return {"parser": self.parser, "synonyms": Synonyms.load(self.meteor_data)}

    def prepare(self, references: Captions) -> Scenes:
        synonyms = Synonyms.load(self.meteor_data)
        return Scenes(self.parser, synonyms, reference_graphs(references, self.parser, synonyms))

    def statistics(self, corpus: Corpus, state: Scenes) -> FloatArray:
        table = tuple_counts(corpus, state)[:, KINDS.index(self.category)]
        hits, candidate, reference = table.T
        precision, recall = ratio(hits, candidate), ratio(hits, reference)
        f = ratio(2 * precision * recall, precision + recall)
        counted = np.ones_like(f) if self.category == "All" else (reference > 0).astype(np.float64)
        return np.stack([f, counted, precision, recall, hits, candidate, reference], axis=1) * counted[:, None]


def tuple_counts(corpus: Corpus, scenes: Scenes) -> FloatArray:
    """For every candidate and each of the ``KINDS``: hits, candidate tuples, reference tuples."""
    key = ("spice counts", scenes.parser.label, scenes.parser.digest, scenes.synonyms)
    return corpus.cached(key, lambda: _tuple_counts(corpus, scenes))


def _tuple_counts(corpus: Corpus, scenes: Scenes) -> FloatArray:
    candidates, references, image_of = scenes.of(corpus)
    if isinstance(candidates, PackedGraphs):
        ours, theirs = (Side(graphs.flat, graphs.words, graphs.meanings) for graphs in (candidates, packed(references, scenes.synonyms)))
        return flat_counts(ours, theirs, np.array(image_of, np.int64))
    table = np.zeros((len(candidates), len(KINDS), 3))
    for i, (graph, image) in enumerate(track(zip(candidates, image_of), "matching scenes", total=len(candidates))):
        table[i] = list(counts(graph, references[image]).values())
    return table


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Quotients, 0 where there is nothing to divide by."""
    quotient: FloatArray = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return quotient
