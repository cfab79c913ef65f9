"""CHAIR (Rohrbach et al. 2018): objects that a caption names and the image does not have."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from captious.corpus import Captions, Corpus
from captious.io.objects import read_objects
from captious.measures.base import FloatArray, Measure, Need
from captious.measures.options import CHAIR_SYNONYMS, OBJECTS, Option
from captious.measures.resources import Resource
from captious.metrics.chair_objects import ImageObjects
from captious.metrics.chair_table import Mention, ObjectTable, default_table, read_table, table_from

Objects = ImageObjects | Mapping[str, Iterable[str]] | str | Path | None
Table = ObjectTable | Mapping[str, list[str]] | str | Path | None


@dataclass(frozen=True)
class Mentions:
    """What one caption names, and what of it is not in the image."""

    image: str
    caption: str
    mentioned: list[Mention]
    hallucinated: list[Mention]


class Chair(Measure):
    """What CHAIRs and CHAIRi share.

    The objects of an image are those given for it (``objects``: COCO instances, JSON lines, or a mapping from image id to
    names) together with those that its references name. Without ``objects`` the references alone must do, and what no
    reference mentions counts as hallucinated.
    """

    higher_is_better = False
    options: ClassVar[tuple[Option, ...]] = (OBJECTS, CHAIR_SYNONYMS)

    def __init__(self, objects: Objects = None, chair_synonyms: Table = None) -> None:
        if isinstance(objects, str | Path):
            objects = ImageObjects(read_objects(objects), str(objects))
        elif objects is not None and not isinstance(objects, ImageObjects):
            objects = ImageObjects(objects)
        self.objects = objects
        if chair_synonyms is None:
            self.table = default_table()
        elif isinstance(chair_synonyms, str | Path):
            self.table = read_table(chair_synonyms)
        else:
            self.table = chair_synonyms if isinstance(chair_synonyms, ObjectTable) else table_from(dict(chair_synonyms))

        # With objects given, captions without references can be judged too.
        self.needs: frozenset[Need] = frozenset() if self.objects is not None else frozenset({"references"})

    def resources(self) -> dict[str, Resource]:
        return {"synonyms": self.table, **({} if self.objects is None else {"objects": self.objects})}

    def parameters(self) -> dict[str, str]:
        return {**super().parameters(), **({"objects": "references"} if self.objects is None else {})}

    def uses_references(self) -> bool:
        return True

    def prepare(self, references: Captions) -> None:
        self.named(references)

    def named(self, references: Captions) -> list[frozenset[str]]:
        """The objects that the references of each image name."""

        def make() -> list[frozenset[str]]:
            named = _mentions_of(references, self.table)
            bounds = references.image_offsets.tolist()
            return [frozenset(m.object for i in range(a, b) for m in named[i]) for a, b in itertools.pairwise(bounds)]

        return references.cached(("objects of images", self.table), make)

    def truth(self, corpus: Corpus) -> list[frozenset[str]]:
        """The objects of each image."""
        named = self.named(corpus.references)
        from_references = [named[i] for i in corpus.images.tolist()]
        if self.objects is None:
            return from_references
        return [a | b for a, b in zip(from_references, self.objects.classes(corpus.ids, self.table))]

    def mentions(self, corpus: Corpus) -> list[Mentions]:
        """The objects that each candidate names, and the hallucinated ones among them."""
        truth = self.truth(corpus)
        captions = corpus.candidates
        return [
            Mentions(corpus.ids[image], text, named, [mention for mention in named if mention.object not in truth[image]])
            for text, image, named in zip(captions.texts, captions.image_of.tolist(), _mentions_of(captions, self.table))
        ]


class ChairI(Chair):
    """Hallucinated objects over all objects named, in the whole corpus; a caption that names none has no value."""

    name = "CHAIRi"
    summary = "share of named objects that are not in the image (Rohrbach et al. 2018)"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        return np.array([[len(row.hallucinated), len(row.mentioned)] for row in self.mentions(corpus)], dtype=np.float64)


class ChairS(Chair):
    """The share of captions with a hallucinated object."""

    name = "CHAIRs"
    summary = "share of captions that name an object not in the image (Rohrbach et al. 2018)"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        return np.array([[bool(row.hallucinated), 1] for row in self.mentions(corpus)], dtype=np.float64)


def _mentions_of(captions: Captions, table: ObjectTable) -> list[list[Mention]]:
    def make() -> list[list[Mention]]:
        # Captions that say the same name the same.
        first, inverse = captions.unique
        found = [table.mentions(captions.words(i)) for i in first.tolist()]
        return [found[i] for i in inverse.tolist()]

    return captions.cached(("objects named", table), make)
