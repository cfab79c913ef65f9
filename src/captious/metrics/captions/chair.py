"""CHAIR (Rohrbach et al. 2018): objects that a caption names and the image does not have."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core.cache import content_digest
from captious.core.errors import InputError, did_you_mean, some
from captious.core.memo import cached_property
from captious.core.ragged import IntArray, offsets_of
from captious.corpus import Captions, Corpus
from captious.io.id_matching import plain_id
from captious.io.object_files import read_objects
from captious.metrics.base import FloatArray, Measure, Need, Resource, contained
from captious.metrics.captions.chair_matching import FoundPhrases, find, spans
from captious.metrics.captions.chair_table import Mention, ObjectTable, default_table, read_table, table_from
from captious.metrics.options import CHAIR_SYNONYMS, OBJECTS, Option


class ImageObjects:
    """Objects by image id. Names are classes or synonyms of the table."""

    label = "objects"

    def __init__(self, objects: Mapping[str, Iterable[str]], where: str = "the objects") -> None:
        self.where = where
        self._objects = {str(image): frozenset(names) for image, names in objects.items()}

    def __len__(self) -> int:
        return len(self._objects)

    def names(self, ids: Iterable[str]) -> list[frozenset[str]]:
        """Return the objects of each image as they are written."""
        wanted = list(ids)
        if not all(image in self._objects for image in wanted):
            # One side may name images by number and the other by file name.
            plain = {plain_id(image): image for image in self._objects}
            if len(plain) == len(self._objects):
                wanted = [
                    image if image in self._objects else plain.get(plain_id(image), image) for image in wanted
                ]
        missing = [image for image in wanted if image not in self._objects]
        if missing:
            raise InputError(
                f"{self.where} has no entry for image {some(missing)}; list the objects of all images "
                "(an empty list for images without objects)"
            )
        return [self._objects[image] for image in wanted]

    def kinds(self, ids: Iterable[str], table: ObjectTable) -> tuple[IntArray, IntArray]:
        """Return the offsets of each image's objects, and their classes by the table's numbers."""
        own = self.names(ids)
        classes: dict[str, int] = {}
        number = {kind: place for place, kind in enumerate(table.kinds)}
        for name in frozenset().union(*own):
            kind = table.class_of(name.lower())
            if kind is None:
                raise InputError(
                    f"{self.where}: the object '{name}' is not in the synonym table"
                    f"{did_you_mean(name, table.objects)}; "
                    "pass a table that has it (--chair-synonyms)"
                )
            classes[name] = number[kind]
        flat = list(map(classes.__getitem__, chain.from_iterable(own)))
        return offsets_of(list(map(len, own))), np.array(flat, dtype=np.int64)

    @cached_property
    def digest(self) -> str:
        """Digest of the objects of all images."""
        text = json.dumps(sorted((image, sorted(names)) for image, names in self._objects.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:8]


Objects = ImageObjects | Mapping[str, Iterable[str]] | str | Path | None
Table = ObjectTable | Mapping[str, list[str]] | str | Path | None


@dataclass(frozen=True)
class Mentions:
    """Objects that a caption names, and those of them that are not in the image."""

    image: str
    caption: str
    mentioned: list[Mention]
    hallucinated: list[Mention]

    def to_json(self) -> dict[str, object]:
        """Return a description for JSON, with each mention as its words and its class."""
        return {
            "image_id": self.image,
            "caption": self.caption,
            "mentioned": [list(mention) for mention in self.mentioned],
            "hallucinated": [list(mention) for mention in self.hallucinated],
        }


class Chair(Measure):
    """Base of CHAIRs and CHAIRi.

    The objects of an image are those in ``objects`` (COCO instances, JSON lines, or a mapping from image id
    to names) and those that its references name. Without ``objects``, only the references count, and anything
    that no reference mentions is hallucinated.
    """

    higher_is_better = False
    options: ClassVar[tuple[Option, ...]] = (OBJECTS, CHAIR_SYNONYMS)

    def __init__(self, objects: Objects = None, chair_synonyms: Table = None) -> None:
        self.objects = image_objects(objects)
        if chair_synonyms is None:
            self.table = default_table()
        elif isinstance(chair_synonyms, str | Path):
            self.table = read_table(chair_synonyms)
        else:
            self.table = (
                chair_synonyms
                if isinstance(chair_synonyms, ObjectTable)
                else table_from(dict(chair_synonyms))
            )

        # With objects, captions can be judged without references.
        self.needs: frozenset[Need] = frozenset() if self.objects is not None else frozenset({"references"})

    def resources(self) -> dict[str, Resource]:
        return {"synonyms": self.table, **({} if self.objects is None else {"objects": self.objects})}

    def parameters(self) -> dict[str, str]:
        return {**super().parameters(), **({"objects": "references"} if self.objects is None else {})}

    def uses_references(self) -> bool:
        return True

    def prepare(self, references: Captions) -> None:
        # Cached with the references; statistics reads it there.
        self._named(references)

    def _named(self, references: Captions) -> IntArray:
        """Return the objects that each image's references name: image and class in one number, ascending."""

        def make() -> IntArray:
            named = find_objects(references, self.table)
            return np.unique(references.image_of[captions_of(named)] * self._classes + named.kind)

        return references.cached(("objects of images", self.table.digest), make)

    def _listed(self, corpus: Corpus) -> IntArray:
        """Return the same for the ``objects`` of the images of a corpus."""
        if self.objects is None:
            return np.zeros(0, np.int64)
        offsets, kinds = self.objects.kinds(corpus.ids, self.table)
        return np.unique(
            np.repeat(np.arange(len(corpus), dtype=np.int64), np.diff(offsets)) * self._classes + kinds
        )

    @property
    def _classes(self) -> int:
        return max(len(self.table.kinds), 1)

    def truth(self, corpus: Corpus) -> list[frozenset[str]]:
        """Return the objects of each image."""
        rows: list[set[str]] = [set() for _ in range(len(corpus))]
        for key in self._listed(corpus).tolist():
            rows[key // self._classes].add(self.table.kinds[key % self._classes])
        named = self._named(corpus.references)
        bounds = np.searchsorted(
            named, np.arange(corpus.references.n_images + 1, dtype=np.int64) * self._classes
        )
        for row, image in zip(rows, corpus.images.tolist()):
            row.update(
                self.table.kinds[key % self._classes]
                for key in named[bounds[image] : bounds[image + 1]].tolist()
            )
        return list(map(frozenset, rows))

    def _judged(self, corpus: Corpus) -> tuple[FoundPhrases, NDArray[np.bool_]]:
        """Return the objects that the candidates name, and which of them are not in the image."""
        named = find_objects(corpus.candidates, self.table)
        image = corpus.candidates.image_of[captions_of(named)]
        there = contained(image * self._classes + named.kind, self._listed(corpus))
        there |= contained(corpus.images[image] * self._classes + named.kind, self._named(corpus.references))
        return named, ~there

    def counts(self, corpus: Corpus) -> tuple[IntArray, IntArray]:
        """Return how many objects each candidate names, and how many of them are hallucinated."""

        def make() -> tuple[IntArray, IntArray]:
            named, wrong = self._judged(corpus)
            return np.diff(named.offsets), np.bincount(
                captions_of(named)[wrong], minlength=len(corpus.candidates)
            ).astype(np.int64)

        return corpus.cached(("objects counted", self.table.digest, self.objects), make)

    def mentions(self, corpus: Corpus) -> list[Mentions]:
        """Return the objects that each candidate names, and the hallucinated ones among them."""
        captions = corpus.candidates
        named, wrong = self._judged(corpus)
        words = captions.encoding.words[captions.tokens].tolist()
        listed = list(
            map(Mention, spans(named, words), [self.table.kinds[kind] for kind in named.kind.tolist()])
        )
        bad = wrong.tolist()
        return [
            Mentions(
                corpus.ids[image],
                text,
                listed[a:b],
                [mention for mention, is_bad in zip(listed[a:b], bad[a:b]) if is_bad],
            )
            for text, image, (a, b) in zip(
                captions.texts, captions.image_of.tolist(), pairwise(named.offsets.tolist())
            )
        ]


class ChairI(Chair):
    """Hallucinated objects over all named objects of the corpus. A caption that names none has no value."""

    name = "CHAIRi"
    summary = "share of named objects that are not in the image (Rohrbach et al. 2018)"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        mentioned, hallucinated = self.counts(corpus)
        return np.stack([hallucinated, mentioned], axis=1).astype(np.float64)


class ChairS(Chair):
    """Share of captions with a hallucinated object."""

    name = "CHAIRs"
    summary = "share of captions that name an object not in the image (Rohrbach et al. 2018)"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        hallucinated = self.counts(corpus)[1] > 0
        return np.stack([hallucinated, np.ones(len(hallucinated))], axis=1)


class ChairCover(Chair):
    """Objects of the images that captions name, over all objects of the images."""

    name = "CHAIR-Cover"
    summary = "share of the objects of an image that the caption names, by CHAIR's table"
    higher_is_better = True

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        truth = self.truth(corpus)
        images = corpus.candidates.image_of.tolist()
        rows = [
            (len({mention.object for mention in row.mentioned} & own), len(own))
            for row, own in zip(self.mentions(corpus), map(truth.__getitem__, images))
        ]
        return np.array(rows, np.float64).reshape(-1, 2)


def image_objects(objects: Objects) -> ImageObjects | None:
    """Return the objects of an option: a file, a mapping, or objects that were read before."""
    if isinstance(objects, str | Path):
        return _objects_of(objects)
    return objects if objects is None or isinstance(objects, ImageObjects) else ImageObjects(objects)


def _objects_of(path: str | Path) -> ImageObjects:
    """Return the objects in a file. Both measures share them until the file changes."""
    return (
        _read(str(path), content_digest(Path(path)))
        if Path(path).is_file()
        else ImageObjects(read_objects(path), str(path))
    )


@lru_cache(maxsize=2)
def _read(path: str, content: str) -> ImageObjects:
    return ImageObjects(read_objects(path), path)


def find_objects(captions: Captions, table: ObjectTable) -> FoundPhrases:
    """Return the objects that captions name."""
    encoding, key = captions.encoding, table.digest

    def make() -> FoundPhrases:
        codes = encoding.per_word(("words for objects", key), table.codes)
        return find(captions.tokens, captions.token_offsets, codes, table.rules)

    return captions.cached(("objects named", key), make)


def captions_of(named: FoundPhrases) -> IntArray:
    """Return the caption of each mention."""
    return np.repeat(np.arange(len(named.offsets) - 1, dtype=np.int64), np.diff(named.offsets))
