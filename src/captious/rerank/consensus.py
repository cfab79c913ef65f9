"""Re-ranking by consensus: the caption that is most like the other candidates (minimum Bayes risk).

The score of a candidate is its expected similarity with what the model might have said instead: Σ_j w_j · metric(candidate, j) over
the other candidates j. They weigh the same, or as the model weighs them (their P(s|I)).
"""

from __future__ import annotations

import numpy as np

from captious.corpus import Captions, Corpus
from captious.errors import InputError
from captious.measures.base import Measure
from captious.ragged import IntArray
from captious.rerank.choosing import Criterion
from captious.rerank.models.base import Floats
from captious.rerank.nbest import NBest


class Consensus(Criterion):
    """Similarity with the other candidates, by any metric of single captions with references."""

    def __init__(self, measure: Measure, *, posterior: bool = False, tokenizer: str = "ptb") -> None:
        if measure.rows != "caption" or "references" not in measure.needs:
            raise InputError(f"{measure.name} does not compare a caption with another one; choose by a metric that does, such as CIDEr-D or SentenceSim")
        self.measure, self.posterior, self.tokenizer = measure, posterior, tokenizer
        self.name = f"consensus ({measure.name})"

    def values(self, nbest: NBest) -> Floats:
        counts = np.diff(nbest.offsets)
        if counts.max(initial=0) < 2:
            raise InputError(f"{nbest.name}: every image has one candidate, and a consensus needs several")
        weights = _weights(nbest.log_p(), nbest.offsets) if self.posterior else np.ones(len(nbest.texts))
        texts = Captions.of(nbest.groups, self.tokenizer, ids=nbest.ids)
        first, second = _pairs(nbest.offsets)
        # Each pair is an image of its own with one candidate, whose reference is one of all candidates by themselves.
        single = texts.take(np.arange(len(texts)), np.arange(len(texts) + 1))
        corpus = Corpus(texts.take(first, np.arange(len(first) + 1)), single, name=nbest.name, images=second)
        measure = self.measure
        # What a measure counts over images (document frequencies) it counts over the images of the lists, not over pairs.
        rows = measure.statistics(corpus, measure.prepare(texts if "images" in measure.needs else single))
        found = np.nan_to_num(measure.per_row(rows), nan=0.0)
        worth = found if measure.higher_is_better else -found
        total = np.bincount(first, worth * weights[second], len(nbest.texts))
        weight = np.bincount(first, weights[second], len(nbest.texts))
        return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)


def _pairs(offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Every candidate with every other one of its image."""
    first, second = [], []
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist()):
        rows = np.arange(a, b, dtype=np.int64)
        pairs = np.stack([np.repeat(rows, b - a), np.tile(rows, b - a)])
        pairs = pairs[:, pairs[0] != pairs[1]]
        first.append(pairs[0])
        second.append(pairs[1])
    return np.concatenate(first), np.concatenate(second)


def _weights(log_p: Floats, offsets: IntArray) -> Floats:
    """P(s|I), so that the likeliest candidate of an image has 1."""
    most = np.maximum.reduceat(log_p, offsets[:-1])
    weights: Floats = np.exp(log_p - np.repeat(most, np.diff(offsets)))
    return weights
