"""SentenceSim and SentenceSim-lite: cosine of vectors of the candidate and its references."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics
from captious.metrics.captions.distilled_captions import distilled_vectors
from captious.metrics.captions.encoded_captions import EncoderUser, sentence_vectors
from captious.metrics.captions.over_references import check_combine, combined, pair_cosines, with_means
from captious.metrics.options import COMBINE, SENTENCE_MODEL, Option
from captious.vectors.caption_vectors import CaptionVectors, load
from captious.vectors.sentence_vectors import SentenceEncoder


class SentenceSim(EncoderUser, Measure):
    """Cosine of MiniLM sentence vectors, mean over references.

    With several encoders (``A,B``, or a list), the mean of their scores.
    """

    name = "SentenceSim"
    summary = "cosine of MiniLM sentence vectors, mean over references"
    bounds = (-1.0, 1.0)
    options: ClassVar[tuple[Option, ...]] = (SENTENCE_MODEL, COMBINE)
    fixed: Mapping[str, str] = {"text": "as-given"}
    # A mean over different references is below 1 for any caption.
    perfect_is_maximum = False

    def __init__(self, sentence_model: Any = None, combine: str | None = None) -> None:
        self.combine = check_combine(combine or "mean")
        first, *others = several_models(sentence_model)
        super().__init__(first)
        self._others = [EncoderUser(model) for model in others]

    def check(self, corpus: Corpus | None = None) -> None:
        for user in (self, *self._others):
            user.find()
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {
            "model": self.encoder,
            **{f"model-{number}": user.encoder for number, user in enumerate(self._others, start=2)},
        }

    def prepare(self, references: Captions) -> list[SentenceEncoder]:
        encoders = [self.encoder, *(user.encoder for user in self._others)]
        for encoder in encoders:
            sentence_vectors(references, encoder)
        return encoders

    def statistics(self, corpus: Corpus, state: list[SentenceEncoder]) -> FloatArray:
        scores = [
            _similarity(
                corpus,
                sentence_vectors(corpus.candidates, encoder),
                sentence_vectors(corpus.references, encoder),
                self.combine,
            )
            for encoder in state
        ]
        return as_statistics(scores[0] if len(scores) == 1 else np.mean(scores, axis=0))


def several_models(models: Any) -> list[Any]:
    """Return the encoders in an option: one, or several in a list or separated by commas."""
    if isinstance(models, str) and "," in models and not Path(models).exists():
        return [part.strip() for part in models.split(",") if part.strip()] or [None]
    return list(models) or [None] if isinstance(models, list | tuple) else [models]


class SentenceSimLite(Measure):
    """Cosine of a caption's distilled vector with the centroid of its references' vectors."""

    name = "SentenceSim-lite"
    summary = "cosine of distilled caption vectors with the centroid of the references, without the encoder"
    bounds = (-1.0, 1.0)
    options: ClassVar[tuple[Option, ...]] = (COMBINE,)
    fixed: Mapping[str, str] = {"units": "words+pairs"}
    # A caption equals the centroid only if all references have one direction.
    perfect_is_maximum = False

    def __init__(self, combine: str | None = None) -> None:
        self.combine = check_combine(combine or "centroid")

    def resources(self) -> dict[str, Resource]:
        return {"captions": load()}

    def prepare(self, references: Captions) -> CaptionVectors:
        vectors = load()
        distilled_vectors(references, vectors)
        return vectors

    def statistics(self, corpus: Corpus, state: CaptionVectors) -> FloatArray:
        ours = distilled_vectors(corpus.candidates, state)
        theirs = distilled_vectors(corpus.references, state)
        return as_statistics(_similarity(corpus, ours, theirs, self.combine))


def _similarity(
    corpus: Corpus, ours: NDArray[np.float32], theirs: NDArray[np.float32], combine: str
) -> FloatArray:
    """Return the cosine of each candidate with its references, combined."""
    if combine in ("mean", "centroid"):
        # The mean of the cosines is the product with the mean of the references' unit vectors.
        return with_means(corpus, ours, theirs, unit=combine == "centroid")
    return combined(corpus, pair_cosines(corpus, ours, theirs), combine)
