"""Operations on sixteen sentences at once: a row of sixteen floats is one vector register.

The compiler does not vectorise such short loops, so the compiled forms are written in LLVM
(`native/lanes.py`). The plain forms here define them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.kernels import inner

LANES = 16

Rows = NDArray[np.float32]


@inner(lanes=LANES)
def raise_row(target: Rows, t: int, left: Rows, a: int, right: Rows, b: int, score: np.float32) -> None:
    """target[t] = max(target[t], (score + left[a]) + right[b]) for all sentences."""
    np.maximum(target[t], score + left[a] + right[b], out=target[t])


@inner(lanes=LANES)
def above(rows: Rows, i: int, score: np.float32, limit: Rows) -> bool:
    """Return whether score + rows[i] is above the first row of `limit` for any sentence."""
    return bool((rows[i] + score > limit[0]).any())


@inner(lanes=LANES)
def copy_row(target: Rows, t: int, source: Rows, s: int) -> None:
    """target[t] = source[s]."""
    target[t] = source[s]


@inner(lanes=LANES)
def keep_row(target: Rows, t: int, source: Rows, s: int, score: np.float32, limit: Rows) -> None:
    """target[t] = source[s] where score + source[s] is above the first row of `limit`, else -infinity."""
    target[t] = np.where(source[s] + score > limit[0], source[s], np.float32(-np.inf))


@inner(lanes=LANES)
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
    """`raise_row` for the list entries from `begin` to `end`, with a mark of 1 for each target row."""
    for n in range(begin, end):
        mark[t[n]] = 1
        raise_row(target, t[n], left, a[n], right, b[n], score[n])


@inner(lanes=LANES)
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


@inner(lanes=LANES)
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


@inner(lanes=LANES)
def spread_row(
    target: Rows,
    mark: NDArray[np.uint8],
    source: Rows,
    s: int,
    t: NDArray[np.int32],
    score: NDArray[np.float32],
    begin: int,
    end: int,
) -> None:
    """target[t[n]] = max(target[t[n]], score[n] + source[s]) for n in range(begin, end), with a mark of 1."""
    for n in range(begin, end):
        mark[t[n]] = 1
        np.maximum(target[t[n]], score[n] + source[s], out=target[t[n]])


@inner(lanes=LANES)
def lowest(bits: np.uint64) -> int:
    """Return the index of the lowest bit that is set."""
    return (int(bits) & -int(bits)).bit_length() - 1
