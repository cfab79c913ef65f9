"""ALOHa (Petryk et al. 2024): the object of a caption that its references support least."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.assignment import assign
from captious.core.errors import InputError
from captious.core.threads import one_blas_thread
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Need, Resource
from captious.metrics.captions.chair import ImageObjects, Objects, image_objects
from captious.metrics.captions.named_objects import CaptionWords, Noun, caption_words
from captious.metrics.options import ALOHA, METEOR_DATA, OBJECTS, PARSER, Option
from captious.parser import Parser
from captious.parser.choice import get as get_parser
from captious.text.synonyms import Synonyms
from captious.vectors.caption_vectors import SubwordVectors, load

#: Log odds that an object is in the image: constant, cosine with the nearest word of the references, share of
#: references that name it or a synonym, and whether it modifies another noun. Fitted by
#: ``python -m tools.fit_aloha``.
WEIGHTS = (-0.976, 4.236, 2.001, 0.338)
#: Objects below this support are called unsupported in explanations. Chosen by the same script.
UNSUPPORTED = 0.85
#: The same for objects that are assigned one to one.
UNMATCHED = 0.55


class ObjectSupport(NamedTuple):
    """An object that a caption names, and its support by the references."""

    #: The word in the caption, and its lemma.
    word: str
    name: str
    #: Number of its sentence, and its place among the words of the sentence.
    sentence: int
    position: int
    #: From 0 to 1.
    support: float
    #: Support from which it is called supported.
    enough: float
    #: Nearest word of the references, and the cosine with it.
    nearest: str
    cosine: float
    #: Share of the references that name it or a synonym.
    share: float
    #: Whether the caption leaves it open: a hedge, or a better alternative. It does not count.
    is_ambiguous: bool
    #: Whether it modifies another noun, as "tree" in "tree branch".
    is_modifier: bool

    @property
    def status(self) -> str:
        """``supported``, ``unsupported`` or ``ambiguous``."""
        if self.is_ambiguous:
            return "ambiguous"
        return "supported" if self.support >= self.enough else "unsupported"


class _ImageWords(NamedTuple):
    """Content words of an image's references, and the references (bits) with each word and each synset."""

    words: list[str]
    rows: NDArray[np.int64]
    by_word: dict[str, int]
    by_synset: dict[int, int]
    references: int
    #: Nouns of the references and listed objects, in alphabetical order.
    objects: list[str]


