"""Which tuples of candidates the references confirm, counted as :func:`captious.scene.match.counts` does, in arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.ragged import IntArray, offsets_of
from captious.scene.categories import CATEGORIES, kind_of
from captious.scene.flat.codes import Numbers
from captious.scene.flat.meanings import Meanings, meet
from captious.scene.flat.merge import FlatGraphs
from captious.text.vocabulary import Vocabulary
from captious.threads import side_by_side

#: Candidates that a thread takes at a time.
_BLOCK = 4096


class Side(NamedTuple):
    """Graphs, and their words with what they mean. Both sides number their words for themselves."""

    graphs: FlatGraphs
    words: Sequence[str]
    meanings: Meanings


def flat_counts(ours: Side, theirs: Side, image_of: IntArray, jobs: int | None = None) -> NDArray[np.float64]:
    """For every candidate, in all and in each category: hits, candidate tuples, reference tuples."""
    texts = Vocabulary(theirs.words)
    numbers = texts.encode(ours.words)
    known = theirs.meanings + ours.meanings.take(np.flatnonzero(numbers >= len(theirs.words)))
    references, candidates = _own(theirs.graphs), _own(ours.graphs)
    if len(candidates.concepts):
        candidates = candidates._replace(concepts=numbers[candidates.concepts])
    kinds = np.array([kind_of(text) for text in texts.words], np.int32)
    table = np.zeros((len(candidates.sizes), 1 + len(CATEGORIES), 3), np.int64)
    starts = (_starts(candidates.sizes), _starts(references.sizes))
    most = int(candidates.sizes[:, 0].max(initial=0)), int(references.sizes[:, 0].max(initial=0))
    image_of = np.ascontiguousarray(image_of, np.int64)

    def run(bound: tuple[int, int]) -> None:
        first, last = bound
        near = np.zeros(most, np.bool_)
        # Every tuple is held against those of its kind: a few long captions are as much work as many short ones.
        pairs = candidates.sizes[first:last].astype(np.int64) * references.sizes[image_of[first:last]]
        _count.pick(50 * int(pairs.sum()))(first, last, candidates, references, *starts, image_of, known, kinds, near, table)

    blocks = list(itertools.pairwise([*range(0, len(table), _BLOCK), len(table)]))
    for _ in side_by_side(run, blocks, jobs):
        pass
    return table.astype(np.float64)


def _own(graphs: FlatGraphs) -> FlatGraphs:
    """Arrays of this process: those of a prepared file are mapped, and a kernel would be compiled for them anew."""
    kinds = (np.int32, np.int64, np.int32, np.int32, np.int32)
    return FlatGraphs(*(np.require(np.asarray(array), kind, ["C", "W", "O"]) for array, kind in zip(graphs, kinds)))


def _starts(sizes: Numbers) -> IntArray:
    """Where the concepts, attributes and relations of each graph start."""
    wide = sizes.astype(np.int64)
    return np.stack([offsets_of(wide.sum(axis=1)), offsets_of(wide[:, 1]), offsets_of(wide[:, 2])], axis=1)


@kernel
def _similar(ours, i, theirs, j, meanings):  # type: ignore[no-untyped-def]
    """Whether two concepts share a word or a synset."""
    for a in range(ours.concept_offsets[i], ours.concept_offsets[i + 1]):
        one = ours.concepts[a]
        for b in range(theirs.concept_offsets[j], theirs.concept_offsets[j + 1]):
            other = theirs.concepts[b]
            if one == other or meet(meanings, one, other):
                return True
    return False


@kernel
def _kind(graphs, concept, kinds):  # type: ignore[no-untyped-def]
    """The category of an attribute, 0 for none: one with several words is in none."""
    first = graphs.concept_offsets[concept]
    return kinds[graphs.concepts[first]] if graphs.concept_offsets[concept + 1] == first + 1 else 0


@kernel
def _count(first, last, ours, theirs, own_starts, their_starts, image_of, meanings, kinds, near, table):  # type: ignore[no-untyped-def]
    for c in range(first, last):
        g = image_of[c]
        row = table[c]
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
            row[1, 0] += hit
        for j in range(theirs.sizes[g, 1]):
            category = _kind(theirs, others + their_objects + j, kinds)
            if category:
                row[1 + category, 2] += 1
        for i in range(ours.sizes[c, 1]):
            owner = ours.owners[attributes + i]
            own = concepts + objects + i
            category = _kind(ours, own, kinds)
            hit, same = False, False
            for j in range(theirs.sizes[g, 1]):
                other = others + their_objects + j
                if near[owner, theirs.owners[their_attributes + j]] and _similar(ours, own, theirs, other, meanings):
                    hit = True
                    if category and _kind(theirs, other, kinds) == category:
                        same = True
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
                    row[3, 0] += 1
                    break
        for k in range(3):
            row[0, k] = row[1, k] + row[2, k] + row[3, k]
