"""Operations on sixteen sentences at once: a row of sixteen floats is one vector to the processor.

Numba does not turn short loops into vector instructions, so the compiled forms are written in LLVM's terms; the plain forms say what they do.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.kernels import Kernel

LANES = 16

Rows = NDArray[np.float32]


class _Lane(Kernel):
    """A kernel whose compiled form is made of vector instructions."""

    @cached_property
    def callee(self) -> Any:
        from captious.language.exact.vectors import vector_forms

        return vector_forms(LANES)[self.__name__]


@_Lane
def raise_row(target: Rows, t: int, left: Rows, a: int, right: Rows, b: int, score: Any) -> None:
    """target[t] = max(target[t], (score + left[a]) + right[b]) for all sentences."""
    np.maximum(target[t], score + left[a] + right[b], out=target[t])


@_Lane
def above(rows: Rows, i: int, score: Any, limit: Rows) -> bool:
    """Whether score + rows[i] is above the first row of `limit` for any sentence."""
    return bool((rows[i] + score > limit[0]).any())


@_Lane
def copy_row(target: Rows, t: int, source: Rows, s: int) -> None:
    """target[t] = source[s]."""
    target[t] = source[s]


@_Lane
def raise_rows(
    target: Rows,
    mark: NDArray[np.uint8],
    left: Rows,
    a: NDArray[np.int16],
    right: Rows,
    b: NDArray[np.int16],
    t: NDArray[np.int16],
    score: NDArray[np.float32],
    begin: int,
    end: int,
) -> None:
    """`raise_row` for many rows: places of all three and scores come from lists, from `begin` to `end`; rows of the target get a mark of 1."""
    for n in range(begin, end):
        mark[t[n]] = 1
        raise_row(target, t[n], left, a[n], right, b[n], score[n])


@_Lane
def raise_after(
    target: Rows,
    mark: NDArray[np.uint8],
    left: Rows,
    a: int,
    right: Rows,
    b: NDArray[np.int16],
    t: NDArray[np.int16],
    score: NDArray[np.float32],
    begin: int,
    end: int,
) -> None:
    """`raise_rows` with one left row for all."""
    for n in range(begin, end):
        mark[t[n]] = 1
        raise_row(target, t[n], left, a, right, b[n], score[n])


@_Lane
def raise_before(
    target: Rows,
    mark: NDArray[np.uint8],
    right: Rows,
    b: int,
    left: Rows,
    a: NDArray[np.int16],
    t: NDArray[np.int16],
    score: NDArray[np.float32],
    begin: int,
    end: int,
) -> None:
    """`raise_rows` with one right row for all."""
    for n in range(begin, end):
        mark[t[n]] = 1
        raise_row(target, t[n], left, a[n], right, b, score[n])


@_Lane
def spread_row(
    target: Rows, mark: NDArray[np.uint8], source: Rows, s: int, t: NDArray[np.int32], score: NDArray[np.float32], begin: int, end: int
) -> None:
    """target[t[n]] = max(target[t[n]], score[n] + source[s]) for n from `begin` to `end`; rows of the target get a mark of 1."""
    for n in range(begin, end):
        mark[t[n]] = 1
        np.maximum(target[t[n]], score[n] + source[s], out=target[t[n]])


@_Lane
def lowest(bits: Any) -> int:
    """The place of the lowest bit that is set."""
    return (int(bits) & -int(bits)).bit_length() - 1
