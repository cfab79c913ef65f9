"""Short names of content, for signatures: equal content has one name, however it was reached."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

#: Hexadecimal digits of a digest in a signature.
DIGITS = 8


def of_lines(lines: Iterable[str]) -> str:
    """The digest of lines of text, in their order."""
    return _hash(lines).hexdigest()[:DIGITS]


def of_any_order(groups: Iterable[Iterable[str]]) -> str:
    """The digest of groups of lines, whatever the order of the groups."""
    total = sum(int.from_bytes(_hash(group).digest(), "big") for group in groups)
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
