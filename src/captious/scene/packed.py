"""Scene graphs as flat arrays, to be kept in a file, and back again one by one when they are looked at."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from captious.memo import Arrays
from captious.ragged import IntArray, offsets_of
from captious.scene.concepts import Concept
from captious.scene.flat.concepts import Stated, stated
from captious.scene.flat.meanings import Meanings, meanings
from captious.scene.flat.merge import FlatGraphs
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
        **_worded(list(words), meanings(list(words), graphs[0].synonyms) if words else _NOTHING),
        "concepts": np.array(list(itertools.chain.from_iterable(concepts)), np.int32),
        "concept_offsets": offsets_of([len(concept) for concept in concepts]),
        "sizes": np.array(sizes, np.int32).reshape(-1, 3),
        "owners": np.array(owners, np.int32),
        "ends": np.array(ends, np.int32).reshape(-1, 2),
    }


class PackedGraphs(Sequence[SceneGraph]):
    """Graphs in arrays: each becomes an object when it is asked for, and is kept."""

    def __init__(
        self, words: Sequence[str], flat: FlatGraphs, synonyms: Synonyms, arrays: Arrays | None = None, known: Meanings | None = None
    ) -> None:
        """``flat`` names words by their place in ``words``; ``arrays`` is the same packed, and ``known`` what the words mean, where
        they are known."""
        self.words = words
        self.flat = flat
        self.synonyms = synonyms
        self._arrays = arrays
        self._known = known
        sizes = np.asarray(flat.sizes, np.int64)
        self._starts: IntArray = offsets_of(sizes.sum(axis=1))
        self._attributes, self._relations = offsets_of(sizes[:, 1]), offsets_of(sizes[:, 2])
        self._made: dict[int, SceneGraph] = {}

    @property
    def arrays(self) -> Arrays:
        """What :func:`pack` makes of the graphs: words numbered as they come."""
        if self._arrays is None:
            used, first, places = np.unique(self.flat.concepts, return_index=True, return_inverse=True)
            order = np.argsort(first)
            numbers = np.empty(len(used), np.int32)
            numbers[order] = np.arange(len(used), dtype=np.int32)
            words = [self.words[i] for i in used[order].tolist()]
            known = self.meanings.take(used[order].astype(np.int64)) if words else _NOTHING
            self._arrays = {**_worded(words, known), **self.flat._asdict(), "concepts": numbers[places.reshape(-1)]}
        return self._arrays

    @property
    def meanings(self) -> Meanings:
        """What the words mean."""
        if self._known is None:
            self._known = meanings(self.words, self.synonyms)
        return self._known

    @cached_property
    def stated(self) -> Stated:
        """All their tuples."""
        return stated(self.flat, self.words)

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
        bounds = self.flat.concept_offsets[first : last + 1].tolist()
        numbers = self.flat.concepts[bounds[0] : bounds[-1]].tolist()
        words = [
            tuple(self.words[n] for n in numbers[a - bounds[0] : b - bounds[0]]) for a, b in itertools.pairwise(bounds)
        ]
        objects, attributes, _ = self.flat.sizes[i].tolist()
        owners = self.flat.owners[self._attributes[i] : self._attributes[i + 1]].tolist()
        ends = self.flat.ends[self._relations[i] : self._relations[i + 1]].tolist()
        graph = SceneGraph((), self.synonyms)
        graph.restore(words[:objects], zip(owners, words[objects:]), zip(ends, words[objects + attributes :]))
        return graph


def unpack(arrays: Arrays, synonyms: Synonyms) -> PackedGraphs:
    """Graphs from their arrays."""
    words = arrays["words"].tobytes().decode("utf-8", "surrogatepass").split("\n")
    # Files of version 0.5 and before do not say what their words mean.
    known = Meanings.of(arrays["synsets"], arrays["synset_offsets"]) if len(arrays.get("synset_offsets", ())) == len(words) + 1 else None
    return PackedGraphs(words, FlatGraphs(*(arrays[name] for name in FlatGraphs._fields)), synonyms, arrays, known)


def packed(graphs: Sequence[SceneGraph], synonyms: Synonyms) -> PackedGraphs:
    """Graphs in arrays, wherever they come from."""
    return graphs if isinstance(graphs, PackedGraphs) else unpack(pack(graphs), synonyms)


_NOTHING = Meanings.of(np.zeros(0, np.int32), np.zeros(1, np.int64))


def _worded(words: list[str], known: Meanings) -> dict[str, NDArray[Any]]:
    return {"words": _text(words), "synsets": known.synsets, "synset_offsets": known.offsets}


def _text(words: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(words).encode("utf-8", "surrogatepass"), np.uint8)
