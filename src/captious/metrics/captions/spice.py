"""SPICE (Anderson et al. 2016): F1 over the objects, attributes and relations of scene graphs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from captious.core import limits
from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource, ratio
from captious.metrics.captions.chair_table import ObjectTable, default_table
from captious.metrics.captions.named_classes import class_graphs, no_synonyms, truth_by_classes
from captious.metrics.options import METEOR_DATA, PARSER, TRUTH, TRUTH_NAMES, Option
from captious.parser import Parser
from captious.parser.choice import get as get_parser
from captious.scene.concept_truth import ConceptTruth
from captious.scene.graphs import SceneGraphs, candidate_graphs, reference_graphs
from captious.scene.sentence_tuples import Tuple
from captious.scene.tuple_match import CATEGORIES, Matches, category_of, match_graphs
from captious.text.synonyms import Synonyms

#: Tuples that are counted: all, and the kinds that are also reported separately.
KINDS = ("All", *CATEGORIES)


#: A tuple, and whether the other side has it.
TupleHit = tuple[Tuple, bool]


class Scenes(NamedTuple):
    """Prepared state of SPICE: the reader of scenes, and the scene of each image's references."""

    parser: Parser
    synonyms: Synonyms
    references: SceneGraphs
    #: Concepts that replace the reference captions.
    truth: ConceptTruth | None = None
    #: Table that names the objects of candidates, in place of the parser.
    classes: ObjectTable | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Key of everything that is derived from the scenes of a corpus."""
        truth = None if self.truth is None else self.truth.digest
        classes = None if self.classes is None else self.classes.digest
        return self.parser.label, self.parser.digest, self.synonyms, truth, classes

    def of(self, corpus: Corpus) -> tuple[SceneGraphs, SceneGraphs, IntArray]:
        """Return the graphs of candidates and references, and the index of each candidate's references."""
        # A rearranged corpus (pairs, leave-one-out) has other references than the prepared ones.
        if self.classes is not None:
            candidates = class_graphs(corpus.candidates, self.classes)
        else:
            candidates = candidate_graphs(corpus.candidates, self.parser, self.synonyms)
        if self.truth is not None:
            references = self.truth.graphs(corpus.references.ids, self.synonyms)
            candidates = candidates.objects_only() if self.truth.only_objects else candidates
        else:
            references = reference_graphs(corpus.references, self.parser, self.synonyms)
        return candidates, references, corpus.images[corpus.candidates.image_of]


