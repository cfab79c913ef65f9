"""Ragged arrays: runs of different lengths in one flat array, with their offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def offsets_of(counts: Sequence[int] | NDArray[np.integer]) -> IntArray:
    """Return the start of each run of these lengths, and the end of the last."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def runs(offsets: NDArray[np.int64] | NDArray[np.int32], index: IntArray) -> tuple[IntArray, IntArray]:
    """Return the positions of all elements of the runs ``index``, and the offsets of these runs in the
    result."""
    # Index first: a few runs of many millions must not take the time of all.
    starts = offsets[:-1][index]
    return positions_of(starts, offsets[1:][index] - starts)


def positions_of(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Return the positions of all elements of runs with these starts and lengths, and the offsets of the
    runs in the result."""
    new = offsets_of(lengths)
    return np.arange(new[-1], dtype=np.int64) + np.repeat(starts - new[:-1], lengths), new


def places_in(lengths: NDArray[np.integer]) -> IntArray:
    """Return the place of each element in its run, from 0."""
    return positions_of(np.zeros(len(lengths), np.int64), lengths)[0]


def distinct(values: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Return the distinct values, ascending, and the index of each value among them.

    :func:`numpy.unique` does the same but imports NumPy's masked arrays.
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    first = np.ones(len(values), dtype=np.bool_)
    first[1:] = ascending[1:] != ascending[:-1]
    inverse = np.empty(len(values), dtype=np.int64)
    inverse[order] = np.cumsum(first) - 1
    return ascending[first], inverse


def sums_of_rows(
    table: NDArray[Any], rows: NDArray[Any], offsets: IntArray, weights: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Sum the table rows of each run: ``rows[offsets[i]:offsets[i + 1]]`` are the rows of run i,
    ``weights`` their factors.

    This is the product of a sparse and a dense matrix. Each run is summed from its first row to its
    last, so equal runs have bitwise equal sums, whatever the other runs are.
    """
    lengths = np.diff(offsets)
    longest_first = np.argsort(-lengths, kind="stable")
    starts, ascending = offsets[:-1][longest_first], np.sort(lengths)
    sums = np.zeros((len(lengths), table.shape[1]), table.dtype)
    for place in range(int(ascending[-1]) if len(ascending) else 0):
        longer = len(ascending) - int(np.searchsorted(ascending, place, side="right"))
        elements = starts[:longer] + place
        sums[:longer] += (
            table[rows[elements]] if weights is None else table[rows[elements]] * weights[elements, None]
        )
    result = np.empty_like(sums)
    result[longest_first] = sums
    return result


def stretches(offsets: IntArray, size: int) -> Iterator[tuple[int, int]]:
    """Yield groups of whole runs (first, last) with about ``size`` elements each. No group is empty."""
    first, count = 0, len(offsets) - 1
    while first < count:
        last = max(int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1, first + 1)
        yield first, last
        first = last
