"""The tuples of many graphs as rows of numbers of names, as :attr:`captious.scene.graph.SceneGraph.tuples` gives them one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from captious.corpus import distinct_runs
from captious.ragged import IntArray, offsets_of, runs
from captious.scene.concepts import joined_name
from captious.scene.flat.codes import Numbers
from captious.scene.flat.merge import FlatGraphs
from captious.scene.rules import Tuple
from captious.text.vocabulary import Vocabulary


class Stated(NamedTuple):
    """Graph g states ``rows[offsets[g]:offsets[g + 1]]``: three numbers of ``names`` each, −1 for places that a tuple does not have."""

    names: list[str]
    rows: Numbers
    offsets: IntArray

    def of_graphs(self, graphs: IntArray) -> Stated:
        """What some of the graphs state, with the names that occur there."""
        chosen, offsets = runs(self.offsets, graphs)
        rows = self.rows[chosen]
        used = np.zeros(len(self.names) + 1, np.bool_)
        used[rows] = True
        used[-1] = False
        numbers = np.cumsum(used, dtype=np.int32) - 1
        numbers[-1] = -1
        return Stated([self.names[i] for i in np.flatnonzero(used).tolist()], numbers[rows], offsets)

    def tuples(self) -> Iterator[Tuple]:
        """All of them as texts, graph by graph."""
        return (tuple(self.names[number] for number in row if number >= 0) for row in self.rows.tolist())


def stated(graphs: FlatGraphs, words: Sequence[str]) -> Stated:
    """What graphs state, whose words are named by their place in ``words``."""
    names, numbers = _named(graphs, words)
    sizes = np.asarray(graphs.sizes, np.int64)
    starts = offsets_of(sizes.sum(axis=1))
    objects, attributes, relations = (np.repeat(np.arange(len(sizes)), sizes[:, kind]) for kind in range(3))
    # A concept stands at the start of its graph, after those of the kinds before it, in its turn.
    own = [starts[of] + sizes[of, :kind].sum(axis=1) + _turn(sizes[:, kind]) for kind, of in enumerate((objects, attributes, relations))]
    rows = np.full((int(starts[-1]), 3), -1, np.int32)
    rows[own[0], 0] = numbers[own[0]]
    rows[own[1], 0] = numbers[starts[attributes] + graphs.owners]
    rows[own[1], 1] = numbers[own[1]]
    rows[own[2], 0] = numbers[starts[relations] + graphs.ends[:, 0]]
    rows[own[2], 1] = numbers[own[2]]
    rows[own[2], 2] = numbers[starts[relations] + graphs.ends[:, 1]]
    return Stated(names, rows, starts)


def _turn(counts: IntArray) -> IntArray:
    return runs(offsets_of(counts), np.arange(len(counts)))[0] - np.repeat(offsets_of(counts)[:-1], counts)


def _named(graphs: FlatGraphs, words: Sequence[str]) -> tuple[list[str], Numbers]:
    """The name of each concept: equal names are one number, whatever they are made of."""
    # Arrays of this process: those of a prepared file are mapped, and a kernel would be compiled for them anew.
    concepts, bounds = (np.require(np.asarray(array), kind, ["C", "W", "O"]) for array, kind in ((graphs.concepts, np.int32), (graphs.concept_offsets, np.int64)))
    first, which = distinct_runs(concepts, bounds)
    places, starts = runs(bounds, first)
    flat, ends = concepts[places].tolist(), starts.tolist()
    names = Vocabulary()
    numbers = names.encode([joined_name(tuple(words[i] for i in flat[a:b])) for a, b in itertools.pairwise(ends)])
    return names.words, numbers[which]
