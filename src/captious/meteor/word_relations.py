"""Words that match by form, by stem, or by a common synset."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.kernels import inner, kernel
from captious.kernels.types import Bool, Int32, Int32x2, Int64, Out, UInt32
from captious.meteor.matches import EXACT, KINDS, STEM, SYNONYM, Ints, Small

#: 2⁶⁴ over the golden ratio.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@inner
def place_of(kind: int, value: int, shift: np.uint64, multiplier: np.uint64) -> int:
    """Return the cell of a form, a stem or a synset in the hash table."""
    return int((np.uint64(KINDS * value + kind) * multiplier) >> shift)


@kernel
def relate(
    keys: UInt32,
    stems: UInt32,
    synset_offsets: Int64,
    synsets: Int32,
    used: Bool,
    multiplier: np.uint64,
    shift: np.uint64,
    heads: Out[Int32],
    values: Out[Int64],
    owners: Out[Int32],
    following: Out[Int32],
    last: Out[Int32],
    pairs: Out[Int32x2],
) -> int:
    """Write pairs of a used word and a list that it is entered in (see :mod:`captious.meteor.matches`).

    Return how many pairs there are; if that exceeds the room in `pairs`, call again with more. ``heads`` is a
    hash table of forms, stems and synsets of the used words, counted from 1; ``last`` has a cell for each
    word, -1 before.
    """
    entries = 0
    for word in range(len(keys)):
        if not used[word]:
            continue
        begin = synset_offsets[word]
        for part in range(2 + synset_offsets[word + 1] - begin):
            kind = min(part, SYNONYM)
            value = (
                np.int64(keys[word])
                if part == EXACT
                else np.int64(stems[word])
                if part == STEM
                else np.int64(synsets[begin + part - 2])
            )
            place = place_of(kind, value, shift, multiplier)
            values[entries] = KINDS * value + kind
            owners[entries] = word
            following[entries] = heads[place]
            entries += 1
            heads[place] = entries
    count = 0
    for word in range(len(keys)):
        begin = synset_offsets[word]
        for part in range(2 + synset_offsets[word + 1] - begin):
            kind = min(part, SYNONYM)
            value = (
                np.int64(keys[word])
                if part == EXACT
                else np.int64(stems[word])
                if part == STEM
                else np.int64(synsets[begin + part - 2])
            )
            entry = heads[place_of(kind, value, shift, multiplier)]
            while entry > 0:
                other = owners[entry - 1]
                if values[entry - 1] == KINDS * value + kind:
                    new = kind == EXACT or keys[other] != keys[word]
                    if kind == SYNONYM:
                        # Two words may share several synsets.
                        new = new and last[other] != word
                        last[other] = word
                    if new:
                        if count < len(pairs):
                            pairs[count, 0] = other
                            pairs[count, 1] = KINDS * word + kind
                        count += 1
                entry = following[entry - 1]
    return count


@kernel
def sort_pairs(pairs: Int32x2, offsets: Out[Int64], related: Out[Int32]) -> None:
    """Group the lists by word. ``offsets`` has the end of each word's lists, and afterwards the start."""
    for p in range(len(pairs) - 1, -1, -1):
        offsets[pairs[p, 0]] -= 1
        related[offsets[pairs[p, 0]]] = pairs[p, 1]


def related_words(
    keys: NDArray[np.uint32],
    stems: NDArray[np.uint32],
    synset_offsets: Ints,
    synsets: Small,
    used: NDArray[np.bool_],
) -> tuple[Ints, Small]:
    """Return the lists that each used word is entered in: offsets and lists."""
    n = len(keys)
    own = int(np.sum((np.diff(synset_offsets) + 2)[used]))
    bits = max((2 * own).bit_length(), 4)
    pairs = np.empty((16 * n + 64, 2), np.int32)
    while True:
        scratch = (
            np.zeros(1 << bits, np.int32),
            np.empty(own, np.int64),
            np.empty(own, np.int32),
            np.empty(own, np.int32),
            np.full(n, -1, np.int32),
        )
        with np.errstate(over="ignore"):
            count = int(
                relate(
                    keys,
                    stems,
                    synset_offsets,
                    synsets,
                    used,
                    _MULTIPLIER,
                    np.uint64(64 - bits),
                    *scratch,
                    pairs,
                )
            )
        if count <= len(pairs):
            break
        pairs = np.empty((count, 2), np.int32)
    pairs = pairs[:count]
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(pairs[:, 0], minlength=n), out=offsets[:-1])
    offsets[-1] = count
    related = np.empty(count, np.int32)
    sort_pairs(pairs, offsets, related)
    return offsets, related
