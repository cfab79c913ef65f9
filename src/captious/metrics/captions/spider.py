"""SPIDEr (Liu et al. 2017): the mean of SPICE and CIDEr-D."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from captious.corpus import Captions, Corpus
from captious.corpus.frequencies import DocumentFrequencies
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics
from captious.metrics.captions.cider import SCALE, CiderD
from captious.metrics.captions.spice import Scenes, Spice
from captious.metrics.options import METEOR_DATA, PARSER, Option
from captious.parser import Parser


class Spider(Measure):
    """Half SPICE, for content, and half CIDEr-D, for wording."""

    name = "SPIDEr"
    summary = "mean of SPICE and CIDEr-D (Liu et al. 2017)"
    bounds = (0.0, (1.0 + SCALE) / 2)
    needs = Spice.needs | CiderD.needs
    options: ClassVar[tuple[Option, ...]] = (*CiderD.options, METEOR_DATA, PARSER)
    perfect_is_maximum = False

    def __init__(
        self,
        df: DocumentFrequencies | None = None,
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
    ) -> None:
        self.spice = Spice(meteor_data=meteor_data, parser=parser)
        self.cider = CiderD(df)

    def check(self, corpus: Corpus | None = None) -> None:
        self.spice.check(corpus)
        self.cider.check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {**self.spice.resources(), **self.cider.resources()}

    def parameters(self) -> dict[str, str]:
        return {**self.spice.parameters(), **self.cider.parameters()}

    def prepare(self, references: Captions) -> tuple[Scenes, DocumentFrequencies]:
        return self.spice.prepare(references), self.cider.prepare(references)

    def statistics(self, corpus: Corpus, state: tuple[Scenes, DocumentFrequencies]) -> FloatArray:
        scenes, frequencies = state
        spice, cider = self.spice.statistics(corpus, scenes), self.cider.statistics(corpus, frequencies)
        return as_statistics((spice[:, 0] + cider[:, 0]) / 2)
