"""How unusual the tuples of captions are, as :func:`captious.metrics.spice_u.uniqueness` defines it, in arrays."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from captious.corpus import distinct_runs
from captious.kernels import kernel
from captious.ragged import IntArray, offsets_of
from captious.scene.concept_table import ConceptTable
from captious.scene.flat.concepts import Stated
from captious.text.vocabulary import Vocabulary

FloatArray = NDArray[np.float64]


class Counted(Protocol):
    """How many of so many images have each tuple."""

    @property
    def images(self) -> int: ...

    def counts_of(self, tuples: Stated) -> IntArray: ...


class CountedGraphs:
    """The tuples of references' graphs, counted in arrays."""

    def __init__(self, graphs: Stated) -> None:
        self.images = len(graphs.offsets) - 1
        self._names = Vocabulary(graphs.names)
        # Three numbers may be too large for one: a pair of them is known by its place among all pairs.
        pairs = self._joined(graphs.rows[:, 0], graphs.rows[:, 1])
        self._pairs = _distinct(pairs)
        keys = self._joined(np.searchsorted(self._pairs, pairs), graphs.rows[:, 2])
        self._keys = _distinct(keys)
        which = np.searchsorted(self._keys, keys)
        image = np.repeat(np.arange(self.images, dtype=np.int64), np.diff(graphs.offsets))
        # An image has a tuple or not, however often.
        once = _distinct(image * len(self._keys) + which) % max(len(self._keys), 1)
        self._counts = np.bincount(once, minlength=len(self._keys))

    def _joined(self, first: NDArray[Any], second: NDArray[np.int32]) -> IntArray:
        joined: IntArray = first.astype(np.int64) * (len(self._names) + 1) + second + 1
        return joined

    def counts_of(self, tuples: Stated) -> IntArray:
        """How many images have each tuple."""
        # The last is for the place that a tuple does not have, and no name is −2.
        found = np.append(np.where((numbers := self._names.find(tuples.names)) < 0, -2, numbers), -1)[tuples.rows]
        rows = np.flatnonzero((found > -2).all(axis=1))
        pairs, known = _places(self._pairs, self._joined(found[rows, 0], found[rows, 1]))
        rows = rows[known]
        keys, known = _places(self._keys, self._joined(pairs[known], found[rows, 2]))
        counts = np.zeros(len(found), np.int64)
        counts[rows[known]] = self._counts[keys[known]]
        return counts


def _distinct(values: IntArray) -> IntArray:
    """Different values in ascending order. NumPy's own function looks them up one by one in newer versions, and takes ten times as long."""
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def _places(listed: IntArray, wanted: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Places in an ascending list, and which are really there."""
    places = np.searchsorted(listed, wanted)
    inside = places < len(listed)
    inside[inside] = listed[places[inside]] == wanted[inside]
    return places, inside


class CountedTable:
    """The same of a table of concepts."""

    def __init__(self, table: ConceptTable) -> None:
        self.images = table.images
        self._counts = table.counts

    def counts_of(self, tuples: Stated) -> IntArray:
        """How many images have each tuple."""
        return np.array([self._counts.get(item, 0) for item in tuples.tuples()], np.int64)


def flat_uniqueness(candidates: Stated, references: Stated, image_of: IntArray, table: Counted) -> FloatArray:
    """The uniqueness of every candidate among what it and the references of its image state."""
    needed, places = np.unique(image_of, return_inverse=True)
    references = references.of_graphs(needed)
    names = Vocabulary(references.names)
    ours = np.append(names.encode(candidates.names), np.int32(-1))[candidates.rows]
    rows = np.concatenate([ours, references.rows])
    first, which = distinct_runs((rows + 1).reshape(-1), np.arange(0, rows.size + 1, 3, dtype=np.int64))
    values: FloatArray = 1.0 - table.counts_of(Stated(names.words, rows[first], np.array([0, len(first)]))) / table.images
    # From here on a tuple is its place among all of them, the most common first.
    order = np.argsort(values, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ranks = place[which]
    result = np.empty(len(candidates.offsets) - 1)
    between.pick(len(ranks) * 5)(
        *_sets(ranks[: len(ours)], candidates.offsets), *_sets(ranks[len(ours) :], references.offsets), places.reshape(-1), values[order], result
    )
    return result


def _sets(ranks: IntArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
    """The different numbers of each run in ascending order."""
    size, count = int(ranks.max(initial=0)) + 1, len(offsets) - 1
    found = _distinct(np.repeat(np.arange(count, dtype=np.int64), np.diff(offsets)) * size + ranks)
    return found % size, offsets_of(np.bincount(found // size, minlength=count))


@kernel
def between(ours, bounds, theirs, their_bounds, image_of, values, result):  # type: ignore[no-untyped-def]
    """Where the values of our tuples lie between the least and the most that as many of all tuples have.

    Values ascend with the numbers of the tuples, so both lists are in order; sums go from the least value up.
    """
    for c in range(bounds.shape[0] - 1):
        first, last = bounds[c], bounds[c + 1]
        start, end = their_bounds[image_of[c]], their_bounds[image_of[c] + 1]
        number = last - first
        total = number
        a = first
        for b in range(start, end):
            while a < last and ours[a] < theirs[b]:
                a += 1
            if a == last or ours[a] != theirs[b]:
                total += 1
        own, least, most = 0.0, 0.0, 0.0
        a, b = first, start
        for k in range(total):
            if a < last and (b == end or ours[a] <= theirs[b]):
                value = values[ours[a]]
                own += value
                if b < end and ours[a] == theirs[b]:
                    b += 1
                a += 1
            else:
                value = values[theirs[b]]
                b += 1
            if k < number:
                least += value
            if k >= total - number:
                most += value
        # Rounding must not take the most common choice below 0 or the most unusual above 1.
        result[c] = min(1.0, max(0.0, (own - least) / (most - least))) if most > least else 1.0
