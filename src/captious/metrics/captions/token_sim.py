"""TokenSim: soft precision and recall of tokens by a sentence encoder (cf. BERTScore, Zhang et al. 2020)."""

from __future__ import annotations

from typing import Any, ClassVar

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics
from captious.metrics.captions.encoded_captions import EncoderUser, token_vectors
from captious.metrics.captions.over_references import combined
from captious.metrics.captions.token_alignment import alignment, by_encoder
from captious.metrics.options import SENTENCE_MODEL, Option
from captious.vectors.sentence_vectors import load_pieces

_SUMMARIES = {
    "P": "mean cosine of a caption's tokens with the nearest token of a reference, mean over references",
    "R": "mean cosine of a reference's tokens with the nearest token of the caption, mean over references",
    "R-idf": "the same recall, tokens weighted by how rare they are in captions",
    "P-union": "mean cosine of a caption's tokens with the nearest token of any reference",
}


class TokenSim(EncoderUser, Measure):
    """Soft token precision or recall.

    Precision (``P``), recall (``R``), recall weighted by rarity (``R-idf``), or precision against all
    references at once (``P-union``).
    """

    bounds = (-1.0, 1.0)
    options: ClassVar[tuple[Option, ...]] = (SENTENCE_MODEL,)
    # A mean over different references is below 1 for any caption, and cosines are in half precision.
    perfect_is_maximum = False
    tokens = True

    def __init__(self, kind: str = "R", sentence_model: Any = None) -> None:
        self.kind = kind
        self.name = f"TokenSim-{kind}"
        self.summary = _SUMMARIES[kind]
        self.fixed = {"layer": "last", "combine": "any" if kind == "P-union" else "mean", "text": "as-given"}
        super().__init__(sentence_model)

    def check(self, corpus: Corpus | None = None) -> None:
        self.find()
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        resources: dict[str, Resource] = {"model": self.encoder}
        return {**resources, "idf": load_pieces()} if self.kind == "R-idf" else resources

    def prepare(self, references: Captions) -> None:
        token_vectors(references, self.encoder)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        aligned = alignment(corpus, by_encoder(self.encoder))
        if self.kind == "P-union":
            return as_statistics(combined(corpus, aligned.union_precision[corpus.pairs[0]], "max"))
        values = {"P": aligned.precision, "R": aligned.recall, "R-idf": aligned.weighted_recall}[self.kind]
        return as_statistics(combined(corpus, values, "mean"))
