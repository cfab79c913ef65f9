"""Ragged arrays: runs of different lengths, one after the other in one flat array, found by their offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def offsets_of(counts: Sequence[int] | IntArray) -> IntArray:
    """Where each of several runs of the given lengths starts, and where the last ends."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def runs(offsets: NDArray[np.int64] | NDArray[np.int32], index: IntArray) -> tuple[IntArray, IntArray]:
    """Positions of all elements of the runs ``index``, one run after another, and the offsets of those runs."""
    # Of the runs that are asked for alone: a few of many millions must not take the time of all.
    starts = offsets[:-1][index]
    lengths = offsets[1:][index] - starts
    new = offsets_of(lengths)
    return np.arange(new[-1], dtype=np.int64) + np.repeat(starts - new[:-1], lengths), new


def distinct(values: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """The different values, ascending, and the place of each value among them: :func:`numpy.unique`, which imports NumPy's masked arrays."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    first = np.ones(len(values), dtype=np.bool_)
    first[1:] = ascending[1:] != ascending[:-1]
    inverse = np.empty(len(values), dtype=np.int64)
    inverse[order] = np.cumsum(first) - 1
    return ascending[first], inverse


def stretches(offsets: IntArray, size: int) -> Iterator[tuple[int, int]]:
    """Runs in groups, from and to, of about ``size`` elements together: a run is never divided, and no group is empty."""
    first, count = 0, len(offsets) - 1
    while first < count:
        last = max(int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1, first + 1)
        yield first, last
        first = last
