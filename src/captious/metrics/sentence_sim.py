"""SentenceSim: cosine of sentence vectors of the candidate and its references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from captious.corpus import Captions, Corpus
from captious.measures.base import FloatArray, Measure, as_statistics
from captious.measures.options import COMBINE, SENTENCE_MODEL, Option
from captious.measures.resources import Resource
from captious.metrics.encoded import EncoderUser, sentence_vectors
from captious.metrics.over_references import check_combine, combined, pair_cosines, with_means
from captious.vectors.sentences import SentenceEncoder


class SentenceSim(EncoderUser, Measure):
    """Cosine of MiniLM sentence vectors, the mean over references."""

    name = "SentenceSim"
    summary = "cosine of MiniLM sentence vectors, mean over references"
    bounds = (-1.0, 1.0)
    options: ClassVar[tuple[Option, ...]] = (SENTENCE_MODEL, COMBINE)
    fixed: Mapping[str, str] = {"text": "as-given"}
    # A mean over different references is below 1 for any caption.
    perfect_is_maximum = False

    def __init__(self, sentence_model: Any = None, combine: str | None = None) -> None:
        self.combine = check_combine(combine or "mean")
        super().__init__(sentence_model)

    def check(self, corpus: Corpus | None = None) -> None:
        self.find()
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {"model": self.encoder}

    def prepare(self, references: Captions) -> SentenceEncoder:
        encoder = self.encoder
        sentence_vectors(references, encoder)
        return encoder

    def statistics(self, corpus: Corpus, state: SentenceEncoder) -> FloatArray:
        ours, theirs = sentence_vectors(corpus.candidates, state), sentence_vectors(corpus.references, state)
        if self.combine in ("mean", "centroid"):
            # The mean of the cosines with the references is the product with the mean of their unit vectors.
            return as_statistics(with_means(corpus, ours, theirs, unit=self.combine == "centroid"))
        return as_statistics(combined(corpus, pair_cosines(corpus, ours, theirs), self.combine))
