"""Scene graphs as flat arrays, to be kept in a file, and back again one by one when they are looked at."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import overload

import numpy as np

from captious.memo import Arrays
from captious.ragged import IntArray, offsets_of
from captious.scene.concepts import Concept
from captious.scene.graph import SceneGraph
from captious.text.synonyms import Synonyms


def pack(graphs: Sequence[SceneGraph]) -> Arrays:
    """Concepts in the order objects, attributes of each object, relations; a concept is a run of words."""
    if isinstance(graphs, PackedGraphs):
        return graphs.arrays
    words: dict[str, int] = {}
    concepts: list[list[int]] = []
    sizes: list[tuple[int, int, int]] = []
    owners: list[int] = []
    ends: list[tuple[int, int]] = []

    def add(concept: Concept) -> None:
        concepts.append([words.setdefault(word, len(words)) for word in concept.words])

    for graph in graphs:
        sizes.append(graph.sizes)
        for concept in graph.concepts:
            add(concept)
        for place, attributes in enumerate(graph.attribute_concepts):
            for concept in attributes:
                add(concept)
                owners.append(place)
        for pair, relations in graph.relation_concepts.items():
            for concept in relations:
                add(concept)
                ends.append(pair)
    return {
        "words": np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), np.uint8),
        "concepts": np.array(list(itertools.chain.from_iterable(concepts)), np.int32),
        "concept_offsets": offsets_of([len(concept) for concept in concepts]),
        "sizes": np.array(sizes, np.int32).reshape(-1, 3),
        "owners": np.array(owners, np.int32),
        "ends": np.array(ends, np.int32).reshape(-1, 2),
    }


class PackedGraphs(Sequence[SceneGraph]):
    """Graphs in arrays: each becomes an object when it is asked for, and is kept."""

    def __init__(self, arrays: Arrays, synonyms: Synonyms) -> None:
        self.arrays = arrays
        self.synonyms = synonyms
        self._words = arrays["words"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        sizes = np.asarray(arrays["sizes"], np.int64)
        self._starts: IntArray = offsets_of(sizes.sum(axis=1))
        self._attributes, self._relations = offsets_of(sizes[:, 1]), offsets_of(sizes[:, 2])
        self._made: dict[int, SceneGraph] = {}

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, i: int) -> SceneGraph: ...
    @overload
    def __getitem__(self, i: slice) -> list[SceneGraph]: ...
    def __getitem__(self, i: int | slice) -> SceneGraph | list[SceneGraph]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        i %= len(self)
        if i not in self._made:
            # Two threads may both make it: they make the same.
            self._made[i] = self._make(i)
        return self._made[i]

    def _make(self, i: int) -> SceneGraph:
        first, last = int(self._starts[i]), int(self._starts[i + 1])
        bounds = self.arrays["concept_offsets"][first : last + 1].tolist()
        numbers = self.arrays["concepts"][bounds[0] : bounds[-1]].tolist()
        words = [
            tuple(self._words[n] for n in numbers[a - bounds[0] : b - bounds[0]]) for a, b in itertools.pairwise(bounds)
        ]
        concepts = [Concept.joined(own, self.synonyms) for own in words]
        objects, attributes, _ = self.arrays["sizes"][i].tolist()
        graph = SceneGraph((), self.synonyms)
        graph.concepts = concepts[:objects]
        graph.attribute_concepts = [[] for _ in range(objects)]
        owners = self.arrays["owners"][self._attributes[i] : self._attributes[i + 1]].tolist()
        for owner, concept in zip(owners, concepts[objects : objects + attributes]):
            graph.attribute_concepts[owner].append(concept)
        ends = self.arrays["ends"][self._relations[i] : self._relations[i + 1]].tolist()
        for (subject, target), concept in zip(ends, concepts[objects + attributes :]):
            graph.relation_concepts.setdefault((subject, target), []).append(concept)
        return graph


def unpack(arrays: Arrays, synonyms: Synonyms) -> PackedGraphs:
    """Graphs from their arrays."""
    return PackedGraphs(arrays, synonyms)
