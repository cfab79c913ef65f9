"""SentenceSim: cosine of sentence vectors of the candidate and its references."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Metric, as_statistics
from captious.vectors.sentences import SentenceEncoder, find_model


@lru_cache(maxsize=2)
def _encoder(path: Path) -> SentenceEncoder:
    return SentenceEncoder(path)


def sentence_vectors(captions: Captions, encoder: SentenceEncoder) -> NDArray[np.float32]:
    """The unit vector of each caption's text as it was given, equal texts encoded once."""
    return captions.cached(("sentence vectors", str(encoder.source)), lambda: encoder.encode(captions.texts))


class SentenceSim(Metric):
    """Mean cosine of MiniLM sentence vectors over references."""

    name = "SentenceSim"
    summary = "cosine of MiniLM sentence vectors, mean over references"
    bounds: ClassVar[tuple[float | None, float | None]] = (-1.0, 1.0)
    needs = frozenset({"references", "sentence-encoder"})
    options = ("sentence_model",)
    # A mean over different references is below 1 for any caption.
    perfect_is_maximum = False

    def __init__(self, sentence_model: Any = None) -> None:
        self._model = sentence_model
        if sentence_model is not None:
            find_model(sentence_model)  # a wrong path is reported before captions are read

    @property
    def encoder(self) -> SentenceEncoder:
        """The encoder, loaded when first needed and shared by all metrics on the same model."""
        return _encoder(find_model(self._model))

    def statistics(self, corpus: Corpus) -> FloatArray:
        encoder = self.encoder
        ours, theirs = sentence_vectors(corpus.candidates, encoder), sentence_vectors(corpus.references, encoder)
        # The mean of the cosines with the references is the product with the mean of their unit vectors.
        sums = np.zeros((corpus.references.n_images, encoder.dimension))
        np.add.at(sums, corpus.references.image_of, theirs)
        counts = corpus.references.per_image
        means = sums / np.maximum(counts, 1)[:, None]
        image = corpus.candidates.image_of
        values = np.clip(np.einsum("ij,ij->i", ours.astype(np.float64), means[image]), -1.0, 1.0)
        return as_statistics(np.where(counts[image] > 0, values, np.nan))

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        return {"model": self.encoder.name, "refs": "mean", "text": "as-given"}
