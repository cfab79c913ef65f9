"""Rows of statistics: the values that a measure stores for each caption or image, and their resamples.

Most measures store numbers that add up: a matrix with one row per caption or image, whose sum goes to the
measure's formula. Measures of a whole text (number of different words, type-token ratios) store the words
themselves, as :class:`Sequences`. The "sum" of such rows is the text that results from reading them one after
another (:class:`Texts`), and a resample of images is another text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray, offsets_of, runs
from captious.kernels import kernel
from captious.kernels.types import Float64x2, Int32, Int32x2, Int64, Out

FloatArray = NDArray[np.float64]
Keys = NDArray[np.uint64]


@kernel
def _count(items: Int32, offsets: Int64, orders: Int32x2, out: Out[Float64x2]) -> None:
    """Count each item in each text."""
    for t in range(orders.shape[0]):
        for k in range(orders.shape[1]):
            row = orders[t, k]
            for j in range(offsets[row], offsets[row + 1]):
                out[t, items[j]] += 1.0


class Sequences:
    """Rows of items in order: row i is ``items[offsets[i]:offsets[i + 1]]``.

    Items are numbered from 0. ``keys`` identifies each number by 64 bits derived from the word itself, so
    that tables of different runs can be concatenated. ``known`` holds external values of the items where the
    measure uses any, for example how often people use a word.
    """

    def __init__(
        self, items: NDArray[np.int32], offsets: IntArray, keys: Keys, known: FloatArray | None = None
    ) -> None:
        self.items = items
        self.offsets = offsets
        self.keys = keys
        self.known = known

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: IntArray | NDArray[np.bool_] | slice) -> Sequences:
        """Return some rows, in the order of ``rows``."""
        positions, offsets = runs(self.offsets, np.arange(len(self), dtype=np.int64)[rows])
        return Sequences(self.items[positions], offsets, self.keys, self.known)

    def sum(self, axis: int = 0) -> Texts:
        """Return all rows as one text, the counterpart of a sum of numbers."""
        if axis != 0:
            raise ValueError("only whole rows can be joined")
        return Texts(self, np.arange(len(self), dtype=np.int32))

    def read(self, orders: NDArray[np.int32]) -> Texts:
        """Return texts that consist of some rows: one order of rows, or one per line."""
        return Texts(self, orders)

    def grouped(self, offsets: IntArray) -> Sequences:
        """Join runs of rows: rows ``offsets[j]:offsets[j + 1]`` become row j."""
        return Sequences(self.items, self.offsets[offsets], self.keys, self.known)

    @classmethod
    def concatenate(cls, tables: Sequence[Sequences]) -> Sequences:
        """Concatenate the rows of several tables. Items with equal keys get one number."""
        first = tables[0]
        if all(np.array_equal(table.keys, first.keys) for table in tables[1:]):
            keys, numbers = first.keys, [np.arange(len(first.keys))] * len(tables)
        else:
            keys, flat = np.unique(np.concatenate([table.keys for table in tables]), return_inverse=True)
            numbers = np.split(flat, np.cumsum([len(table.keys) for table in tables])[:-1])
        known = None
        if first.known is not None:
            known = np.zeros(len(keys))
            for table, number in zip(tables, numbers):
                known[number] = table.known
        items = [number[table.items].astype(np.int32) for table, number in zip(tables, numbers)]
        lengths = np.concatenate([np.diff(table.offsets) for table in tables])
        return cls(np.concatenate(items), offsets_of(lengths), keys, known)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return plain arrays, for files."""
        arrays: dict[str, NDArray[Any]] = {"items": self.items, "offsets": self.offsets, "keys": self.keys}
        return arrays if self.known is None else {**arrays, "known": self.known}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Sequences:
        """Restore rows from :meth:`to_arrays`."""
        return cls(arrays["items"], arrays["offsets"], arrays["keys"], arrays.get("known"))


class Texts(NamedTuple):
    """Texts that consist of rows of a table: ``orders`` lists the rows of one text, or one line per text."""

    table: Sequences
    orders: NDArray[np.int32]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values of these texts: () for one text, (n,) for several."""
        return self.orders.shape[:-1]

    @property
    def lines(self) -> NDArray[np.int32]:
        """The orders as one line per text, also for a single text."""
        return np.atleast_2d(self.orders)

    @property
    def work(self) -> float:
        """Approximate number of items read."""
        return float(
            len(self.lines) * len(self.table.items) * (int(self.orders.shape[-1]) / max(len(self.table), 1))
        )

    def counts(self) -> FloatArray:
        """Count each item in each text: shape (…, items)."""
        out = np.zeros((len(self.lines), len(self.table.keys)))
        _count(self.table.items, self.table.offsets, self.lines, out)
        return out.reshape(*self.shape, len(self.table.keys))


#: Statistics of a measure: a matrix of numbers that add up, or the words themselves.
Rows = FloatArray | Sequences
#: Summed statistics, the argument of the measure's formula.
Sums = FloatArray | Texts


def arranged(rows: Rows) -> Rows:
    """Return rows in C order, so that sums do not depend on the memory layout."""
    return rows if isinstance(rows, Sequences) else np.ascontiguousarray(rows, dtype=np.float64)


def pack(rows: Rows) -> dict[str, NDArray[Any]]:
    """Return rows of any kind as plain arrays, for files."""
    return rows.to_arrays() if isinstance(rows, Sequences) else {"numbers": rows}


def unpack(arrays: Mapping[str, NDArray[Any]]) -> Rows:
    """Restore rows from :func:`pack`."""
    return arrays["numbers"] if "numbers" in arrays else Sequences.from_arrays(arrays)


def concatenate(tables: Sequence[Rows]) -> Rows:
    """Concatenate the rows of several tables of one measure."""
    ragged = [table for table in tables if isinstance(table, Sequences)]
    if len(ragged) == len(tables):
        return Sequences.concatenate(ragged)
    return np.concatenate([table for table in tables if not isinstance(table, Sequences)])


def contained(keys: NDArray[Any], among: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which keys occur in the sorted array ``among``."""
    if not len(among):
        return np.zeros(len(keys), dtype=np.bool_)
    present: NDArray[np.bool_] = among[np.minimum(np.searchsorted(among, keys), len(among) - 1)] == keys
    return present


def mid_ranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value from 1; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return ranks