class Aloha(Measure):
    """Support of the least supported object of a caption, mean over captions.

    The objects are the nouns of all sentences. The support of an object is the probability that it is in the
    image, by a logistic model of its cosine with the nearest word of the references (distilled caption
    vectors) and of the share of references that name it. With ``aloha="matching"``, objects are assigned to
    those of the references one to one, and their support is the cosine (0 without a partner). After "or",
    the best alternative counts; objects after "possibly", "appears to be" and other hedges are ambiguous and
    do not count. A caption without objects gets 1.
    """

    name = "ALOHa"
    summary = "support of the object that the references support least (Petryk et al. 2024)"
    options: ClassVar[tuple[Option, ...]] = (OBJECTS, ALOHA, METEOR_DATA, PARSER)
    # The support is a probability, which is never 1.
    perfect_is_maximum = False

    def __init__(
        self,
        objects: Objects = None,
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
        aloha: str = "logistic",
    ) -> None:
        if aloha not in ALOHA.choices:
            raise InputError(f"aloha must be one of {', '.join(ALOHA.choices)}, not {aloha!r}")
        self.aloha = aloha
        self.objects: ImageObjects | None = image_objects(objects)
        self.meteor_data = meteor_data
        self.parser = get_parser(parser)
        self.needs: frozenset[Need] = frozenset() if self.objects is not None else frozenset({"references"})

    def uses_references(self) -> bool:
        return True

    def resources(self) -> dict[str, Resource]:
        listed: dict[str, Resource] = {} if self.objects is None else {"objects": self.objects}
        return {
            "parser": self.parser,
            "synonyms": Synonyms.load(self.meteor_data),
            "vectors": load(),
            **listed,
        }

    def prepare(self, references: Captions) -> None:
        # Cached with the references; statistics reads it there.
        caption_words(references, self.parser)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        lowest = [
            min((row.support for row in rows if not row.is_ambiguous), default=1.0)
            for rows in self.supports(corpus)
        ]
        return np.stack([np.array(lowest, np.float64), np.ones(len(lowest))], axis=1)

    def supports(self, corpus: Corpus) -> list[list[ObjectSupport]]:
        """Return the objects of each candidate in their order, with their support."""
        key = (
            *("object supports", self.parser.label, self.parser.digest, str(self.meteor_data)),
            *(self.objects, self.aloha),
        )
        return corpus.cached(key, lambda: self._supports(corpus))

    def blamed(self, corpus: Corpus) -> list[ObjectSupport | None]:
        """Return the least supported object of each candidate, None where there is none."""
        return [
            min((row for row in rows if not row.is_ambiguous), key=lambda row: row.support, default=None)
            for rows in self.supports(corpus)
        ]

    def wrong_words(self, corpus: Corpus, state: None) -> list[str]:
        """Return the word of the least supported object of each candidate, "" where there is none."""
        return ["" if row is None else row.word for row in self.blamed(corpus)]

    def _supports(self, corpus: Corpus) -> list[list[ObjectSupport]]:
        ours = caption_words(corpus.candidates, self.parser)
        theirs = caption_words(corpus.references, self.parser)
        table = _ObjectWords(ours, theirs, load().words, Synonyms.load(self.meteor_data))
        listed = [] if self.objects is None else self._listed(corpus)
        bounds = corpus.references.image_offsets.tolist()
        images: dict[tuple[int, int], _ImageWords] = {}
        results = []
        # The products are small: threads would mostly wait for each other.
        with one_blas_thread():
            for i, own_image in enumerate(corpus.candidates.image_of.tolist()):
                image = int(corpus.images[own_image])
                key = (image, own_image if listed else -1)
                if key not in images:
                    references = range(bounds[image], bounds[image + 1])
                    images[key] = table.image(theirs, references, listed[own_image] if listed else ())
                judged = table.judge(ours, i, images[key])
                if self.aloha == "matching":
                    judged = table.matched(judged, images[key])
                results.append(_with_alternatives(judged))
        return results

    def _listed(self, corpus: Corpus) -> list[frozenset[str]]:
        """Return the listed objects of each image of a corpus."""
        assert self.objects is not None
        return self.objects.names(corpus.ids)


