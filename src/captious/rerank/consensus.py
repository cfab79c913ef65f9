"""Re-ranking by consensus: the caption most similar to the other candidates (minimum Bayes risk).

The score of a candidate is its expected similarity to the other candidates j of the image: Σ_j w_j ·
metric(candidate, j). The weights w_j are equal, or the model's probabilities P(s|I).
"""

from __future__ import annotations

import numpy as np

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.metrics.base import Measure
from captious.rerank.language_models.language_model import Floats
from captious.rerank.nbest import NBest
from captious.rerank.selection_rules import Criterion


class Consensus(Criterion):
    """Similarity to the other candidates, by any caption-level metric with references."""

    def __init__(self, measure: Measure, *, posterior: bool = False, tokenizer: str = "ptb") -> None:
        if measure.rows != "caption" or "references" not in measure.needs:
            raise InputError(
                f"{measure.name} does not compare a caption with another one; "
                "choose a metric that does, such as CIDEr-D or SentenceSim"
            )
        self.measure, self.posterior, self.tokenizer = measure, posterior, tokenizer
        self.name = f"consensus ({measure.name})"

    def values(self, nbest: NBest) -> Floats:
        counts = np.diff(nbest.offsets)
        if counts.max(initial=0) < 2:
            raise InputError(
                f"{nbest.name}: every image has only one candidate; a consensus needs several per image"
            )
        weights = _weights(nbest.log_p(), nbest.offsets) if self.posterior else np.ones(len(nbest.texts))
        texts = Captions.of(nbest.groups, self.tokenizer, ids=nbest.ids)
        first, second = _pairs(nbest.offsets)
        # Each pair becomes an image of its own: one candidate, with the other as its reference.
        single = texts.take(np.arange(len(texts)), np.arange(len(texts) + 1))
        corpus = Corpus(texts.take(first, np.arange(len(first) + 1)), single, name=nbest.name, images=second)
        measure = self.measure
        # Statistics over images (document frequencies) come from the images of the lists, not from pairs.
        rows = measure.statistics(corpus, measure.prepare(texts if "images" in measure.needs else single))
        scores = np.nan_to_num(measure.per_row(rows), nan=0.0)
        similarities = scores if measure.higher_is_better else -scores
        total = np.bincount(first, similarities * weights[second], len(nbest.texts))
        weight = np.bincount(first, weights[second], len(nbest.texts))
        return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)


def _pairs(offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Return all ordered pairs of different candidates of the same image."""
    first, second = [], []
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist()):
        rows = np.arange(a, b, dtype=np.int64)
        pairs = np.stack([np.repeat(rows, b - a), np.tile(rows, b - a)])
        pairs = pairs[:, pairs[0] != pairs[1]]
        first.append(pairs[0])
        second.append(pairs[1])
    return np.concatenate(first), np.concatenate(second)


def _weights(log_p: Floats, offsets: IntArray) -> Floats:
    """Return P(s|I), scaled so that the most likely candidate of an image has weight 1."""
    most = np.maximum.reduceat(log_p, offsets[:-1])
    weights: Floats = np.exp(log_p - np.repeat(most, np.diff(offsets)))
    return weights
