"""AMBER's measures of descriptions (Wang et al. 2023): CHAIR, Cover, Hal and Cog, from its annotation."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from captious.core.errors import InputError, MissingInputError, some
from captious.core.memo import cached_property
from captious.corpus import Corpus
from captious.io.amber_files import AmberFiles, annotations_of, read_amber
from captious.io.id_matching import plain_id
from captious.metrics.base import FloatArray, Measure, Need, Resource
from captious.metrics.captions.named_objects import caption_words
from captious.metrics.captions.phrase_matching import PhraseTable
from captious.metrics.options import AMBER, METEOR_DATA, PARSER, Option
from captious.parser import Parser
from captious.parser.choice import get as get_parser
from captious.text.synonyms import Synonyms
from captious.vectors.caption_vectors import load

#: Similarity above which a word stands for an object that it does not name.
NEAR = 0.8
_FILE = re.compile(r"AMBER_(\d+)$", re.IGNORECASE)


class AmberAnnotation:
    """Objects that are in images, objects that models tend to invent, and the words that stand for them."""

    label = "amber"

    def __init__(self, files: AmberFiles, where: str = "the annotation") -> None:
        self.files, self.where = files, where

    @cached_property
    def digest(self) -> str:
        """Digest of the content."""
        images, words, safe = self.files
        text = json.dumps([sorted(images.items()), sorted(words.items()), sorted(safe)])
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Names of all objects and words that stand for them. Other words do not count."""
        images, words, _ = self.files
        named = {name for sides in images.values() for side in sides for name in side}
        return frozenset(named.union(words, *words.values()))

    def of(self, ids: Iterable[str]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return both lists of objects for each image. "AMBER_12.jpg" is image 12."""
        by_id = {_plain(image): sides for image, sides in self.files.images.items()}
        missing = [image for image in ids if _plain(image) not in by_id]
        if missing:
            raise InputError(
                f"{self.where} has no row for image {some(missing)}; ids of predictions must be those "
                "of the annotation"
            )
        return [by_id[_plain(image)] for image in ids]


def _plain(image: str) -> str:
    plain = plain_id(image)
    match = _FILE.match(plain)
    return match[1].lstrip("0") or "0" if match else plain


#: A folder of AMBER's files, a file of annotations, or {image: {"truth": […], "hallu": […]}}.
Amber = AmberAnnotation | Mapping[str, Mapping[str, list[str]]] | str | Path | None


class AmberObject(NamedTuple):
    """A mention of an object in a description, or an object of the annotation that it does not mention."""

    #: The lemma in the description, "" for objects that it does not mention.
    word: str
    #: The object that it stands for, "" if it stands for none of the annotation.
    object: str
    #: ``matched``, ``hallucinated``, ``unjudged`` (a safe word) or ``missed``.
    status: str
    #: Whether the object is one that models tend to invent.
    is_typical: bool


class AmberMeasure(Measure):
    """Base of AMBER's measures.

    The objects of a description are those of its nouns that the annotation knows, without negated ones. A
    noun is in the image if it names or stands for one of its objects, or is near one (a synonym, or a cosine
    of distilled caption vectors above 0.8).
    """

    higher_is_better = False
    needs: frozenset[Need] = frozenset()
    options: ClassVar[tuple[Option, ...]] = (AMBER, METEOR_DATA, PARSER)
    fixed: Mapping[str, str] = {"near": f"{NEAR:g}"}
    perfect_is_maximum = False

    def __init__(
        self,
        amber: Amber = None,
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
    ) -> None:
        if isinstance(amber, str | Path):
            amber = AmberAnnotation(read_amber(amber), str(amber))
        elif amber is not None and not isinstance(amber, AmberAnnotation):
            rows = [{"id": image, **sides} for image, sides in amber.items()]
            amber = AmberAnnotation(AmberFiles(annotations_of(rows, "the annotation"), {}, frozenset()))
        self.amber = amber
        self.meteor_data = meteor_data
        self.parser = get_parser(parser)

    def check(self, corpus: Corpus | None = None) -> None:
        if self.amber is None:
            raise MissingInputError(
                f"{self.name} needs AMBER's annotation: pass its folder, or a file of that form (--amber)"
            )
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        listed: dict[str, Resource] = {} if self.amber is None else {"amber": self.amber}
        return {
            "parser": self.parser,
            "synonyms": Synonyms.load(self.meteor_data),
            "vectors": load(),
            **listed,
        }

    def objects(self, corpus: Corpus) -> list[list[AmberObject]]:
        """Return the mentions of each candidate in their order, then the objects that it does not mention."""
        assert self.amber is not None
        key = ("objects of amber", self.parser.label, self.parser.digest, str(self.meteor_data), self.amber)
        return corpus.cached(key, lambda: self._objects(corpus))

    def _objects(self, corpus: Corpus) -> list[list[AmberObject]]:
        assert self.amber is not None
        vocabulary, (_, words, safe) = self.amber.vocabulary, self.amber.files
        images = self.amber.of(corpus.ids)
        parsed = caption_words(corpus.candidates, self.parser)
        table = PhraseTable(vocabulary, load().words, Synonyms.load(self.meteor_data))

        def near(word: str, names: tuple[str, ...]) -> str:
            others = [(name, other) for name in names for other in (name, *words.get(name, ()))]
            if not others:
                return ""
            cells = table.similarities([table.numbers[word]], [table.numbers[other] for _, other in others])
            best = int(cells[0].argmax())
            return others[best][0] if cells[0, best] > NEAR else ""

        def named(word: str, names: tuple[str, ...]) -> str:
            if word in names:
                return word
            return next((name for name in names if word in words.get(name, ())), "")

        def judged(word: str, truth: tuple[str, ...], invented: tuple[str, ...]) -> AmberObject:
            if word in safe:
                return AmberObject(word, "", "unjudged", False)
            if own := named(word, truth):
                return AmberObject(word, own, "matched", False)
            if own := named(word, invented):
                return AmberObject(word, own, "hallucinated", True)
            if own := near(word, truth):
                return AmberObject(word, own, "matched", False)
            own = near(word, invented)
            return AmberObject(word, own, "hallucinated", bool(own))

        results = []
        known: dict[tuple[int, str], AmberObject] = {}
        for i, image in enumerate(corpus.candidates.image_of.tolist()):
            rows = []
            for sentence in parsed.sentences(i):
                for noun in parsed.nouns[sentence]:
                    if noun.lemma in vocabulary:
                        key = (image, noun.lemma)
                        if key not in known:
                            known[key] = judged(noun.lemma, *images[image])
                        rows.append(known[key])
            covered = {row.object for row in rows if row.status == "matched"}
            missed = [name for name in images[image][0] if name not in covered]
            results.append([*rows, *(AmberObject("", name, "missed", False) for name in missed)])
        return results

    def _counts(self, corpus: Corpus) -> FloatArray:
        """Return mentions, wrong ones, objects, covered ones, typical inventions, and those named."""
        assert self.amber is not None
        images = self.amber.of(corpus.ids)
        counts = np.zeros((len(corpus.candidates), 6))
        for i, (image, rows) in enumerate(zip(corpus.candidates.image_of.tolist(), self.objects(corpus))):
            wrong = [row for row in rows if row.status == "hallucinated"]
            counts[i] = (
                sum(row.status != "missed" for row in rows),
                len(wrong),
                len(images[image][0]),
                len({row.object for row in rows if row.status == "matched"}),
                len(images[image][1]),
                len({row.object for row in wrong if row.is_typical}),
            )
        return counts


class AmberChair(AmberMeasure):
    """Hallucinated objects over all named objects of the corpus."""

    name = "AMBER-CHAIR"
    summary = "share of named objects that are not in the image, by AMBER's annotation (Wang et al. 2023)"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        return self._counts(corpus)[:, [1, 0]]


class Cover(AmberMeasure):
    """Objects that descriptions name over all objects of the images."""

    name = "Cover"
    summary = "share of the objects of an image that its description names, by AMBER's annotation"
    higher_is_better = True

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        return self._counts(corpus)[:, [3, 2]]


class Hal(AmberMeasure):
    """Share of descriptions with a hallucinated object."""

    name = "Hal"
    summary = "share of descriptions that name an object not in the image, by AMBER's annotation"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        wrong = self._counts(corpus)[:, 1] > 0
        return np.stack([wrong, np.ones(len(wrong))], axis=1).astype(np.float64)


class Cog(AmberMeasure):
    """Objects that models tend to invent and the descriptions name, over all that the annotation lists."""

    name = "Cog"
    summary = "share of the objects that models tend to invent which descriptions name (AMBER's Cog)"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        return self._counts(corpus)[:, [5, 4]]
