"""SPICE (Anderson et al. 2016): agreement of scene graphs, as F1 over tuples of objects, attributes and relations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from captious.collector import collector_paused
from captious.corpus import Captions, Corpus
from captious.language import parser_name
from captious.metrics.base import FloatArray, Metric
from captious.progress import track
from captious.scene.build import caption_tuples, reference_graphs
from captious.scene.categories import CATEGORIES
from captious.scene.graph import SceneGraph
from captious.scene.match import counts
from captious.text.meteor_data import find
from captious.text.synonyms import Synonyms

#: What is counted: all tuples, and the kinds that are also reported apart.
KINDS = ("All", *CATEGORIES)


class Spice(Metric):
    """F1 over the tuples of a candidate's and of all references' scene graph, averaged over captions.

    The statistics of a caption are F, 1, precision, recall, hits, candidate tuples, reference tuples. In a category, a
    caption whose references have no tuple of that kind is left out: its row is zero.
    """

    summary = "F1 over objects, attributes and relations of scene graphs (Anderson et al. 2016)"
    needs = frozenset({"references", "meteor-data"})
    options = ("meteor_data",)
    # The references of an image say more than any one of them.
    perfect_is_maximum = False

    #: Names of the columns of ``statistics``.
    columns = ("f", "count", "precision", "recall", "hits", "candidate_tuples", "reference_tuples")

    def __init__(self, category: str = "All", meteor_data: str | Path | None = None) -> None:
        self.category = category
        self.name = "SPICE" if category == "All" else f"SPICE-{category}"
        if category != "All":
            self.summary = f"SPICE over tuples of the kind {category.lower()} alone"
        self.meteor_data = meteor_data

    def check(self) -> None:
        find(self.meteor_data)

    def statistics(self, corpus: Corpus) -> FloatArray:
        table = tuple_counts(corpus, Synonyms.load(self.meteor_data))[:, KINDS.index(self.category)]
        hits, candidate, reference = table.T
        precision, recall = ratio(hits, candidate), ratio(hits, reference)
        f = ratio(2 * precision * recall, precision + recall)
        counted = np.ones_like(f) if self.category == "All" else (reference > 0).astype(np.float64)
        return np.stack([f, counted, precision, recall, hits, candidate, reference], axis=1) * counted[:, None]

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        return {"parser": parser_name(), "synonyms": "wordnet(meteor-1.5)"}


def tuple_counts(corpus: Corpus, synonyms: Synonyms) -> FloatArray:
    """For every candidate and each of the ``KINDS``: hits, candidate tuples, reference tuples."""
    return corpus.cached(("spice counts", synonyms), lambda: _tuple_counts(corpus, synonyms))


def _tuple_counts(corpus: Corpus, synonyms: Synonyms) -> FloatArray:
    references = reference_graphs(corpus.references, synonyms)
    candidates = candidate_graphs(corpus.candidates, synonyms)
    image_of = corpus.candidates.image_of.tolist()
    table = np.zeros((len(candidates), len(KINDS), 3))
    for i, (graph, image) in enumerate(track(zip(candidates, image_of), "matching scenes", total=len(candidates))):
        table[i] = list(counts(graph, references[image]).values())
    return table


def candidate_graphs(captions: Captions, synonyms: Synonyms) -> list[SceneGraph]:
    """One graph per caption."""
    return captions.cached(("scene graph of each", synonyms), lambda: _graph_of_each(captions, synonyms))


def _graph_of_each(captions: Captions, synonyms: Synonyms) -> list[SceneGraph]:
    stated = caption_tuples(captions)
    with collector_paused():
        return [SceneGraph(own, synonyms) for own in stated]


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Quotients, 0 where there is nothing to divide by."""
    quotient: FloatArray = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return quotient
