"""Hash tables for kernels: open addressing with linear probing.

A table is an int32 array `places` whose length is a power of two. An occupied place holds the number of an
item plus 1; 0 marks a free place. Callers keep at least half of the places free, so every search ends.

All constants are typed: an untyped integer would turn unsigned arithmetic into floating point in compiled
code. In the plain Python form, products overflow on purpose; callers wrap them in
``np.errstate(over="ignore")``.
"""

from __future__ import annotations

import numpy as np

from captious.kernels import inner
from captious.kernels.types import Int32, UInt8, UInt64

#: 2⁶⁴ divided by the golden ratio (Knuth's multiplicative hashing).
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)


@inner
def first_place(key: np.uint64, places: Int32) -> int:
    """Return the place at which the search for a key starts."""
    mask: int = places.shape[0] - 1
    return int(((key ^ (key >> HALF)) * MULTIPLIER) >> HALF) & mask


@inner
def next_place(place: int, places: Int32) -> int:
    """Return the place to try after `place`."""
    mask: int = places.shape[0] - 1
    return (place + 1) & mask


@inner
def find_place(key: np.uint64, places: Int32, keys: UInt64) -> int:
    """Return the place of a key, or the free place where it belongs. Item i has the key `keys[i]`."""
    place = first_place(key, places)
    while places[place] != 0 and keys[places[place] - 1] != key:
        place = next_place(place, places)
    return place


@inner
def free_place(key: np.uint64, places: Int32) -> int:
    """Return the place for a key that is not in the table."""
    place = first_place(key, places)
    while places[place] != 0:
        place = next_place(place, places)
    return place


@inner
def equal_bytes(data: UInt8, start: int, other: UInt8, other_start: int, size: int) -> bool:
    """Whether `size` bytes of two arrays are equal."""
    k = 0
    while k < size and data[start + k] == other[other_start + k]:
        k += 1
    return k >= size
