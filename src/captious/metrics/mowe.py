"""MOWE, the mean-of-word-embeddings feature of LCEval (Sharif et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from captious.measures.options import VECTORS, Option
from captious.metrics.wembsim import WEmbSim


class MOWE(WEmbSim):
    """Cosine of mean word vectors of all words, stop words included, with the nearest reference."""

    name = "MOWE"
    summary = "cosine of mean word vectors of all words, maximum over references (Sharif et al. 2019)"
    perfect_is_maximum = True
    options: ClassVar[tuple[Option, ...]] = (VECTORS,)
    fixed: Mapping[str, str] = {"combine": "max", "stop": "none"}
    _stop_words = False
    _combine = "max"

    def __init__(self, vectors: object = None) -> None:
        super().__init__(vectors)
