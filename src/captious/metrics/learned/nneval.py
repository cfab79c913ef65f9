"""NNEval (Sharif et al. 2018): eight other metrics through two hidden layers."""

from __future__ import annotations

from typing import Any, ClassVar

from captious.metrics.learned.composite import WEIGHTS_FOLDER, Composite, load
from captious.metrics.learned.lexical_features import GROUPS, Features
from captious.metrics.options import Option


class NNEval(Composite):
    """METEOR, CIDEr, BLEU-1 to 4, WMD and SPICE through hidden layers of 72.

    Trained on human captions against captions of other images.
    """

    name = "NNEval"
    summary = "eight other metrics through a small trained network (Sharif et al. 2018; our training set)"
    options: ClassVar[tuple[Option, ...]] = Features.options_of(GROUPS["nneval"])

    def __init__(
        self, df: Any = None, meteor_data: Any = None, vectors: Any = None, parser: Any = None
    ) -> None:
        super().__init__(
            load(WEIGHTS_FOLDER / "nneval.safetensors"),
            {"df": df, "meteor_data": meteor_data, "vectors": vectors, "parser": parser},
        )
