"""SentenceSim-lite: cosine of distilled caption vectors, for the base install."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics
from captious.metrics.captions.distilled_captions import distilled_vectors
from captious.metrics.captions.over_references import check_combine, combined, pair_cosines, with_means
from captious.metrics.options import COMBINE, Option
from captious.vectors.caption_vectors import CaptionVectors, load


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
        ours, theirs = (
            distilled_vectors(corpus.candidates, state),
            distilled_vectors(corpus.references, state),
        )
        if self.combine in ("mean", "centroid"):
            return as_statistics(with_means(corpus, ours, theirs, unit=self.combine == "centroid"))
        return as_statistics(combined(corpus, pair_cosines(corpus, ours, theirs), self.combine))
