"""Which words match which: by form, by stem, and by a synset they share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.meteor.matches import EXACT, KINDS, STEM, SYNONYM, Ints, Small

#: 2⁶⁴ over the golden ratio.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@kernel
def place_of(kind: int, value: int, shift: np.uint64, multiplier: np.uint64) -> int:
    """Where in the table a form, a stem or a synset is looked for."""
    return int((np.uint64(KINDS * value + kind) * multiplier) >> shift)


@kernel
def relate(
    keys: NDArray[np.uint32], stems: NDArray[np.uint32], synset_offsets: Ints, synsets: Small, used: NDArray[np.bool_], multiplier: np.uint64, shift: np.uint64,
    heads: Small, values: Ints, owners: Small, following: Small, last: Small, pairs: Small,
) -> int:  # fmt: skip
    """Write pairs of a word that is used and a list it goes to (see :mod:`captious.meteor.matches`); how many there are (more than there is
    room for: come again).

    ``heads`` is a hash table of forms, stems and synsets of the used words, counted from 1; ``last`` has a cell for each word, which is -1.
    """
    entries = 0
    for word in range(len(keys)):
        if not used[word]:
            continue
        begin = synset_offsets[word]
        for part in range(2 + synset_offsets[word + 1] - begin):
            kind = min(part, SYNONYM)
            value = np.int64(keys[word]) if part == EXACT else np.int64(stems[word]) if part == STEM else np.int64(synsets[begin + part - 2])
            place = place_of(kind, value, shift, multiplier)
            values[entries] = KINDS * value + kind
            owners[entries] = word
            following[entries] = heads[place]
            entries += 1
            heads[place] = entries
    found = 0
    for word in range(len(keys)):
        begin = synset_offsets[word]
        for part in range(2 + synset_offsets[word + 1] - begin):
            kind = min(part, SYNONYM)
            value = np.int64(keys[word]) if part == EXACT else np.int64(stems[word]) if part == STEM else np.int64(synsets[begin + part - 2])
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
                        if found < len(pairs):
                            pairs[found, 0] = other
                            pairs[found, 1] = KINDS * word + kind
                        found += 1
                entry = following[entry - 1]
    return found


@kernel
def sort_pairs(pairs: Small, offsets: Ints, related: Small) -> None:
    """Put the second of each pair where those of the first belong; ``offsets`` are where they end, and become where they begin."""
    for p in range(len(pairs) - 1, -1, -1):
        offsets[pairs[p, 0]] -= 1
        related[offsets[pairs[p, 0]]] = pairs[p, 1]


def related_words(
    keys: NDArray[np.uint32], stems: NDArray[np.uint32], synset_offsets: Ints, synsets: Small, used: NDArray[np.bool_]
) -> tuple[Ints, Small]:
    """For each word that is used the lists it goes to: offsets and lists."""
    n = len(keys)
    own = int(np.sum((np.diff(synset_offsets) + 2)[used]))
    bits = max((2 * own).bit_length(), 4)
    work = 10.0 * (2 * n + len(synsets))
    pairs = np.empty((16 * n + 64, 2), np.int32)
    while True:
        scratch = np.zeros(1 << bits, np.int32), np.empty(own, np.int64), np.empty(own, np.int32), np.empty(own, np.int32), np.full(n, -1, np.int32)
        with np.errstate(over="ignore"):
            found = int(relate.pick(work)(keys, stems, synset_offsets, synsets, used, _MULTIPLIER, np.uint64(64 - bits), *scratch, pairs))
        if found <= len(pairs):
            break
        pairs = np.empty((found, 2), np.int32)
    pairs = pairs[:found]
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(pairs[:, 0], minlength=n), out=offsets[:-1])
    offsets[-1] = found
    related = np.empty(found, np.int32)
    sort_pairs.pick(work)(pairs, offsets, related)
    return offsets, related
