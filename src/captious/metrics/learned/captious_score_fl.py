"""CaptiousScore-FL: CaptiousScore, divided by ten where the fluency detector fires (FENSE's form)."""

from __future__ import annotations

from typing import Any, ClassVar

from captious.metrics.captions.fluency_penalty import PenalisedMeasure
from captious.metrics.learned.captious_score import CaptiousScore
from captious.metrics.options import Option


class CaptiousScoreFL(PenalisedMeasure):
    """CaptiousScore with FENSE's penalty on captions that are not fluent."""

    name = "CaptiousScore-FL"
    summary = "CaptiousScore, times 0.1 where our fluency detector fires"
    bounds = CaptiousScore.bounds
    options: ClassVar[tuple[Option, ...]] = CaptiousScore.options

    def __init__(self, sentence_model: Any = None, meteor_data: Any = None, parser: Any = None) -> None:
        self.inner = CaptiousScore(sentence_model, meteor_data, parser)
