"""The interface of pyciderevalcap, with which self-critical training computes its rewards.

from captious.compat.pyciderevalcap import CiderD
scorer = CiderD(df="coco-train-idxs")           # data/coco-train-idxs.p
mean, each = scorer.compute_score(references, [{"image_id": 0, "caption": ["a dog runs"]}, …])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.compat import pycocoevalcap, segment_scorers
from captious.core.errors import InputError
from captious.io.caption_files import kind

__all__ = ["CIDErEvalCap", "Cider", "CiderD", "CiderDScorer", "CiderScorer", "PTBTokenizer"]


class PTBTokenizer(pycocoevalcap.PTBTokenizer):
    """Stanford's tokenizer for references (``"gts"``) or rows of results (``"res"``)."""

    def __init__(self, _source: str = "gts") -> None:
        if _source not in ("gts", "res"):
            raise InputError(f"the tokenizer takes 'gts' or 'res', not {_source!r}")
        self.source = _source

    def tokenize(self, captions_for_image: Any) -> Any:
        """Tokenize references by image, or rows ``{"image_id": …, "caption": text}``.

        Rows become ``{"image_id": …, "caption": [tokens]}``, in their order.
        """
        if self.source == "gts":
            return super().tokenize(captions_for_image)
        rows = list(captions_for_image)
        for place, row in enumerate(rows):
            if not isinstance(row, Mapping) or "image_id" not in row or "caption" not in row:
                raise InputError(
                    f"result {place} is {kind(row)}; rows {{'image_id': …, 'caption': text}} are expected"
                )
        tokens = super().tokenize({place: [row] for place, row in enumerate(rows)})
        return [{"image_id": row["image_id"], "caption": tokens[place]} for place, row in enumerate(rows)]


class _WithFrequencies(pycocoevalcap.Cider):
    """Scores of several captions of an image. They need document frequencies from a file."""

    def my_compute_score(
        self, gts: Sequence[Sequence[str]], res: Sequence[Sequence[str]], avg_refs: bool = True
    ) -> tuple[np.float64, NDArray[np.float64]]:
        """Return the mean, and a row of values for the captions of each image.

        All images have the same number of captions.
        """
        sizes = {len(texts) for texts in res}
        if len(gts) != len(res) or len(sizes) != 1 or 0 in sizes:
            raise InputError(
                f"{len(gts)} lists of references and {len(res)} lists of captions with "
                f"{', '.join(map(str, sorted(sizes))) or 'no'} captions; give as many lists of references, "
                "and the same number of captions for each image"
            )
        candidates = [text for texts in res for text in texts]
        references = [own for own, texts in zip(gts, res) for _ in texts]
        each = self._fixed_scores(candidates, references).reshape(len(res), -1)
        return np.float64(each.mean()), each

    def my_self_cider(self, res: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
        """Return, for the captions of each image, the value of each with each as its reference."""
        pairs = [(text, [other]) for texts in res for text in texts for other in texts]
        values = self._fixed_scores([text for text, _ in pairs], [others for _, others in pairs])
        ends = np.cumsum([len(texts) ** 2 for texts in res])
        return [own.reshape(len(texts), len(texts)) for own, texts in zip(np.split(values, ends[:-1]), res)]

    def _fixed_scores(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]]
    ) -> NDArray[np.float64]:
        if self._scorer.df_mode == "corpus":
            raise InputError("these scores need document frequencies from a file: CiderD(df='FILE.p')")
        return self._scorer.score(candidates, references)[1] if candidates else np.zeros(0)


class CiderD(_WithFrequencies):
    """CIDEr-D."""

    _method = "CIDEr-D"

    def __init__(self, n: int = 4, sigma: float = 6.0, df: str = "corpus") -> None:
        super().__init__(n=n, sigma=sigma, df=df)


class Cider(_WithFrequencies):
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


class CIDErEvalCap:
    """CIDEr and CIDEr-D of raw captions.

    ``gts`` has references by image, ``{image: [{"caption": text}, …]}``; ``res`` has rows
    ``{"image_id": …, "caption": text}``. ``df`` is ``"corpus"``, or a file of document frequencies.
    """

    def __init__(self, gts: Any, res: Any, df: str = "corpus") -> None:
        self.gts = PTBTokenizer("gts").tokenize(gts)
        self.res = PTBTokenizer("res").tokenize(res)
        self.df = df

    def evaluate(self) -> dict[str, list[float]]:
        """Return the values of all rows by metric."""
        scorers = {"CIDEr": Cider(df=self.df), "CIDErD": CiderD(df=self.df)}
        return {name: list(scorer.compute_score(self.gts, self.res)[1]) for name, scorer in scorers.items()}
