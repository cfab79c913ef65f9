"""Tuples of many sentences or scene graphs, in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray, runs

#: An object (noun,), an attribute (noun, word) or a relation (noun, phrase, noun).
Tuple = tuple[str, ...]
Numbers = NDArray[np.int32]


class TupleTable(NamedTuple):
    """Tuples in groups: group g has the rows ``offsets[g]:offsets[g + 1]``.

    A row holds three indices into `names`, −1 for each place that a shorter tuple does not have.
    """

    names: list[str]
    rows: Numbers
    offsets: IntArray

    @classmethod
    def from_groups(cls, groups: Iterable[Iterable[Tuple]]) -> TupleTable:
        """Number the words of tuples in the order in which they appear."""
        numbers: dict[str, int] = {}
        rows: list[list[int]] = []
        ends = [0]
        for group in groups:
            for item in group:
                rows.append(
                    [numbers.setdefault(name, len(numbers)) for name in item] + [-1] * (3 - len(item))
                )
            ends.append(len(rows))
        return cls(list(numbers), np.array(rows, np.int32).reshape(-1, 3), np.array(ends, np.int64))

    def of(self, group: int) -> list[Tuple]:
        """Return the tuples of one group."""
        return list(self._texts(self.rows[self.offsets[group] : self.offsets[group + 1]]))

    def tuples(self) -> Iterator[Tuple]:
        """Yield all tuples, group by group."""
        return self._texts(self.rows)

    def take(self, groups: IntArray) -> TupleTable:
        """Select groups, with only the names that occur in them."""
        places, offsets = runs(self.offsets, groups)
        return self._replace(rows=self.rows[places], offsets=offsets).without_unused_names()

    def without_unused_names(self) -> TupleTable:
        """Return the same tuples with only the names that occur in them."""
        used = np.zeros(len(self.names) + 1, np.bool_)
        used[self.rows] = True
        # The last element belongs to −1.
        used[-1] = False
        numbers = np.cumsum(used, dtype=np.int32) - 1
        numbers[-1] = -1
        names = [self.names[i] for i in np.flatnonzero(used).tolist()]
        return TupleTable(names, numbers[self.rows], self.offsets)

    def _texts(self, rows: Numbers) -> Iterator[Tuple]:
        return (tuple(self.names[number] for number in row if number >= 0) for row in rows.tolist())
