"""Synsets of words and phrases, in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from captious.core.ragged import IntArray, runs
from captious.kernels import inner
from captious.kernels.types import Int32, Int64
from captious.scene.tuple_table import Numbers
from captious.text.synonyms import Synonyms


class Meanings(NamedTuple):
    """Synsets of texts: text t has ``synsets[offsets[t]:offsets[t + 1]]``, in ascending order."""

    synsets: Int32
    offsets: Int64
    #: A bit set for each text. Two texts without a common bit share no synset.
    bits: Int64

    @classmethod
    def of(cls, synsets: Numbers, offsets: IntArray) -> Meanings:
        """Add the bits that belong to the synsets."""
        # Arrays of a prepared file are mapped, and may be of another type.
        synsets = np.require(synsets, np.int32, ["C", "A"])
        offsets = np.require(offsets, np.int64, ["C", "A"])
        bits = np.zeros(len(offsets) - 1, np.int64)
        np.bitwise_or.at(
            bits,
            np.repeat(np.arange(len(bits)), np.diff(offsets)),
            np.int64(1) << (synsets.astype(np.int64) * 40503 >> 6 & 63),
        )
        return cls(synsets, offsets, bits)

    def take(self, texts: IntArray) -> Meanings:
        """Select texts."""
        places, offsets = runs(self.offsets, texts)
        return Meanings(self.synsets[places], offsets, self.bits[texts])

    def __add__(self, more: object) -> Meanings:
        """Append the texts of another table."""
        if not isinstance(more, Meanings):
            return NotImplemented
        offsets = np.concatenate([self.offsets, self.offsets[-1] + more.offsets[1:]])
        return Meanings(
            np.concatenate([self.synsets, more.synsets]), offsets, np.concatenate([self.bits, more.bits])
        )


def look_up(texts: Sequence[str], synonyms: Synonyms) -> Meanings:
    """Look up the synsets of texts. Phrases are written with underscores in the dictionary."""
    offsets, synsets = synonyms.synsets_of([text.replace(" ", "_") for text in texts])
    return Meanings.of(synsets, offsets)


@inner
def count_shared(meanings: Meanings, one: int, other: int) -> int:
    """Count the synsets that two texts share."""
    if not meanings.bits[one] & meanings.bits[other]:
        return 0
    count = 0
    i, end = meanings.offsets[one], meanings.offsets[one + 1]
    k, last = meanings.offsets[other], meanings.offsets[other + 1]
    while i < end and k < last:
        a, b = meanings.synsets[i], meanings.synsets[k]
        if a == b:
            count += 1
        if a <= b:
            i += 1
        if b <= a:
            k += 1
    return count


@inner
def share_synset(meanings: Meanings, one: int, other: int) -> bool:
    """Tell whether two texts share a synset."""
    return count_shared(meanings, one, other) > 0
