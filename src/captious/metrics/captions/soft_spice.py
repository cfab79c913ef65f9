"""Soft-SPICE (Li et al. 2023): scene graphs compared by the similarity of their tuples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure
from captious.metrics.captions.encoded_captions import EncoderUser
from captious.metrics.captions.spice import Scenes, Spice
from captious.metrics.captions.tuple_phrases import reference_phrases, soft_matches
from captious.metrics.options import METEOR_DATA, PARSER, SENTENCE_MODEL, Option
from captious.metrics.resources import Resource
from captious.parser import Parser


class SoftSpice(EncoderUser, Measure):
    """F1 over tuples as in SPICE, where a tuple counts by its cosine with the nearest one on the other side.

    A tuple is encoded as a short phrase ("brown dog", "man ride horse"). The statistics of a caption are F,
    1, precision and recall.
    """

    name = "Soft-SPICE"
    summary = "F1 over tuples of scene graphs, by the nearness of their sentence vectors (Li et al. 2023)"
    options: ClassVar[tuple[Option, ...]] = (METEOR_DATA, PARSER, SENTENCE_MODEL)
    fixed: Mapping[str, str] = {"tuples": "phrases"}
    # The references of an image together have more tuples than any one of them.
    perfect_is_maximum = False

    def __init__(
        self,
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
        sentence_model: Any = None,
    ) -> None:
        self.spice = Spice(meteor_data=meteor_data, parser=parser)
        super().__init__(sentence_model)

    def check(self, corpus: Corpus | None = None) -> None:
        self.find()
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {**self.spice.resources(), "model": self.encoder}

    def prepare(self, references: Captions) -> Scenes:
        scenes = self.spice.prepare(references)
        reference_phrases(references, scenes, self.encoder)
        return scenes

    def statistics(self, corpus: Corpus, state: Scenes) -> FloatArray:
        precision, recall, f = soft_matches(corpus, state, self.encoder).T
        return np.stack([f, np.ones_like(f), precision, recall], axis=1)
