"""Rows of statistics: what a measure keeps of each caption or image, and what becomes of them when images are resampled.

Most measures keep numbers that add up: a matrix with one row per caption or image, whose sum goes to the measure's
formula. Measures of a text as a whole (different words, type-token ratios) keep the words themselves, as
:class:`Sequences`; the "sum" of such rows is the text that they make when they are read one after another
(:class:`Texts`), and a resample of images is another text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.ragged import IntArray, offsets_of, runs

FloatArray = NDArray[np.float64]
Keys = NDArray[np.uint64]


@kernel
def _count(items, offsets, orders, out):  # type: ignore[no-untyped-def]
    """How often each item occurs in each text."""
    for t in range(orders.shape[0]):
        for k in range(orders.shape[1]):
            row = orders[t, k]
            for j in range(offsets[row], offsets[row + 1]):
                out[t, items[j]] += 1.0


class Sequences:
    """Rows of items in their order: row i is ``items[offsets[i]:offsets[i + 1]]``.

    An item is a number from 0, and ``keys`` says what each number stands for (64 bits, made from the word itself), so that
    tables of different runs can be put together. ``known`` has what the measure knows of each item from elsewhere, where
    it knows something: how often people use it, say.
    """

    def __init__(self, items: NDArray[np.int32], offsets: IntArray, keys: Keys, known: FloatArray | None = None) -> None:
        self.items = items
        self.offsets = offsets
        self.keys = keys
        self.known = known

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: IntArray | NDArray[np.bool_] | slice) -> Sequences:
        """Some rows, in the order given."""
        positions, offsets = runs(self.offsets, np.arange(len(self), dtype=np.int64)[rows])
        return Sequences(self.items[positions], offsets, self.keys, self.known)

    def sum(self, axis: int = 0) -> Texts:
        """All rows together, as one text: what a sum is to numbers."""
        if axis != 0:
            raise ValueError("only whole rows can be put together")
        return Texts(self, np.arange(len(self), dtype=np.int32))

    def read(self, orders: NDArray[np.int32]) -> Texts:
        """Texts that consist of some rows: one order of rows, or one per line."""
        return Texts(self, orders)

    def grouped(self, offsets: IntArray) -> Sequences:
        """Runs of rows joined into one row each: ``offsets[j]:offsets[j + 1]`` becomes row j."""
        return Sequences(self.items, self.offsets[offsets], self.keys, self.known)

    @classmethod
    def concatenate(cls, tables: Sequence[Sequences]) -> Sequences:
        """The rows of several tables, one after another; items that stand for the same have one number."""
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
        """As plain arrays, for files."""
        found: dict[str, NDArray[Any]] = {"items": self.items, "offsets": self.offsets, "keys": self.keys}
        return found if self.known is None else {**found, "known": self.known}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Sequences:
        """Back from :meth:`to_arrays`."""
        return cls(arrays["items"], arrays["offsets"], arrays["keys"], arrays.get("known"))


class Texts(NamedTuple):
    """Texts made of the rows of a table: ``orders`` has the rows of one text, or a line for each of several."""

    table: Sequences
    orders: NDArray[np.int32]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the values that belong to these texts: none for one text, (n,) for several."""
        return self.orders.shape[:-1]

    @property
    def lines(self) -> NDArray[np.int32]:
        """The orders, one line per text, also for a single one."""
        return np.atleast_2d(self.orders)

    @property
    def work(self) -> float:
        """About how many items are read."""
        return float(len(self.lines) * len(self.table.items) * (int(self.orders.shape[-1]) / max(len(self.table), 1)))

    def counts(self) -> FloatArray:
        """How often each item occurs in each text: shape (…, items)."""
        out = np.zeros((len(self.lines), len(self.table.keys)))
        _count.pick(2 * self.work)(self.table.items, self.table.offsets, self.lines, out)
        return out.reshape(*self.shape, len(self.table.keys))


#: Statistics of a measure: a matrix of numbers that add up, or the words themselves.
Rows = FloatArray | Sequences
#: What becomes of them when they are put together, for the measure's formula.
Sums = FloatArray | Texts


def arranged(rows: Rows) -> Rows:
    """Rows one after the other in memory: sums of numbers then do not depend on who laid them out."""
    return rows if isinstance(rows, Sequences) else np.ascontiguousarray(rows, dtype=np.float64)


def pack(rows: Rows) -> dict[str, NDArray[Any]]:
    """Rows of any kind as plain arrays, for files."""
    return rows.to_arrays() if isinstance(rows, Sequences) else {"numbers": rows}


def unpack(arrays: Mapping[str, NDArray[Any]]) -> Rows:
    """Back from :func:`pack`."""
    return arrays["numbers"] if "numbers" in arrays else Sequences.from_arrays(arrays)


def concatenate(tables: Sequence[Rows]) -> Rows:
    """The rows of several tables of one measure, one after another."""
    ragged = [table for table in tables if isinstance(table, Sequences)]
    if len(ragged) == len(tables):
        return Sequences.concatenate(ragged)
    return np.concatenate([table for table in tables if not isinstance(table, Sequences)])
