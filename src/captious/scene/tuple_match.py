"""Which tuples of a scene graph another one confirms, and the categories of tuples that SPICE reports."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray, offsets_of
from captious.core.threads import for_each
from captious.kernels import inner, kernel
from captious.kernels.types import Bool, Boolx2, Int32, Int64, Int64x2, Int64x3, Out
from captious.parser.graph_codes import word_set
from captious.scene.graphs import SceneGraph, SceneGraphs
from captious.scene.merging import GraphArrays, Meanings, share_synset
from captious.text.vocabulary import Vocabulary

#: Tuples of one, two and three places, and the kinds of attributes.
CATEGORIES = ("Object", "Attribute", "Relation", "Cardinality", "Color", "Size")

NUMBERS = word_set("one two three four five six seven eight nine ten")

# The words that the reference counts as colours and sizes were found by probing it with one word after the
# other.
COLORS = word_set(
    "beige black blue brown cream dark gray green grey light maroon orange pink purple red violet white "
    "yellow"
)
SIZES = word_set(
    "baby beefy big bony boundless brawny broad bulky chunky colossal compact corpulent cosmic curvy "
    "elfin emaciated endless enormous epic expansive extensive fat fleshy full-size gargantuan gaunt "
    "giant gigantic grand great heavy hefty huge illimitable immeasurable immense infinitesimal lanky "
    "large lean life-size limitless little mammoth massive meager measly microscopic mini miniature "
    "minuscule minute narrow obese oversize overweight paltry petite pint-size plump pocket-size portly "
    "pudgy puny rotund scanty scrawny short sizable skeletal skimpy skinny slender slim small squat "
    "stocky stout strapping sturdy tall teensy teeny teeny-tiny thick thickset thin tiny titanic towering "
    "trifling trim tubby undersized underweight unlimited vast wee whopping wide"
)


def category_of(word: str) -> int:
    """Return the place in ``CATEGORIES`` of an attribute of one word, or 0 if it is in no list."""
    return 3 if word in NUMBERS else 4 if word in COLORS else 5 if word in SIZES else 0


#: Pairs of graphs per task of a thread.
_BLOCK = 4096

#: Hits, candidate tuples, reference tuples.
Counts = tuple[int, int, int]


class Match(NamedTuple):
    """Hits in a candidate, in the order of its ``tuples``: objects, attributes, relations."""

    objects: list[bool]
    attributes: list[bool]
    relations: list[bool]

    @property
    def hits(self) -> list[bool]:
        """One truth value per tuple of the candidate."""
        return [*self.objects, *self.attributes, *self.relations]


class Matches(NamedTuple):
    """Hits of many pairs of graphs.

    Pair p has ``hits[offsets[p]:offsets[p + 1]]``, one truth value per tuple of its candidate.
    """

    hits: NDArray[np.bool_]
    offsets: IntArray
    #: For each pair, in all and in each category: hits, candidate tuples, reference tuples.
    counts: IntArray

    def of(self, pair: int) -> list[bool]:
        """Return the hits of one pair."""
        hits: list[bool] = self.hits[self.offsets[pair] : self.offsets[pair + 1]].tolist()
        return hits


def match(candidate: SceneGraph, reference: SceneGraph) -> Match:
    """Find the tuples of a candidate that a reference confirms.

    A candidate tuple is a hit if some reference tuple of the same length is similar in every place: it shares
    a word or a synset.
    """
    hits = _match_one(candidate, reference).hits.tolist()
    objects, attributes, _ = candidate.sizes
    return Match(hits[:objects], hits[objects : objects + attributes], hits[objects + attributes :])


def counts(candidate: SceneGraph, reference: SceneGraph) -> dict[str, Counts]:
    """Count hits, candidate tuples and reference tuples in "All" and in each of the ``CATEGORIES``.

    A number, colour or size is a hit in its category if it is similar to a reference attribute of the same
    category.
    """
    [table] = _match_one(candidate, reference).counts.tolist()
    return {name: (hits, own, theirs) for name, (hits, own, theirs) in zip(("All", *CATEGORIES), table)}


def _match_one(candidate: SceneGraph, reference: SceneGraph) -> Matches:
    first = np.zeros(1, np.int64)
    return match_graphs(candidate.alone, reference.alone, first, first)


def match_graphs(
    ours: SceneGraphs,
    theirs: SceneGraphs,
    own_of: IntArray,
    their_of: IntArray,
    jobs: int | None = None,
) -> Matches:
    """Match pairs of graphs.

    Pair p is the candidate ``ours[own_of[p]]`` and the reference ``theirs[their_of[p]]``.
    """
    texts = Vocabulary(theirs.words)
    numbers = texts.encode(ours.words)
    meanings = theirs.meanings + ours.meanings.take(np.flatnonzero(numbers >= len(theirs.words)))
    candidates = ours.arrays
    if len(candidates.concepts):
        candidates = candidates._replace(concepts=numbers[candidates.concepts])
    categories = np.array([category_of(text) for text in texts.words], np.int32)
    own_of, their_of = (np.ascontiguousarray(pairs, np.int64) for pairs in (own_of, their_of))
    offsets = offsets_of(candidates.sizes.sum(axis=1, dtype=np.int64)[own_of])
    hits = np.zeros(int(offsets[-1]), np.bool_)
    table = np.zeros((len(own_of), 1 + len(CATEGORIES), 3), np.int64)
    most = int(candidates.sizes[:, 0].max(initial=0)), int(theirs.arrays.sizes[:, 0].max(initial=0))

    def run(bound: tuple[int, int]) -> None:
        first, last = bound
        near = np.zeros(most, np.bool_)
        _match(
            first, last, candidates, theirs.arrays, ours.starts, theirs.starts, own_of, their_of,
            meanings, categories, offsets, near, hits, table,
        )  # fmt: skip

    blocks = list(itertools.pairwise([*range(0, len(table), _BLOCK), len(table)]))
    for_each(run, blocks, jobs)
    return Matches(hits, offsets, table)


def precision_recall_f(counts: Counts) -> tuple[float, float, float]:
    """Return precision, recall and their harmonic mean, each 0 where there is nothing to divide by."""
    hits, candidate, reference = counts
    precision = hits / candidate if candidate else 0.0
    recall = hits / reference if reference else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


@inner
def _similar(ours: GraphArrays, i: int, theirs: GraphArrays, j: int, meanings: Meanings) -> bool:
    """Tell whether two concepts share a word or a synset."""
    for a in range(ours.concept_offsets[i], ours.concept_offsets[i + 1]):
        one = ours.concepts[a]
        for b in range(theirs.concept_offsets[j], theirs.concept_offsets[j + 1]):
            other = theirs.concepts[b]
            if one == other or share_synset(meanings, one, other):
                return True
    return False


@inner
def _category(graphs: GraphArrays, concept: int, categories: Int32) -> int:
    """Return the category of an attribute, or 0. An attribute with several words has none."""
    first = graphs.concept_offsets[concept]
    return categories[graphs.concepts[first]] if graphs.concept_offsets[concept + 1] == first + 1 else 0


@kernel
def _match(
    first: int,
    last: int,
    ours: GraphArrays,
    theirs: GraphArrays,
    own_starts: Int64x2,
    their_starts: Int64x2,
    own_of: Int64,
    their_of: Int64,
    meanings: Meanings,
    categories: Int32,
    offsets: Int64,
    near: Out[Boolx2],
    hits: Out[Bool],
    table: Out[Int64x3],
) -> None:
    """Match the pairs `first` to `last`. `near` holds which objects of a pair are similar."""
    for p in range(first, last):
        c, g = own_of[p], their_of[p]
        row = table[p]
        own_hits = hits[offsets[p] : offsets[p + 1]]
        concepts, attributes, relations = own_starts[c, 0], own_starts[c, 1], own_starts[c, 2]
        others, their_attributes, their_relations = their_starts[g, 0], their_starts[g, 1], their_starts[g, 2]
        for k in range(3):
            row[1 + k, 1] = ours.sizes[c, k]
            row[1 + k, 2] = theirs.sizes[g, k]
        objects, their_objects = ours.sizes[c, 0], theirs.sizes[g, 0]
        for i in range(objects):
            hit = False
            for j in range(their_objects):
                near[i, j] = _similar(ours, concepts + i, theirs, others + j, meanings)
                hit = hit or near[i, j]
            own_hits[i] = hit
            row[1, 0] += hit
        for j in range(theirs.sizes[g, 1]):
            category = _category(theirs, others + their_objects + j, categories)
            if category:
                row[1 + category, 2] += 1
        for i in range(ours.sizes[c, 1]):
            owner = ours.owners[attributes + i]
            own = concepts + objects + i
            category = _category(ours, own, categories)
            hit, same = False, False
            for j in range(theirs.sizes[g, 1]):
                other = others + their_objects + j
                if near[owner, theirs.owners[their_attributes + j]] and _similar(
                    ours, own, theirs, other, meanings
                ):
                    hit = True
                    if category and _category(theirs, other, categories) == category:
                        same = True
            own_hits[objects + i] = hit
            row[2, 0] += hit
            if category:
                row[1 + category, 0] += same
                row[1 + category, 1] += 1
        for i in range(ours.sizes[c, 2]):
            subject, target = ours.ends[relations + i, 0], ours.ends[relations + i, 1]
            own = concepts + objects + ours.sizes[c, 1] + i
            for j in range(theirs.sizes[g, 2]):
                at = their_relations + j
                if (
                    near[subject, theirs.ends[at, 0]]
                    and near[target, theirs.ends[at, 1]]
                    and _similar(ours, own, theirs, others + their_objects + theirs.sizes[g, 1] + j, meanings)
                ):
                    own_hits[objects + ours.sizes[c, 1] + i] = True
                    row[3, 0] += 1
                    break
        for k in range(3):
            row[0, k] = row[1, k] + row[2, k] + row[3, k]
