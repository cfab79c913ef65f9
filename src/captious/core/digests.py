"""Short digests of content, for signatures."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray
from captious.kernels import kernel
from captious.kernels.types import Int64, Out, UInt8

#: Hexadecimal digits of a digest in a signature.
DIGITS = 8


def of_lines(lines: Iterable[str]) -> str:
    """Return the digest of lines of text, in their order."""
    return _hash(lines).hexdigest()[:DIGITS]


def of_any_order(groups: Iterable[Iterable[str]]) -> str:
    """Return a digest of groups of lines that does not depend on the order of the groups."""
    return _total(_hash(group).digest() for group in groups)


@kernel
def _lay_out(
    data: UInt8,
    offsets: Int64,
    groups: Int64,
    name_data: UInt8,
    name_offsets: Int64,
    first: int,
    last: int,
    order: Out[Int64],
    out: Out[UInt8],
    bounds: Out[Int64],
) -> int:
    """Write groups ``first`` to ``last`` to ``out`` in the form that is hashed, and return the number
    of bytes.

    A group is its name and its texts, sorted, each with its length before it. ``bounds`` receives the
    end of each group. ``order`` is room for the texts of one group.
    """
    at = 0
    for g in range(first, last):
        count = 0
        for i in range(groups[g], groups[g + 1]):
            # UTF-8 sorts by bytes as text sorts by characters.
            place = count
            while place > 0:
                a, b = offsets[order[place - 1]], offsets[i]
                a_end, b_end = offsets[order[place - 1] + 1], offsets[i + 1]
                while a < a_end and b < b_end and data[a] == data[b]:
                    a += 1
                    b += 1
                if a == a_end or (b < b_end and data[a] < data[b]):
                    break
                order[place] = order[place - 1]
                place -= 1
            order[place] = i
            count += 1
        for k in range(-1, count):
            low = name_offsets[g] if k < 0 else offsets[order[k]]
            high = name_offsets[g + 1] if k < 0 else offsets[order[k] + 1]
            size, unit = high - low, 1
            while size // unit >= 10:
                unit *= 10
            while unit > 0:
                out[at] = 48 + size // unit % 10
                at += 1
                unit //= 10
            out[at] = 58
            at += 1
            for j in range(low, high):
                out[at] = name_data[j] if k < 0 else data[j]
                at += 1
        bounds[g - first + 1] = at
    return at


#: Groups written at a time, and most texts of a group: the kernel sorts by insertion.
_PORTION, _MOST = 1 << 13, 64


def of_named_texts(
    names: tuple[NDArray[np.uint8], IntArray], texts: tuple[NDArray[np.uint8], IntArray], groups: IntArray
) -> str | None:
    """Return `of_any_order` of groups that consist of a name and its sorted texts.

    Names and texts are bytes with offsets; group i has the texts ``groups[i]`` to ``groups[i + 1]``.
    Returns None if a name has more than 64 texts.
    """
    data, offsets = texts
    most = int(np.diff(groups).max(initial=0))
    if most > _MOST:
        return None
    digests: list[bytes] = []
    for first in range(0, len(groups) - 1, _PORTION):
        last = min(first + _PORTION, len(groups) - 1)
        low, high = int(groups[first]), int(groups[last])
        size = int(offsets[high] - offsets[low] + names[1][last] - names[1][first]) + 20 * (
            high - low + last - first
        )
        out, bounds = np.empty(size, np.uint8), np.zeros(last - first + 1, np.int64)
        _lay_out(data, offsets, groups, *names, first, last, np.zeros(most + 1, np.int64), out, bounds)
        view, ends = out.data, bounds.tolist()
        digests += [hashlib.blake2b(view[a:b], digest_size=16).digest() for a, b in itertools.pairwise(ends)]
    return _total(digests)


def _total(digests: Iterable[bytes]) -> str:
    total = sum(int.from_bytes(digest, "big") for digest in digests)
    return f"{total % 2**128:032x}"[:DIGITS]


def _hash(lines: Iterable[str]) -> hashlib.blake2b:
    # Lengths separate the lines, which can hold any character, line breaks included.
    encoded = [line.encode("utf-8", "surrogatepass") for line in lines]
    return hashlib.blake2b(b"".join([b"%d:%b" % (len(data), data) for data in encoded]), digest_size=16)


def of_arrays(*arrays: NDArray[np.generic]) -> str:
    """Return the digest of arrays."""
    state = hashlib.blake2b(digest_size=16)
    for array in arrays:
        state.update(repr((array.dtype.str, array.shape)).encode())
        state.update(np.ascontiguousarray(array).view(np.uint8).data)
    return state.hexdigest()[:DIGITS]


def keys_of(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return a 64-bit key for each word, the same on every machine, for tables of numbers."""
    data = b"".join(
        hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words
    )
    return np.frombuffer(data, dtype=">u8").astype(np.uint64)


def together(*digests: str) -> str:
    """Return one digest of several."""
    return of_lines(digests)
