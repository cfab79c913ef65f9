"""The interface of pyciderevalcap, with which self-critical training computes its rewards.

from captious.compat.pyciderevalcap import CiderD
scorer = CiderD(df="coco-train-idxs")           # data/coco-train-idxs.p
mean, each = scorer.compute_score(references, [{"image_id": 0, "caption": ["a dog runs"]}, …])
"""

from __future__ import annotations

from collections.abc import Sequence

from captious.compat import pycocoevalcap, segment_scorers

__all__ = ["Cider", "CiderD", "CiderDScorer", "CiderScorer"]


class CiderD(pycocoevalcap.Cider):
    """CIDEr-D."""

    _method = "CIDEr-D"

    def __init__(self, n: int = 4, sigma: float = 6.0, df: str = "corpus") -> None:
        super().__init__(n=n, sigma=sigma, df=df)


class Cider(pycocoevalcap.Cider):
    """CIDEr without clipping and without a penalty on length."""

    _measure = "CIDEr"

    def __init__(self, n: int = 4, df: str = "corpus") -> None:
        super().__init__(n=n, df=df)


class CiderDScorer(segment_scorers.CiderScorer):
    """CIDEr-D of captions that are added one at a time."""

    _variant = "CIDEr-D"

    def __init__(
        self,
        df_mode: str = "corpus",
        test: str | None = None,
        refs: Sequence[str] | None = None,
        n: int = 4,
        sigma: float = 6.0,
    ) -> None:
        super().__init__(test, refs, n, sigma, df_mode, measure=self._variant)


class CiderScorer(CiderDScorer):
    """CIDEr of captions that are added one at a time."""

    _variant = "CIDEr"
