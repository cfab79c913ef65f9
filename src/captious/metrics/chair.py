"""CHAIR (Rohrbach et al. 2018): objects that a caption names and the image does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.cache import content_digest
from captious.corpus import Captions, Corpus, IntArray
from captious.io.objects import read_objects
from captious.measures.base import FloatArray, Measure, Need
from captious.measures.options import CHAIR_SYNONYMS, OBJECTS, Option
from captious.measures.resources import Resource
from captious.metrics.chair_matching import Found, find, spans, within
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
            objects = _objects_of(objects)
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
        self._named(references)

    def _named(self, references: Captions) -> IntArray:
        """The objects that the references of each image name: image and class in one number, ascending."""

        def make() -> IntArray:
            named = _found(references, self.table)
            return np.unique(references.image_of[_captions_of(named)] * self._classes + named.kind)

        return references.cached(("objects of images", self.table.digest), make)

    def _given(self, corpus: Corpus) -> IntArray:
        """The same for the objects given for the images of a corpus."""
        if self.objects is None:
            return np.zeros(0, np.int64)
        offsets, kinds = self.objects.kinds(corpus.ids, self.table)
        return np.unique(np.repeat(np.arange(len(corpus), dtype=np.int64), np.diff(offsets)) * self._classes + kinds)

    @property
    def _classes(self) -> int:
        return max(len(self.table.kinds), 1)

    def truth(self, corpus: Corpus) -> list[frozenset[str]]:
        """The objects of each image."""
        rows: list[set[str]] = [set() for _ in range(len(corpus))]
        for key in self._given(corpus).tolist():
            rows[key // self._classes].add(self.table.kinds[key % self._classes])
        named = self._named(corpus.references)
        bounds = np.searchsorted(named, np.arange(corpus.references.n_images + 1, dtype=np.int64) * self._classes)
        for row, image in zip(rows, corpus.images.tolist()):
            row.update(self.table.kinds[key % self._classes] for key in named[bounds[image] : bounds[image + 1]].tolist())
        return list(map(frozenset, rows))

    def _judged(self, corpus: Corpus) -> tuple[Found, NDArray[np.bool_]]:
        """What the candidates name, and which of it is not in the image."""
        named = _found(corpus.candidates, self.table)
        image = corpus.candidates.image_of[_captions_of(named)]
        there = within(image * self._classes + named.kind, self._given(corpus))
        there |= within(corpus.images[image] * self._classes + named.kind, self._named(corpus.references))
        return named, ~there

    def counts(self, corpus: Corpus) -> tuple[IntArray, IntArray]:
        """How many objects each candidate names, and how many of them are hallucinated."""

        def make() -> tuple[IntArray, IntArray]:
            named, wrong = self._judged(corpus)
            return np.diff(named.offsets), np.bincount(_captions_of(named)[wrong], minlength=len(corpus.candidates)).astype(np.int64)

        return corpus.cached(("objects counted", self.table.digest, self.objects), make)

    def mentions(self, corpus: Corpus) -> list[Mentions]:
        """The objects that each candidate names, and the hallucinated ones among them."""
        captions = corpus.candidates
        named, wrong = self._judged(corpus)
        words = captions.encoding.words[captions.tokens].tolist()
        listed = list(map(Mention, spans(named, words), [self.table.kinds[kind] for kind in named.kind.tolist()]))
        bad = wrong.tolist()
        return [
            Mentions(corpus.ids[image], text, listed[a:b], [mention for mention, is_bad in zip(listed[a:b], bad[a:b]) if is_bad])
            for text, image, (a, b) in zip(captions.texts, captions.image_of.tolist(), pairwise(named.offsets.tolist()))
        ]


class ChairI(Chair):
    """Hallucinated objects over all objects named, in the whole corpus; a caption that names none has no value."""

    name = "CHAIRi"
    summary = "share of named objects that are not in the image (Rohrbach et al. 2018)"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        mentioned, hallucinated = self.counts(corpus)
        return np.stack([hallucinated, mentioned], axis=1).astype(np.float64)


class ChairS(Chair):
    """The share of captions with a hallucinated object."""

    name = "CHAIRs"
    summary = "share of captions that name an object not in the image (Rohrbach et al. 2018)"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        hallucinated = self.counts(corpus)[1] > 0
        return np.stack([hallucinated, np.ones(len(hallucinated))], axis=1)


def _objects_of(path: str | Path) -> ImageObjects:
    """The objects in a file, read again only where it has changed: both measures have the same."""
    return _read(str(path), content_digest(Path(path))) if Path(path).is_file() else ImageObjects(read_objects(path), str(path))


@lru_cache(maxsize=2)
def _read(path: str, content: str) -> ImageObjects:
    return ImageObjects(read_objects(path), path)


def _found(captions: Captions, table: ObjectTable) -> Found:
    """The objects that captions name."""
    encoding, key = captions.encoding, table.digest

    def make() -> Found:
        codes = encoding.per_word(("words for objects", key), table.codes)
        return find(captions.tokens, captions.token_offsets, codes, table.rules)

    return captions.cached(("objects named", key), make)


def _captions_of(named: Found) -> IntArray:
    """The caption of each mention."""
    return np.repeat(np.arange(len(named.offsets) - 1, dtype=np.int64), np.diff(named.offsets))
