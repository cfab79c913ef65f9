"""FactRecall and FactPrecision: atomic facts of descriptions, and whether the other side covers them."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from captious.core.errors import InputError, some
from captious.core.memo import cached_property
from captious.core.threads import one_blas_thread
from captious.corpus import Captions, Corpus
from captious.io.fact_files import read_facts
from captious.metrics.base import FloatArray, Measure, Need, Resource, as_statistics
from captious.metrics.captions.named_objects import NOT_OBJECTS, CaptionWords, caption_words
from captious.metrics.captions.paragraph_scenes import SentenceTuple, paragraph_tuples
from captious.metrics.captions.phrase_matching import PhraseTable
from captious.metrics.options import FACTS, METEOR_DATA, PARSER, Option
from captious.parser import Parser
from captious.parser.choice import get as get_parser
from captious.text.stopwords import ENGLISH
from captious.text.synonyms import Synonyms
from captious.vectors.caption_vectors import load

#: Similarity of the worst word from which a fact is covered.
COVERED = 0.5
#: Words of facts that say nothing about the image.
_EMPTY = NOT_OBJECTS | ENGLISH | {"visible", "present", "feature", "show", "be", "have"}
_PREPOSITIONS = frozenset(
    ("in", "on", "at", "of", "with", "by", "near", "beside", "behind", "under", "above", "below", "over")
) | frozenset(("inside", "outside", "around", "against", "between", "from", "to", "next", "along", "across"))
_NUMBERS = frozenset(
    ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "several", "many")
)


class Fact(NamedTuple):
    """One statement, the words that have to be covered, and the sentence that states it."""

    text: str
    words: tuple[str, ...]
    sentence: int


class FactCoverage(NamedTuple):
    """A fact, and how well the other side covers it."""

    fact: str
    #: Sentence of the description that states the fact; 0 for facts of a file.
    sentence: int
    #: Similarity of its worst word with the nearest word of the other side, from 0 to 1.
    coverage: float
    #: Number of the sentence of the other side that covers most of it, −1 without sentences.
    by: int
    #: The word that is covered worst.
    worst: str

    @property
    def is_covered(self) -> bool:
        return self.coverage >= COVERED


def atomic_facts(text: str, *, tokenizer: str = "ptb", parser: Parser | str | None = None) -> list[Fact]:
    """Split a description into atomic facts by the parser.

    Parameters
    ----------
    text
        A description of one or several sentences.
    tokenizer
        ``"ptb"``, or ``"none"`` for tokens separated by spaces.
    parser
        A parser or its name.

    Returns
    -------
    list of Fact
        One for each object, attribute and relation, in the order of the sentences.

    Examples
    --------
    >>> [fact.text for fact in atomic_facts("A brown dog on a bed.")]
    ['The dog is brown.', 'The dog is on the bed.', 'There is a dog.', 'There is a bed.']
    """
    captions = Captions.of([[text]], tokenizer)
    return [fact_of(item) for item in paragraph_tuples(captions, get_parser(parser))[0]]


def fact_of(item: SentenceTuple) -> Fact:
    """Write a tuple as a sentence."""
    words = item.items
    first = words[0]
    if len(words) == 1:
        text = f"There is {'an' if first[:1] in 'aeiou' else 'a'} {first}."
    elif len(words) == 2:
        is_count = words[1] in _NUMBERS or words[1].isdigit()
        text = f"The number of {first} is {words[1]}." if is_count else f"The {first} is {words[1]}."
    else:
        verb, *rest = words[1].split()
        is_place = verb in _PREPOSITIONS or not verb.isalpha()
        relation = f"is {words[1]}" if is_place else " ".join([_inflected(verb), *rest])
        text = f"The {first} {relation} the {words[2]}."
    return Fact(text, _content(part for phrase in words for part in phrase.split()), item.sentence)


def _inflected(verb: str) -> str:
    """Return the third person of a verb."""
    if verb in ("have", "be"):
        return {"have": "has", "be": "is"}[verb]
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else verb + "s"


def _content(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word not in _EMPTY and word.isalnum()))


class ImageFacts:
    """Facts of images from a file or a mapping."""

    label = "facts"

    def __init__(self, facts: Mapping[str, Sequence[str]], where: str = "the facts") -> None:
        self._facts = {str(image): list(rows) for image, rows in facts.items()}
        self._where = where

    @cached_property
    def digest(self) -> str:
        """Digest of the facts of all images."""
        return hashlib.sha256(json.dumps(sorted(self._facts.items())).encode()).hexdigest()[:8]

    def of(self, ids: Iterable[str]) -> list[list[str]]:
        """Return the facts of each image."""
        missing = [image for image in ids if image not in self._facts]
        if missing:
            raise InputError(
                f"{self._where} has no entry for image {some(missing)}; list the facts of all images "
                "(an empty list for images without facts)"
            )
        return [self._facts[image] for image in ids]


class FactMeasure(Measure):
    """Base of FactRecall and FactPrecision.

    A fact is covered if each of its content words is equal to, a synonym of, or near enough to a word of the
    other side (distilled caption vectors).
    """

    options: ClassVar[tuple[Option, ...]] = (METEOR_DATA, PARSER)
    fixed: Mapping[str, str] = {"covered": f"{COVERED:g}"}
    perfect_is_maximum = False

    def __init__(self, meteor_data: str | Path | None = None, parser: Parser | str | None = None) -> None:
        self.meteor_data = meteor_data
        self.parser = get_parser(parser)

    def resources(self) -> dict[str, Resource]:
        return {"parser": self.parser, "synonyms": Synonyms.load(self.meteor_data), "vectors": load()}

    def prepare(self, references: Captions) -> None:
        # Cached with the references; statistics reads it there.
        caption_words(references, self.parser)
        paragraph_tuples(references, self.parser)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        shares = [
            sum(row.is_covered for row in rows) / len(rows) if rows else np.nan
            for rows in self.coverage(corpus)
        ]
        return as_statistics(np.array(shares, np.float64))

    def coverage(self, corpus: Corpus) -> list[list[FactCoverage]]:
        """Return the facts that are judged for each candidate, with their coverage."""
        key = ("facts", self.name, self.parser.label, self.parser.digest, str(self.meteor_data), self._source)
        return corpus.cached(key, lambda: self._coverage(corpus))

    def _coverage(self, corpus: Corpus) -> list[list[FactCoverage]]:
        facts, words, texts = self._sides(corpus)
        names = {word for rows in facts for fact in rows for word in fact.words}
        names.update(*words.words)
        table = PhraseTable(names, load().words, Synonyms.load(self.meteor_data))
        with one_blas_thread():
            return [_covered(rows, words, own, table) for rows, own in zip(facts, texts)]

    @property
    def _source(self) -> str:
        """Digest of the facts of a file."""
        return ""

    def _sides(self, corpus: Corpus) -> tuple[list[list[Fact]], CaptionWords, list[range]]:
        """Return the facts for each candidate, the words of the other side, and its captions."""
        raise NotImplementedError


class FactRecall(FactMeasure):
    """Share of the facts of an image that its description covers, mean over captions.

    The facts come from ``facts`` (a file or a mapping from image id to sentences), else from the references.
    """

    name = "FactRecall"
    summary = "share of the atomic facts of an image that the description covers"
    options: ClassVar[tuple[Option, ...]] = (FACTS, METEOR_DATA, PARSER)

    def __init__(
        self,
        facts: ImageFacts | Mapping[str, Sequence[str]] | str | Path | None = None,
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
    ) -> None:
        super().__init__(meteor_data, parser)
        if isinstance(facts, str | Path):
            facts = ImageFacts(read_facts(facts), str(facts))
        elif facts is not None and not isinstance(facts, ImageFacts):
            facts = ImageFacts(facts)
        self.facts = facts
        self.needs: frozenset[Need] = frozenset() if facts is not None else frozenset({"references"})

    def resources(self) -> dict[str, Resource]:
        listed: dict[str, Resource] = {} if self.facts is None else {"facts": self.facts}
        return {**super().resources(), **listed}

    def _sides(self, corpus: Corpus) -> tuple[list[list[Fact]], CaptionWords, list[range]]:
        words = caption_words(corpus.candidates, self.parser)
        per_image = self._listed(corpus) if self.facts is not None else _of_references(corpus, self.parser)
        facts = [per_image[image] for image in corpus.candidates.image_of.tolist()]
        return facts, words, [range(i, i + 1) for i in range(len(facts))]

    @property
    def _source(self) -> str:
        return "" if self.facts is None else self.facts.digest

    def _listed(self, corpus: Corpus) -> list[list[Fact]]:
        assert self.facts is not None
        rows = self.facts.of(corpus.ids)
        parsed = Captions.of(rows, corpus.candidates.tokenizer)
        words = caption_words(parsed, self.parser)
        return [
            [Fact(parsed.texts[i], _lemmas(words, i), 0) for i in range(a, b)]
            for a, b in itertools.pairwise(parsed.image_offsets.tolist())
        ]


class FactPrecision(FactMeasure):
    """Share of the facts of a description that its references cover, mean over captions.

    A description without facts has no value.
    """

    name = "FactPrecision"
    summary = "share of the atomic facts of the description that the references cover"

    def _sides(self, corpus: Corpus) -> tuple[list[list[Fact]], CaptionWords, list[range]]:
        facts = [
            [fact_of(item) for item in rows] for rows in paragraph_tuples(corpus.candidates, self.parser)
        ]
        bounds = corpus.references.image_offsets.tolist()
        images = corpus.images[corpus.candidates.image_of].tolist()
        ranges = [range(bounds[image], bounds[image + 1]) for image in images]
        return facts, caption_words(corpus.references, self.parser), ranges


def _of_references(corpus: Corpus, parser: Parser) -> list[list[Fact]]:
    """Return the distinct facts of the references of each image."""
    rows = paragraph_tuples(corpus.references, parser)
    bounds = corpus.references.image_offsets.tolist()
    facts = []
    for image in corpus.images.tolist():
        own = {item.items: item for row in rows[bounds[image] : bounds[image + 1]] for item in row}
        facts.append([fact_of(item) for item in own.values()])
    return facts


def _lemmas(words: CaptionWords, caption: int) -> tuple[str, ...]:
    """Return the content words of a caption in alphabetical order."""
    return _content(sorted({word for s in words.sentences(caption) for word in words.lemmas[s]}))


def _covered(
    facts: list[Fact], words: CaptionWords, captions: range, table: PhraseTable
) -> list[FactCoverage]:
    """Judge the facts by the words of some captions together.

    Facts without content words are left out: they say nothing that could be covered.
    """
    own = sorted({word for fact in facts for word in fact.words})
    sentences = [s for caption in captions for s in words.sentences(caption)]
    theirs = sorted({word for s in sentences for word in words.words[s]})
    if not facts:
        return []
    place = {word: k for k, word in enumerate(own)}
    if own and theirs:
        cells = table.similarities([table.numbers[w] for w in own], [table.numbers[w] for w in theirs])
        best = cells.max(axis=1).tolist()
    else:
        cells, best = np.zeros((len(own), 0)), [0.0] * len(own)
    column = {word: k for k, word in enumerate(theirs)}
    members = [[column[word] for word in words.words[s]] for s in sentences]
    by_sentence = np.stack(
        [cells[:, row].max(axis=1) if row and len(own) else np.zeros(len(own)) for row in members]
    ) if members else np.zeros((0, len(own)))  # fmt: skip
    results = []
    for fact in facts:
        rows = [place[word] for word in fact.words]
        if rows:
            worst = min(rows, key=lambda k: best[k])
            by = int(by_sentence[:, rows].mean(axis=1).argmax()) if len(by_sentence) else -1
            results.append(FactCoverage(fact.text, fact.sentence, float(best[worst]), by, own[worst]))
    return results
