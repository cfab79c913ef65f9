"""ParaSPICE: SPICE over paragraphs. The sentences of a description form one scene."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import ClassVar

from captious.core.memo import Product
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray
from captious.metrics.captions.paragraph_scenes import paragraph_tuples
from captious.metrics.captions.spice import Scenes, Spice
from captious.metrics.options import METEOR_DATA, PARSER, Option
from captious.parser import Parser
from captious.scene.graphs import SceneGraphs
from captious.text.synonyms import Synonyms

#: Sub-scores beside the kinds of tuples: column of SPICE's statistics and description.
_SIDES = {
    "P": (2, "share of a description's tuples that the references have, merged over sentences"),
    "R": (3, "share of the references' tuples that a description has, merged over sentences"),
}


class ParagraphScenes(Scenes):
    """Scenes of descriptions, read sentence by sentence, with nouns in place of pronouns."""

    @property
    def key(self) -> tuple[object, ...]:
        return "paragraphs", *super().key

    def of(self, corpus: Corpus) -> tuple[SceneGraphs, SceneGraphs, IntArray]:
        ours = corpus.candidates.cached(
            ("scene graphs of paragraphs", self.parser.label, self.parser.digest, self.synonyms),
            lambda: _graphs(corpus.candidates, range(len(corpus.candidates) + 1), self.parser, self.synonyms),
        )
        theirs = _reference_graphs(corpus.references, self.parser, self.synonyms)
        return ours, theirs, corpus.images[corpus.candidates.image_of]


class ParaSpice(Spice):
    """SPICE of merged sentences: F1, precision or recall of all tuples, or F1 of one kind."""

    options: ClassVar[tuple[Option, ...]] = (METEOR_DATA, PARSER)

    def __init__(
        self,
        category: str = "All",
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
    ) -> None:
        super().__init__("All" if category in _SIDES else category, meteor_data, parser)
        self.side = category if category in _SIDES else ""
        self.name = "ParaSPICE" if category == "All" else f"ParaSPICE-{category}"
        if self.side:
            self.summary = _SIDES[self.side][1]
        elif category == "All":
            self.summary = "SPICE of descriptions: sentences are parsed one by one and merged into one scene"
        else:
            self.summary = f"ParaSPICE over tuples of the kind {category.lower()} alone"

    def prepare(self, references: Captions) -> Scenes:
        synonyms = Synonyms.load(self.meteor_data)
        return ParagraphScenes(
            self.parser, synonyms, _reference_graphs(references, self.parser, synonyms), None, None
        )

    def statistics(self, corpus: Corpus, state: Scenes) -> FloatArray:
        rows = super().statistics(corpus, state)
        if self.side:
            rows[:, 0] = rows[:, _SIDES[self.side][0]]
        return rows


def _reference_graphs(references: Captions, parser: Parser, synonyms: Synonyms) -> SceneGraphs:
    """Return one graph per image, of all sentences of its references. Prepared files store the graphs."""
    kind: Product[SceneGraphs] = Product(
        "scene graphs of paragraphs", SceneGraphs.pack, lambda arrays: SceneGraphs.unpack(arrays, synonyms)
    )
    return references.product(
        kind,
        (parser.label, parser.digest, synonyms.digest),
        lambda: _graphs(references, references.image_offsets.tolist(), parser, synonyms),
    )


def _graphs(captions: Captions, bounds: range | list[int], parser: Parser, synonyms: Synonyms) -> SceneGraphs:
    """Build a graph from each group of captions."""
    rows = paragraph_tuples(captions, parser)
    groups = [
        list(dict.fromkeys(item.items for row in rows[a:b] for item in row))
        for a, b in itertools.pairwise(bounds)
    ]
    return SceneGraphs.from_tuples(groups, synonyms)
