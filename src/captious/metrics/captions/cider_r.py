"""CIDEr-R (Santos et al. 2021): CIDEr-D for captions of varied length."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from captious.core.ragged import IntArray, offsets_of, runs
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, ratio
from captious.metrics.captions.cider import MAX_N, Cider

#: Exponents of the penalties on repetition and on length.
REPEAT, LENGTH = 0.8, 0.2
#: Words for the penalty on repetition: "t-shirt" is two.
_WORD = re.compile(r"\w+")


class _Counts(NamedTuple):
    """Words of each caption in ascending order, and how often it has them."""

    words: IntArray
    counts: IntArray
    offsets: IntArray


class CiderR(Cider):
    """CIDEr with clipped counts, and penalties on relative length and on repeated words.

    The penalty on length depends on the difference relative to the reference's length. The penalty on
    repetition is the geometric mean over the caption's words of 1 / (1 + d), where d is the difference of the
    word's counts (for a word that the reference lacks, the count beyond the first).
    """

    name = "CIDEr-R"
    summary = "CIDEr for captions of varied length, with a penalty on repetition (Santos et al. 2021)"
    fixed: Mapping[str, str] = {"n": str(MAX_N), "repeat": f"{REPEAT:g}", "length": f"{LENGTH:g}"}
    clip = True

    def length_penalty(self, corpus: Corpus) -> FloatArray | float:
        candidate, reference = corpus.pairs
        own = np.maximum(corpus.candidates.lengths[candidate], 1).astype(np.float64)
        theirs = np.maximum(corpus.references.lengths[reference], 1).astype(np.float64)
        # As the exponent of e, because its power may be too small for a number.
        return np.exp(-LENGTH * ((own - theirs) / theirs) ** 2 + REPEAT * self._log_repetition(corpus))

    def _log_repetition(self, corpus: Corpus) -> FloatArray:
        """Return the mean logarithm of 1 / (1 + d) over the words of each pair's candidate."""
        candidate, reference = corpus.pairs
        numbers: dict[str, int] = {}
        ours, theirs = _word_counts(corpus.candidates, numbers), _word_counts(corpus.references, numbers)
        rows, offsets = runs(ours.offsets, candidate)
        other_rows, other_offsets = runs(theirs.offsets, reference)
        pair = np.repeat(np.arange(len(candidate)), np.diff(offsets))
        other_pair = np.repeat(np.arange(len(reference)), np.diff(other_offsets))
        size = len(numbers) + 1
        # The words of a caption are in ascending order, so all keys are.
        keys = other_pair * size + theirs.words[other_rows]
        wanted = pair * size + ours.words[rows]
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        is_shared = keys[place] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
        expected = np.ones(len(wanted))
        expected[is_shared] = theirs.counts[other_rows][place[is_shared]]
        logs = np.bincount(pair, -np.log1p(np.abs(ours.counts[rows] - expected)), minlength=len(candidate))
        words = np.diff(offsets)
        return ratio(logs, words)


def _word_counts(captions: Captions, numbers: dict[str, int]) -> _Counts:
    """Count the words of each caption, and number new ones."""
    parts = [_WORD.findall(word) for word in captions.encoding.words.tolist()]
    flat = np.array([numbers.setdefault(part, len(numbers)) for own in parts for part in own], np.int64)
    places, bounds = runs(offsets_of([len(own) for own in parts]), captions.tokens.astype(np.int64))
    owner = np.repeat(np.arange(len(captions)), np.diff(bounds[captions.token_offsets]))
    # Captions are counted one after the other, so the keys of one are a run.
    size = len(numbers) + 1
    keys, counts = np.unique(owner * size + flat[places], return_counts=True)
    offsets = np.searchsorted(keys, np.arange(len(captions) + 1) * size)
    return _Counts(keys % size, counts, offsets)
