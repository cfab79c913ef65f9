"""SPIDEr (Liu et al. 2017): the mean of SPICE and CIDEr-D."""

from __future__ import annotations

from pathlib import Path

from captious.corpus import Corpus
from captious.metrics.base import FloatArray, Metric, as_statistics
from captious.metrics.cider import SCALE, CiderD
from captious.metrics.document_frequency import DocumentFrequencies
from captious.metrics.spice import Spice


class Spider(Metric):
    """Half SPICE, for what is said, and half CIDEr-D, for how."""

    name = "SPIDEr"
    summary = "mean of SPICE and CIDEr-D (Liu et al. 2017)"
    bounds = (0.0, (1.0 + SCALE) / 2)
    needs = Spice.needs | CiderD.needs
    options = ("df", "meteor_data")
    perfect_is_maximum = False

    def __init__(self, df: DocumentFrequencies | None = None, meteor_data: str | Path | None = None) -> None:
        self.spice = Spice(meteor_data=meteor_data)
        self.cider = CiderD(df)

    def check(self) -> None:
        self.spice.check()

    def statistics(self, corpus: Corpus) -> FloatArray:
        return as_statistics((self.spice.statistics(corpus)[:, 0] + self.cider.statistics(corpus)[:, 0]) / 2)

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        return {**self.spice.signature_fields(corpus), **self.cider.signature_fields(corpus)}