class _ObjectWords:
    """Unit vectors and synsets of all words that are compared."""

    def __init__(
        self, ours: CaptionWords, theirs: CaptionWords, vectors: SubwordVectors, synonyms: Synonyms
    ) -> None:
        self._vectors, self._synonyms = vectors, synonyms
        names = {noun.lemma for side in (ours, theirs) for nouns in side.nouns for noun in nouns}
        names.update(*theirs.words)
        self._numbers: dict[str, int] = {}
        self._synsets: dict[str, frozenset[int]] = {}
        self._units = np.zeros((0, vectors.dimension), np.float32)
        self._add(sorted(names))

    def _add(self, names: Iterable[str]) -> None:
        new = [name for name in names if name not in self._numbers]
        rows = self._vectors.lookup(new)[0]
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        self._units = np.concatenate([self._units, rows / np.maximum(lengths, np.float32(1e-12))[:, None]])
        for name, synsets in zip(new, self._synonyms.synset_sets(new)):
            self._numbers[name] = len(self._numbers)
            self._synsets[name] = synsets

    def image(self, theirs: CaptionWords, references: range, listed: Iterable[str]) -> _ImageWords:
        """Return the words of an image's references, and of the objects listed for it."""
        by_word: dict[str, int] = {}
        for bit, reference in enumerate(references):
            for sentence in theirs.sentences(reference):
                for word in theirs.words[sentence]:
                    by_word[word] = by_word.get(word, 0) | 1 << bit
        count = len(references)
        if listed:
            # A listed object is as certain as one that all references name.
            names = sorted({word for name in listed for word in (name, *name.split())})
            self._add(names)
            count = max(count, 1)
            by_word.update((name, (1 << count) - 1) for name in names)
        by_synset: dict[int, int] = {}
        for word, bits in by_word.items():
            for synset in self._synsets[word]:
                by_synset[synset] = by_synset.get(synset, 0) | bits
        nouns = {noun.lemma for bit in references for k in theirs.sentences(bit) for noun in theirs.nouns[k]}
        words = sorted(by_word)
        rows = np.array([self._numbers[word] for word in words], np.int64)
        return _ImageWords(words, rows, by_word, by_synset, count, sorted(nouns.union(listed)))

    def judge(self, ours: CaptionWords, caption: int, image: _ImageWords) -> list[tuple[Noun, ObjectSupport]]:
        """Return the nouns of a caption with their support."""
        own = range(ours.offsets[caption], ours.offsets[caption + 1])
        mentions = [(ours.places[k], noun) for k in own for noun in ours.nouns[ours.sentence_of[k]]]
        lemmas = list(dict.fromkeys(noun.lemma for _, noun in mentions))
        if not lemmas:
            return []
        nearest, cosines = self._nearest(lemmas, image)
        shares = [self._share(lemma, image) for lemma in lemmas]
        place = {lemma: k for k, lemma in enumerate(lemmas)}
        constant, by_cosine, by_share, by_modifier = WEIGHTS
        results = []
        for sentence, noun in mentions:
            k = place[noun.lemma]
            odds = constant + by_cosine * cosines[k] + by_share * shares[k] + by_modifier * noun.is_modifier
            support = float(1 / (1 + np.exp(-odds)))
            row = ObjectSupport(
                *(noun.form, noun.lemma, sentence, noun.position, support, UNSUPPORTED),
                *(nearest[k], cosines[k], shares[k], noun.is_hedged, noun.is_modifier),
            )
            results.append((noun, row))
        return results

    def matched(
        self, judged: list[tuple[Noun, ObjectSupport]], image: _ImageWords
    ) -> list[tuple[Noun, ObjectSupport]]:
        """Assign the objects of a caption to those of its references, one to one, by their cosines."""
        own = list(dict.fromkeys(row.name for _, row in judged if not row.is_ambiguous))
        cells = np.zeros((len(own), len(image.objects)))
        if own and image.objects:
            sides = [[self._numbers[name] for name in names] for names in (own, image.objects)]
            cells = np.clip(self._units[sides[0]] @ self._units[sides[1]].T, 0.0, 1.0).astype(np.float64)
            cells[np.array(own)[:, None] == np.array(image.objects)] = 1.0
        columns = dict(zip(own, assign(cells).tolist()))
        rows = []
        for noun, row in judged:
            column = columns.get(row.name, -1)
            if row.name in columns:
                cosine = float(cells[own.index(row.name), column]) if column >= 0 else 0.0
                nearest = image.objects[column] if column >= 0 else ""
                row = row._replace(support=cosine, cosine=cosine, nearest=nearest, enough=UNMATCHED)
            rows.append((noun, row))
        return rows

    def _nearest(self, lemmas: list[str], image: _ImageWords) -> tuple[list[str], list[float]]:
        """Return the nearest word of the references for each lemma, and the cosine with it."""
        if not image.words:
            return [""] * len(lemmas), [0.0] * len(lemmas)
        rows = [self._numbers[lemma] for lemma in lemmas]
        products = self._units[rows] @ self._units[image.rows].T
        best = products.argmax(axis=1)
        highest = np.clip(products[np.arange(len(rows)), best], 0.0, 1.0)
        nearest = [image.words[k] for k in best.tolist()]
        cosines: list[float] = highest.astype(np.float64).tolist()
        for k, lemma in enumerate(lemmas):
            if lemma in image.by_word:
                # Also for words without a vector.
                nearest[k], cosines[k] = lemma, 1.0
        return nearest, cosines

    def _share(self, lemma: str, image: _ImageWords) -> float:
        """Return the share of references that name a lemma or a synonym of it."""
        bits = image.by_word.get(lemma, 0)
        for synset in self._synsets[lemma]:
            bits |= image.by_synset.get(synset, 0)
        return bits.bit_count() / max(image.references, 1)


def _with_alternatives(rows: list[tuple[Noun, ObjectSupport]]) -> list[ObjectSupport]:
    """Mark all but the best of each group of alternatives as ambiguous."""
    best: dict[tuple[int, int], float] = {}
    for noun, row in rows:
        if noun.alternative >= 0:
            key = (row.sentence, noun.alternative)
            best[key] = max(best.get(key, 0.0), row.support)
    return [
        row._replace(is_ambiguous=True)
        if noun.alternative >= 0 and row.support < best[row.sentence, noun.alternative]
        else row
        for noun, row in rows
    ]
