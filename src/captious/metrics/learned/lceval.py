"""LCEval (Sharif et al. 2019): lexical, semantic and syntactic features through one hidden layer."""

from __future__ import annotations

from typing import Any, ClassVar

from captious.metrics.learned.composite import WEIGHTS_FOLDER, Composite, load
from captious.metrics.learned.lexical_features import GROUPS, Features
from captious.metrics.options import Option


class LCEval(Composite):
    """Thirteen features, one hidden layer of 12.

    Trained on human captions against captions of other images.
    """

    name = "LCEval"
    summary = "thirteen other metrics through a small trained network (Sharif et al. 2019; our training set)"
    options: ClassVar[tuple[Option, ...]] = Features.options_of(GROUPS["lceval"])

    def __init__(
        self, df: Any = None, meteor_data: Any = None, vectors: Any = None, parser: Any = None
    ) -> None:
        super().__init__(
            load(WEIGHTS_FOLDER / "lceval.safetensors"),
            {"df": df, "meteor_data": meteor_data, "vectors": vectors, "parser": parser},
        )
