"""MOWE, the mean-of-word-embeddings feature of LCEval (Sharif et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping

from captious.metrics.captions.wembsim import WEmbSim


class MOWE(WEmbSim):
    """Cosine of mean word vectors of all words, stop words included, with the nearest reference."""

    name = "MOWE"
    summary = "cosine of mean word vectors of all words, maximum over references (Sharif et al. 2019)"
    perfect_is_maximum = True
    fixed: Mapping[str, str] = {"stop": "none"}
    _stop_words = False
    _combine = "max"
