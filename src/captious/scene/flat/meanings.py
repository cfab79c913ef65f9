"""Synsets of phrases in arrays, and whether two phrases share one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.ragged import IntArray, offsets_of, runs
from captious.scene.flat.codes import Numbers
from captious.text.synonyms import Synonyms


class Meanings(NamedTuple):
    """The synsets of text t are ``synsets[offsets[t]:offsets[t + 1]]``, in order. Two texts without a common bit share none."""

    synsets: Numbers
    offsets: IntArray
    bits: NDArray[np.int64]

    @classmethod
    def of(cls, synsets: Numbers, offsets: IntArray) -> Meanings:
        """With the bits that belong to the synsets."""
        # Arrays of this process: those of a prepared file are mapped, and a kernel would be compiled for them anew.
        synsets, offsets = np.require(np.asarray(synsets), np.int32, ["C", "W", "O"]), np.require(np.asarray(offsets), np.int64, ["C", "W", "O"])
        bits = np.zeros(len(offsets) - 1, np.int64)
        np.bitwise_or.at(bits, np.repeat(np.arange(len(bits)), np.diff(offsets)), np.int64(1) << (synsets.astype(np.int64) * 40503 >> 6 & 63))
        return cls(synsets, offsets, bits)

    def take(self, texts: IntArray) -> Meanings:
        """What some of the texts mean."""
        places, offsets = runs(self.offsets, texts)
        return Meanings(self.synsets[places], offsets, self.bits[texts])

    def __add__(self, more: object) -> Meanings:
        """These texts followed by others."""
        if not isinstance(more, Meanings):
            return NotImplemented
        offsets = np.concatenate([self.offsets, self.offsets[-1] + more.offsets[1:]])
        return Meanings(np.concatenate([self.synsets, more.synsets]), offsets, np.concatenate([self.bits, more.bits]))


def meanings(texts: Sequence[str], synonyms: Synonyms) -> Meanings:
    """What a list of texts means."""
    rows = [sorted(synonyms.synsets(text.replace(" ", "_"))) for text in texts]
    return Meanings.of(np.array([synset for row in rows for synset in row], np.int32), offsets_of([len(row) for row in rows]))


@kernel
def shared(meanings, one, other):  # type: ignore[no-untyped-def]
    """How many synsets two texts share."""
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


@kernel
def meet(meanings, one, other):  # type: ignore[no-untyped-def]
    """Whether two texts share a synset."""
    if not meanings.bits[one] & meanings.bits[other]:
        return False
    i, end = meanings.offsets[one], meanings.offsets[one + 1]
    k, last = meanings.offsets[other], meanings.offsets[other + 1]
    while i < end and k < last:
        a, b = meanings.synsets[i], meanings.synsets[k]
        if a == b:
            return True
        if a < b:
            i += 1
        else:
            k += 1
    return False