class Spice(Measure):
    """F1 over the tuples of the scene graphs of a candidate and its references, averaged over captions.

    The statistics of a caption are F, 1, precision, recall, hits, candidate tuples and reference tuples. For
    a single kind of tuple, a caption whose references have none is left out: its row is zero.
    """

    summary = "F1 over objects, attributes and relations of scene graphs (Anderson et al. 2016)"
    options: ClassVar[tuple[Option, ...]] = (METEOR_DATA, PARSER, TRUTH, TRUTH_NAMES)
    # The references of an image together have more tuples than any one of them.
    perfect_is_maximum = False

    def __init__(
        self,
        category: str = "All",
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
        truth: ConceptTruth | str | Path | None = None,
        truth_names: str | None = None,
    ) -> None:
        self.category = category
        self.name = "SPICE" if category == "All" else f"SPICE-{category}"
        if category != "All":
            self.summary = f"SPICE over tuples of the kind {category.lower()} alone"
        self.meteor_data = meteor_data
        self.parser = get_parser(parser)
        self.truth = None if truth is None else ConceptTruth.read(truth)
        self.classes = default_table() if truth_names == "classes" else None
        if self.classes is not None:
            if self.truth is None:
                raise InputError(
                    "--truth-names classes judges captions by objects of the images; add --truth FILE"
                )
            self.truth = truth_by_classes(self.truth, self.classes)

    @property
    def synonyms(self) -> Synonyms:
        """Synonyms that count as one concept. The classes of a table are distinct, so they have none."""
        return Synonyms.load(self.meteor_data) if self.classes is None else no_synonyms()

    def resources(self) -> dict[str, Resource]:
        truth: dict[str, Resource] = {} if self.truth is None else {"truth": self.truth}
        if self.classes is not None:
            truth["classes"] = self.classes
        return {"parser": self.parser, "synonyms": self.synonyms, **truth}

    def prepare(self, references: Captions) -> Scenes:
        synonyms = self.synonyms
        if self.truth is not None:
            graphs = self.truth.graphs(references.ids, synonyms)
        else:
            graphs = reference_graphs(references, self.parser, synonyms)
        return Scenes(self.parser, synonyms, graphs, self.truth, self.classes)

    def statistics(self, corpus: Corpus, state: Scenes) -> FloatArray:
        table = tuple_counts(corpus, state)[:, KINDS.index(self.category)]
        hits, candidate, reference = table.T
        precision, recall = ratio(hits, candidate), ratio(hits, reference)
        f = ratio(2 * precision * recall, precision + recall)
        counted = np.ones_like(f) if self.category == "All" else (reference > 0).astype(np.float64)
        return (
            np.stack([f, counted, precision, recall, hits, candidate, reference], axis=1) * counted[:, None]
        )

    def tuples(self, corpus: Corpus, state: Scenes) -> Iterator[tuple[list[TupleHit], list[TupleHit]]]:
        """Yield the tuples of each candidate and of its references, each with whether the other side has it.

        Only tuples of the measure's category are included.
        """
        matched = matched_tuples(corpus, state)
        for i, image in enumerate(matched.image_of.tolist()):
            own = zip(matched.candidates.tuple_table.of(i), matched.own.of(i))
            theirs = zip(matched.references.tuple_table.of(image), matched.theirs.of(i))
            yield (
                [hit for hit in own if _is_of(hit[0], self.category)],
                [hit for hit in theirs if _is_of(hit[0], self.category)],
            )


class MatchedTuples(NamedTuple):
    """Tuples of candidates and of their images' references, and which of them the other side has."""

    candidates: SceneGraphs
    references: SceneGraphs
    #: Index of each candidate's references.
    image_of: IntArray
    own: Matches
    theirs: Matches


def matched_tuples(corpus: Corpus, scenes: Scenes) -> MatchedTuples:
    """Match the tuples of every candidate with its references, in both directions."""
    candidates, references, image_of = scenes.of(corpus)
    each = np.arange(len(candidates))
    own = match_graphs(candidates, references, each, image_of)
    return MatchedTuples(
        candidates, references, image_of, own, match_graphs(references, candidates, image_of, each)
    )


def tuple_counts(corpus: Corpus, scenes: Scenes) -> FloatArray:
    """Return hits, candidate tuples and reference tuples for every candidate and each of the ``KINDS``."""
    return corpus.cached(("spice counts", *scenes.key), lambda: _tuple_counts(corpus, scenes))


def _tuple_counts(corpus: Corpus, scenes: Scenes) -> FloatArray:
    candidates, references, image_of = scenes.of(corpus)
    for graphs, captions, image in (
        (candidates, corpus.candidates, corpus.candidates.image_of),
        (references, corpus.references, np.arange(len(references))),
    ):
        objects = graphs.arrays.sizes[:, 0]
        if objects.max(initial=0) > limits.SCENE_OBJECTS.value():
            where = captions.ids[image[objects.argmax()]]
            raise limits.SCENE_OBJECTS.exceeded(f"the captions of image {where}")
    return match_graphs(candidates, references, np.arange(len(candidates)), image_of).counts.astype(
        np.float64
    )


def _is_of(item: Tuple, category: str) -> bool:
    """Return whether a tuple belongs to a category."""
    place = KINDS.index(category) - 1
    return place < 0 or len(item) == place + 1 or (len(item) == 2 and category_of(item[1]) == place > 0)
