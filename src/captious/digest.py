"""Short names of content, for signatures: equal content has one name, however it was reached."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.ragged import IntArray

#: Hexadecimal digits of a digest in a signature.
DIGITS = 8


def of_lines(lines: Iterable[str]) -> str:
    """The digest of lines of text, in their order."""
    return _hash(lines).hexdigest()[:DIGITS]


def of_any_order(groups: Iterable[Iterable[str]]) -> str:
    """The digest of groups of lines, whatever the order of the groups."""
    return _total(_hash(group).digest() for group in groups)


@kernel
def _lay_out(data, offsets, groups, name_data, name_offsets, first, last, order, out, bounds):  # type: ignore[no-untyped-def]
    """Write groups ``first`` to ``last`` one after the other as they are hashed: the name, then the texts in their order, each with its length
    before it. ``bounds`` takes where each group ends, ``order`` is room for the texts of one group."""
    at = 0
    for g in range(first, last):
        count = 0
        for i in range(groups[g], groups[g + 1]):
            # Bytes of UTF-8 have the order of their characters.
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


#: Groups that are laid out at a time, and texts of a group beyond which sorting them in a loop would take long.
_PORTION, _MOST = 1 << 13, 64


def of_named_texts(names: tuple[NDArray[np.uint8], IntArray], texts: tuple[NDArray[np.uint8], IntArray], groups: IntArray) -> str | None:
    """:func:`of_any_order` of a name and its texts sorted, ``texts[groups[i]:groups[i + 1]]``, for each name: all as bytes with their offsets.
    Nothing where a name has very many texts."""
    data, offsets = texts
    most = int(np.diff(groups).max(initial=0))
    if most > _MOST:
        return None
    found: list[bytes] = []
    for first in range(0, len(groups) - 1, _PORTION):
        last = min(first + _PORTION, len(groups) - 1)
        low, high = int(groups[first]), int(groups[last])
        size = int(offsets[high] - offsets[low] + names[1][last] - names[1][first]) + 20 * (high - low + last - first)
        out, bounds = np.empty(size, np.uint8), np.zeros(last - first + 1, np.int64)
        _lay_out.pick(size)(data, offsets, groups, *names, first, last, np.zeros(most + 1, np.int64), out, bounds)
        view, ends = out.data, bounds.tolist()
        found += [hashlib.blake2b(view[a:b], digest_size=16).digest() for a, b in itertools.pairwise(ends)]
    return _total(found)


def _total(digests: Iterable[bytes]) -> str:
    total = sum(int.from_bytes(digest, "big") for digest in digests)
    return f"{total % 2**128:032x}"[:DIGITS]


def _hash(lines: Iterable[str]) -> hashlib.blake2b:
    # With their lengths, because lines may hold any character: two lines are not one with a break in it.
    return hashlib.blake2b(b"".join([b"%d:%b" % (len(data), data) for data in map(_bytes, lines)]), digest_size=16)


def _bytes(line: str) -> bytes:
    return line.encode("utf-8", "surrogatepass")


def of_arrays(*arrays: NDArray[np.generic]) -> str:
    """The digest of arrays."""
    state = hashlib.blake2b(digest_size=16)
    for array in arrays:
        state.update(repr((array.dtype.str, array.shape)).encode())
        state.update(np.ascontiguousarray(array).view(np.uint8).data)
    return state.hexdigest()[:DIGITS]


def keys_of(words: Sequence[str]) -> NDArray[np.uint64]:
    """A number of 64 bits for each word, the same everywhere: what stands for a word in tables of numbers."""
    data = b"".join(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words)
    return np.frombuffer(data, dtype=">u8").astype(np.uint64)


def together(*digests: str) -> str:
    """One digest of several."""
    return of_lines(digests)
