"""LCEval (Sharif et al. 2019) and NNEval (Sharif et al. 2018): other metrics through a small network.

Both are trained on human captions against captions of other images.
"""

from __future__ import annotations

from typing import Any, ClassVar

from captious.metrics.learned.composite import WEIGHTS_FOLDER, Composite, load
from captious.metrics.learned.feature_table import GROUPS, Features
from captious.metrics.options import Option


class LCEval(Composite):
    """Thirteen features through one hidden layer of 12."""

    name = "LCEval"
    summary = "thirteen other metrics through a small trained network (Sharif et al. 2019; our training set)"
    options: ClassVar[tuple[Option, ...]] = Features.options_of(GROUPS["lceval"])
    _weights = "lceval.safetensors"

    def __init__(
        self, df: Any = None, meteor_data: Any = None, vectors: Any = None, parser: Any = None
    ) -> None:
        super().__init__(
            load(WEIGHTS_FOLDER / self._weights),
            {"df": df, "meteor_data": meteor_data, "vectors": vectors, "parser": parser},
        )


class NNEval(LCEval):
    """METEOR, CIDEr, BLEU-1 to 4, WMD and SPICE through hidden layers of 72."""

    name = "NNEval"
    summary = "eight other metrics through a small trained network (Sharif et al. 2018; our training set)"
    options: ClassVar[tuple[Option, ...]] = Features.options_of(GROUPS["nneval"])
    _weights = "nneval.safetensors"
