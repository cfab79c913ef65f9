"""Scalar products and matches among the captions of a set, in one pass over their n-grams.

Rows of an n-gram table that hold the same n-gram in the captions of one image are chained while the image is read, so
the work is the number of n-grams that captions share, not the number of pairs of captions times their length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.corpus import IntArray
from captious.kernels import kernel
from captious.measures.base import FloatArray


@kernel
def _chained_products(number, weight, offsets, starts, m, clip, head, before, owner, out):  # type: ignore[no-untyped-def]
    """Products of the vectors of each set; with ``clip``, out[·, i, k] has the weights of i cut to those of k.

    ``head`` (−1 everywhere, and again at the end) is the last row with an n-gram, ``before`` the row before it.
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
    number: NDArray[np.int32], weight: FloatArray, offsets: IntArray, starts: IntArray, m: int, *, clip: bool = False
) -> FloatArray:
    """m × m matrices of scalar products for the sets of m captions that begin at captions ``starts``."""
    head = np.full(int(number.max(initial=0)) + 1, -1, dtype=np.int64)
    before, owner = np.empty(len(number), dtype=np.int64), np.empty(len(number), dtype=np.int64)
    out = np.zeros((len(starts), m, m))
    _chained_products.pick(len(starts) * m * 30)(number, weight, offsets, starts, m, clip, head, before, owner, out)
    return out


@kernel
def _most_elsewhere(number, count, offsets, image_offsets, head, before, most):  # type: ignore[no-untyped-def]
    """For each row: the largest count of its n-gram in another caption of the set."""
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
    number: NDArray[np.int32], count: NDArray[np.uint8] | NDArray[np.int32], offsets: IntArray, image_offsets: IntArray
) -> NDArray[np.int32]:
    """For each row of an n-gram table: the largest count of its n-gram in another caption of the image (0 for none)."""
    head = np.full(int(number.max(initial=0)) + 1, -1, dtype=np.int64)
    most = np.zeros(len(number), dtype=np.int32)
    before = np.empty(len(number), dtype=np.int64)
    _most_elsewhere.pick(len(number) * 6)(number, count, offsets, image_offsets, head, before, most)
    return most
