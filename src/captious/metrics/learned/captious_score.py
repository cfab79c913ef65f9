"""CaptiousScore: our own learned metric with one fixed model, and its form for the base install."""

from __future__ import annotations

from typing import Any, ClassVar

from captious.metrics.learned.composite import WEIGHTS_FOLDER, Composite, load
from captious.metrics.learned.feature_table import Features
from captious.metrics.options import Option

#: Features of the encoder's sentences, tokens and phrases of scenes (all mapped), of scenes, and of word
#: order. None depends on other captions of the run.
FULL = (
    "mapped-sentence-centroid",
    "mapped-sentence-agreement",
    "mapped-token-recall-idf",
    "mapped-token-union",
    "mapped-token-agreement-recall-idf",
    "mapped-tuple-precision",
    "spice-f",
    "word-order",
)
#: Features of distilled caption vectors (mapped, and of single words), scenes and word order.
LITE = (
    "mapped-caption-centroid",
    "mapped-caption-max",
    "mapped-caption-agreement",
    "caption-word-recall-idf",
    "caption-word-union-idf",
    "spice-f",
    "word-order",
)


class CaptiousScore(Composite):
    """Monotone combination of features of the sentence encoder and of scene graphs, as a probability.

    A better feature never lowers the score.
    """

    name = "CaptiousScore"
    summary = "our own: meaning, words and scenes in one monotone score"
    options: ClassVar[tuple[Option, ...]] = Features.options_of(FULL)

    def __init__(self, sentence_model: Any = None, meteor_data: Any = None, parser: Any = None) -> None:
        super().__init__(
            load(WEIGHTS_FOLDER / "captious_score.safetensors"),
            {"sentence_model": sentence_model, "meteor_data": meteor_data, "parser": parser},
        )


class CaptiousScoreLite(Composite):
    """CaptiousScore with distilled caption vectors in place of the sentence encoder."""

    name = "CaptiousScore-lite"
    summary = "CaptiousScore without the sentence encoder, for the base install"
    options: ClassVar[tuple[Option, ...]] = Features.options_of(LITE)

    def __init__(self, meteor_data: Any = None, parser: Any = None) -> None:
        super().__init__(
            load(WEIGHTS_FOLDER / "captious_score_lite.safetensors"),
            {"meteor_data": meteor_data, "parser": parser},
        )
