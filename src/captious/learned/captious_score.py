"""CaptiousScore: our own learned metric, text only, one fixed model; and its form for the base install."""

from __future__ import annotations

from typing import Any, ClassVar

from captious.learned.composite import WEIGHTS_FOLDER, Composite, load
from captious.learned.features import Features
from captious.measures.options import Option

#: Of the encoder's sentences and tokens, of scenes, and of word order. None depends on what else is scored.
FULL = (
    "sentence-centroid", "sentence-max", "sentence-agreement", "token-recall-idf", "token-union", "token-agreement-recall-idf",
    "tuple-precision", "spice-f", "word-order",
)  # fmt: skip
#: Of word vectors, scenes and word order.
LITE = (
    "word-centroid", "word-max", "word-agreement", "soft-word-recall-idf", "soft-word-union-idf", "soft-word-agreement-recall-idf",
    "spice-f", "word-order",
)  # fmt: skip


class CaptiousScore(Composite):
    """A sum of features of the sentence encoder and of scene graphs, as a probability: a better feature never lowers the score."""

    name = "CaptiousScore"
    summary = "our own: meaning, words and scenes in one monotone score"
    options: ClassVar[tuple[Option, ...]] = Features.options_of(FULL)

    def __init__(self, sentence_model: Any = None, meteor_data: Any = None, parser: Any = None) -> None:
        super().__init__(load(WEIGHTS_FOLDER / "captious_score.safetensors"), {"sentence_model": sentence_model, "meteor_data": meteor_data, "parser": parser})


class CaptiousScoreLite(Composite):
    """The same without the sentence encoder: the embedded word vectors do."""

    name = "CaptiousScore-lite"
    summary = "CaptiousScore without the sentence encoder, for the base install"
    options: ClassVar[tuple[Option, ...]] = Features.options_of(LITE)

    def __init__(self, vectors: Any = None, meteor_data: Any = None, parser: Any = None) -> None:
        super().__init__(load(WEIGHTS_FOLDER / "captious_score_lite.safetensors"), {"vectors": vectors, "meteor_data": meteor_data, "parser": parser})
