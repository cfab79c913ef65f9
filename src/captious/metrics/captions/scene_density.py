"""AttrPerObject and RelPerObject: how much a text says of each object that it names."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from captious.corpus import Corpus
from captious.metrics.base import FloatArray, Measure, Need, Resource
from captious.metrics.captions.paragraph_scenes import paragraph_tuples
from captious.metrics.options import PARSER, Option
from captious.parser import Parser
from captious.parser.choice import get as get_parser


class SceneDensity(Measure):
    """Attributes or relations over objects in all scenes of the corpus, merged as for CAPTURE."""

    needs: frozenset[Need] = frozenset()
    options: ClassVar[tuple[Option, ...]] = (PARSER,)
    bounds: tuple[float | None, float | None] = (0.0, None)
    perfect_is_maximum = False

    def __init__(self, size: int = 2, parser: Parser | str | None = None) -> None:
        #: Words of the tuples that are counted: 2 for attributes, 3 for relations.
        self.size = size
        self.name, kind = {2: ("AttrPerObject", "attributes"), 3: ("RelPerObject", "relations")}[size]
        self.summary = f"{kind} per object that the text names, by the parser"
        self.parser = get_parser(parser)

    def resources(self) -> dict[str, Resource]:
        return {"parser": self.parser}

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        rows = [
            (
                sum(len(item.items) == self.size for item in tuples),
                sum(len(item.items) == 1 for item in tuples),
            )
            for tuples in paragraph_tuples(corpus.candidates, self.parser)
        ]
        return np.array(rows, np.float64).reshape(-1, 2)
