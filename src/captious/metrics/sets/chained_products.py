"""Scalar products and matches among the captions of a set, in one pass over their n-grams.

Rows of an n-gram table with the same n-gram in the captions of one image are chained while the image is read.
The work is therefore proportional to the number of shared n-grams, not to the number of pairs of captions
times their length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray
from captious.kernels import kernel
from captious.kernels.types import Float64, Float64x3, Int32, Int64, Out
from captious.metrics.base import FloatArray


@kernel
def _chained_products(
    number: Int32,
    weight: Float64,
    offsets: Int64,
    starts: Int64,
    m: int,
    clip: bool,
    head: Out[Int64],
    before: Out[Int64],
    owner: Out[Int64],
    out: Out[Float64x3],
) -> None:
    """Multiply the vectors of each set. With ``clip``, out[·, i, k] has the weights of i cut to those of k.

    ``head`` (−1 everywhere before and after the call) is the last row with an n-gram, ``before`` the row
    before it.
    """
    for g in range(starts.shape[0]):
        base = starts[g]
        for i in range(m):
            for j in range(offsets[base + i], offsets[base + i + 1]):
                own = weight[j]
                owner[j] = i
                row = head[number[j]]
                before[j] = row
                head[number[j]] = j
                while row >= 0:
                    k, other = owner[row], weight[row]
                    if clip:
                        low = min(own, other)
                        out[g, i, k] += low * other
                        out[g, k, i] += low * own
                    else:
                        out[g, i, k] += own * other
                        out[g, k, i] += own * other
                    row = before[row]
                out[g, i, i] += own * own
        for j in range(offsets[base], offsets[base + m]):
            head[number[j]] = -1


def set_products(
    number: NDArray[np.int32],
    weight: FloatArray,
    offsets: IntArray,
    starts: IntArray,
    m: int,
    *,
    clip: bool = False,
) -> FloatArray:
    """Return m × m matrices of scalar products of the sets of m captions that begin at ``starts``."""
    head = np.full(int(number.max(initial=0)) + 1, -1, dtype=np.int64)
    before, owner = np.empty(len(number), dtype=np.int64), np.empty(len(number), dtype=np.int64)
    out = np.zeros((len(starts), m, m))
    _chained_products(number, weight, offsets, starts, m, clip, head, before, owner, out)
    return out


@kernel
def _most_elsewhere(
    number: Int32,
    count: Int32,
    offsets: Int64,
    image_offsets: Int64,
    head: Out[Int64],
    before: Out[Int64],
    most: Out[Int32],
) -> None:
    """Find, for each row, the largest count of its n-gram in another caption of the set."""
    for image in range(image_offsets.shape[0] - 1):
        begin, end = offsets[image_offsets[image]], offsets[image_offsets[image + 1]]
        for j in range(begin, end):
            row = head[number[j]]
            before[j] = row
            head[number[j]] = j
            while row >= 0:
                if count[row] > most[j]:
                    most[j] = count[row]
                if count[j] > most[row]:
                    most[row] = count[j]
                row = before[row]
        for j in range(begin, end):
            head[number[j]] = -1


def most_elsewhere(
    number: NDArray[np.int32], count: NDArray[np.int32], offsets: IntArray, image_offsets: IntArray
) -> NDArray[np.int32]:
    """Return, for each row, the largest count of its n-gram in another caption of the image (0 for none)."""
    head = np.full(int(number.max(initial=0)) + 1, -1, dtype=np.int64)
    most = np.zeros(len(number), dtype=np.int32)
    before = np.empty(len(number), dtype=np.int64)
    _most_elsewhere(number, count, offsets, image_offsets, head, before, most)
    return most
