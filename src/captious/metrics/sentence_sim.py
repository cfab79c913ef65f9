"""SentenceSim: cosine of sentence vectors of the candidate and its references."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.measures.base import FloatArray, Measure, as_statistics
from captious.measures.options import SENTENCE_MODEL, Option
from captious.measures.resources import Resource
from captious.memo import Product
from captious.ragged import runs
from captious.vectors.sentences import SentenceEncoder, find_model


@lru_cache(maxsize=2)
def _encoder(path: Path) -> SentenceEncoder:
    return SentenceEncoder(path)


_VECTORS: Product[NDArray[np.float32]] = Product(
    "sentence vectors", lambda rows: {"rows": rows}, lambda arrays: arrays["rows"].astype(np.float32, copy=False)
)


def sentence_vectors(captions: Captions, encoder: SentenceEncoder) -> NDArray[np.float32]:
    """The unit vector of each caption's text as it was given, equal texts encoded once."""
    return captions.product(_VECTORS, (encoder.digest,), lambda: encoder.encode(captions.texts))


class SentenceSim(Measure):
    """Mean cosine of MiniLM sentence vectors over references."""

    name = "SentenceSim"
    summary = "cosine of MiniLM sentence vectors, mean over references"
    bounds = (-1.0, 1.0)
    options: ClassVar[tuple[Option, ...]] = (SENTENCE_MODEL,)
    fixed: Mapping[str, str] = {"combine": "mean", "text": "as-given"}
    # A mean over different references is below 1 for any caption.
    perfect_is_maximum = False

    def __init__(self, sentence_model: Any = None) -> None:
        self._model = sentence_model
        if sentence_model is not None:
            find_model(sentence_model)  # a wrong path is reported before captions are read

    def check(self, corpus: Corpus | None = None) -> None:
        find_model(self._model)
        super().check(corpus)

    @property
    def encoder(self) -> SentenceEncoder:
        """The encoder, loaded when first needed and shared by all metrics on the same model."""
        return _encoder(find_model(self._model))

    def resources(self) -> dict[str, Resource]:
        return {"model": self.encoder}

    def prepare(self, references: Captions) -> SentenceEncoder:
        encoder = self.encoder
        sentence_vectors(references, encoder)
        return encoder

    def statistics(self, corpus: Corpus, state: SentenceEncoder) -> FloatArray:
        ours, theirs = sentence_vectors(corpus.candidates, state), sentence_vectors(corpus.references, state)
        # The mean of the cosines with the references is the product with the mean of their unit vectors. Only the images
        # that have candidates are looked at: a batch of a training run has few of them.
        images, place = np.unique(corpus.images[corpus.candidates.image_of], return_inverse=True)
        rows, offsets = runs(corpus.references.image_offsets, images)
        counts = np.diff(offsets)
        sums = np.zeros((len(images), state.dimension))
        np.add.at(sums, np.repeat(np.arange(len(images)), counts), theirs[rows])
        means = sums / np.maximum(counts, 1)[:, None]
        values = np.clip(np.einsum("ij,ij->i", ours.astype(np.float64), means[place]), -1.0, 1.0)
        return as_statistics(np.where(counts[place] > 0, values, np.nan))
