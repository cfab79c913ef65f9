"""Local recall: how much a caption mentions of what people mention of its image, by how many of them do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Need, as_statistics, contained
from captious.metrics.corpus.caption_trees import Parsed
from captious.metrics.corpus.corpus_measure import TreeMeasure
from captious.metrics.corpus.pos_counts import is_content
from captious.metrics.options import OVER_IMAGES, PARSER, Option
from captious.parser.choice import Parser
from captious.text.vocabulary import Vocabulary

#: Number of words per key. An (image, word) pair is one number, with the word in the low bits.
_SHIFT = 24
_LOW = (1 << _SHIFT) - 1

#: Words of the top class are ranked by relative omission only above this number of occurrences.
THRESHOLD = 10


@dataclass(frozen=True, eq=False)
class Importance:
    """Content words of the references of each image.

    ``key`` (sorted) holds image and word in one number. ``level``, the importance class of the word, is the
    number of references of the image in which it is a content word. ``mentioned`` has the keys of all words
    of the references.
    """

    key: IntArray
    level: IntArray
    mentioned: IntArray
    n_images: int
    #: Words by number.
    words: Vocabulary
    #: Smallest number of references of an image, the class whose recall is reported.
    top: int


def _pairs(captions: Parsed, owner: IntArray, number: IntArray, *, content: bool) -> IntArray:
    """Return distinct, sorted (owner, word) keys of captions. ``number`` renumbers the words of the bank."""
    bank = captions.bank
    positions, starts = captions.tokens()
    if len(number) and int(number.max()) > _LOW:
        raise ValueError("too many different words")
    keys = np.repeat(owner.astype(np.int64), np.diff(starts)) << _SHIFT | number[bank.trees.words[positions]]
    if content:
        keys = keys[bank.mask(bank.tags, is_content)[bank.trees.tags[positions]]]
    return np.unique(keys)


def importance(captions: Parsed, image_offsets: IntArray) -> Importance:
    """Return importance classes from reference captions, grouped by image."""
    per_image = np.diff(image_offsets)
    image = np.repeat(np.arange(len(per_image), dtype=np.int64), per_image)
    number = np.arange(len(captions.bank.words), dtype=np.int64)
    per_caption = _pairs(captions, np.arange(len(captions.rows), dtype=np.int64), number, content=True)
    keys = image[per_caption >> _SHIFT] << _SHIFT | (per_caption & _LOW)
    key, level = np.unique(keys, return_counts=True)
    mentioned = _pairs(captions, image, number, content=False)
    top = max(1, int(per_image.min(initial=int(per_image.max(initial=1)))))
    return Importance(key, level.astype(np.int64), mentioned, len(per_image), captions.bank.words, top)


def _renumbered(words: Vocabulary, target: Vocabulary) -> IntArray:
    """Return the number of each word in ``target``, and higher numbers for other words."""
    if words is target:
        return np.arange(len(words), dtype=np.int64)
    place = target.find(words.words).astype(np.int64)
    return np.where(place >= 0, place, len(target) + np.arange(len(words), dtype=np.int64))


@dataclass(frozen=True)
class Recalled:
    """Recall of the references' words, image by image."""

    #: Words of each class, and those that the captions have. One row per image, column k for class k + 1.
    total: IntArray
    recalled: IntArray
    #: Content words of the captions, and those of them that some reference has.
    content: IntArray
    right: IntArray
    #: For every word of the references: how often it was in the top class, and how often it was missed there.
    occurrences: IntArray
    missed: IntArray

    @property
    def shares(self) -> FloatArray:
        """Return the share of each class that the captions of an image have, NaN for empty classes."""
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: FloatArray = self.recalled / self.total
        return shares

    @property
    def precisions(self) -> FloatArray:
        """Return the share of the content words of an image's captions that some reference has."""
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: FloatArray = self.right / self.content
        return shares


def recalled(captions: Parsed, image_offsets: IntArray, images: IntArray, target: Importance) -> Recalled:
    """Compare captions, grouped by image, with the references. ``images`` are their indices among those.

    If an image has several captions, the words of all of them count.
    """
    number = _renumbered(captions.bank.words, target.words)
    image = np.repeat(images, np.diff(image_offsets))
    said = _pairs(captions, image, number, content=False)
    there = np.zeros(target.n_images, dtype=np.bool_)
    there[images] = True
    inside = there[target.key >> _SHIFT]
    key, level = target.key[inside], target.level[inside]
    hit = contained(key, said)
    classes = int(level.max(initial=target.top))
    place = (key >> _SHIFT) * classes + level - 1
    cells = target.n_images * classes
    total = np.bincount(place, minlength=cells).reshape(-1, classes)
    recalled_words = np.bincount(place[hit], minlength=cells).reshape(-1, classes)
    content = _pairs(captions, image, number, content=True)
    right = contained(content, target.mentioned)
    per_image = np.bincount(content >> _SHIFT, minlength=target.n_images)
    right_per_image = np.bincount(content[right] >> _SHIFT, minlength=target.n_images)
    in_top = level == target.top
    return Recalled(
        total=total[images],
        recalled=recalled_words[images],
        content=per_image[images],
        right=right_per_image[images],
        occurrences=np.bincount(key[in_top] & _LOW, minlength=len(target.words)),
        missed=np.bincount(key[in_top & ~hit] & _LOW, minlength=len(target.words)),
    )


@dataclass(frozen=True)
class LocalRecall:
    """Local recall of one system. Index k of an array is importance class k + 1."""

    #: Equation 8: mean over images of the share of the image's words of a class which its caption has. Images
    #: without a word of the class are left out.
    mean: FloatArray
    #: Recalled words of the class over all words of the class, as in the published tables.
    pooled: FloatArray
    #: Images with a word of the class, and words of the class.
    images: IntArray
    words: IntArray
    #: Share of the content words of a caption that some reference of the image has: mean over images, and
    #: pooled.
    precision_mean: float
    precision_pooled: float
    #: For every word of the references: how often it was in the top class, and how often it was missed there.
    occurrences: IntArray
    missed: IntArray


def local_recall(rows: Recalled) -> LocalRecall:
    """Return the recall of a corpus from that of its images."""
    total, images = rows.total.sum(axis=0), (rows.total > 0).sum(axis=0)
    precisions = rows.precisions[rows.content > 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: FloatArray = np.nansum(rows.shares, axis=0) / images
        pooled: FloatArray = rows.recalled.sum(axis=0) / total
    content = int(rows.content.sum())
    return LocalRecall(
        mean=mean,
        pooled=pooled,
        images=images,
        words=total,
        precision_mean=float(precisions.mean()) if len(precisions) else float("nan"),
        precision_pooled=float(rows.right.sum() / content) if content else float("nan"),
        occurrences=rows.occurrences,
        missed=rows.missed,
    )


class LocalMeasure(TreeMeasure):
    """Base of the measures of important words: a share of words, pooled over images or averaged."""

    options: ClassVar[tuple[Option, ...]] = (PARSER, OVER_IMAGES)

    bounds = (0.0, 1.0)
    format = ".3f"
    needs: frozenset[Need] = frozenset({"references"})

    def __init__(self, parser: Parser | str | None = None, over_images: str | None = None) -> None:
        super().__init__(parser)
        self.over_images = over_images or "pooled"
        if self.over_images not in OVER_IMAGES.choices:
            raise InputError(f"words of images are pooled or averaged (mean), not '{self.over_images}'")

    def counted(self, hits: IntArray, total: IntArray) -> FloatArray:
        """Return the statistics of a share: its two counts, or its value for each image."""
        if self.over_images == "pooled":
            return np.stack([hits, total], axis=1).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            return as_statistics(hits / total)

    def prepare(self, references: Captions) -> Importance:
        """Return the importance of content words for each image."""
        key = ("importance", self.parser.label, self.parser.digest)
        return references.cached(key, lambda: importance(self.parsed(references), references.image_offsets))

    def recalled(self, corpus: Corpus, state: Importance) -> Recalled:
        """Return the recall of the captions, computed once for both measures."""
        captions = corpus.candidates
        key = ("recalled", self.parser.label, self.parser.digest, state)
        return corpus.cached(
            key, lambda: recalled(self.parsed(captions), captions.image_offsets, corpus.images, state)
        )


class Recall(LocalMeasure):
    """Share of the content words used by all describers of an image that its caption has.

    Pooled, as in Table 1 of van Miltenburg et al. 2018, or their equation 8, the mean over images.
    """

    name, key = "Loc", "local_recall"
    summary = (
        "share of the words of the top class (as many people use them as describe each image) "
        "that the caption has"
    )

    def title(self, references: int) -> str:
        return f"Loc{references}"

    def data_fields(self, corpus: Corpus) -> dict[str, str]:
        return {"class": str(int(corpus.references.per_image.min()))}

    def statistics(self, corpus: Corpus, state: Importance) -> FloatArray:
        rows = self.recalled(corpus, state)
        return self.counted(rows.recalled[:, state.top - 1], rows.total[:, state.top - 1])


class Precision(LocalMeasure):
    """Share of a caption's content words that some reference of the image has."""

    name, key = "Prec", "local_precision"
    summary = "share of a caption's content words that some reference of the image has"

    def statistics(self, corpus: Corpus, state: Importance) -> FloatArray:
        rows = self.recalled(corpus, state)
        return self.counted(rows.right, rows.content)


def rank_absolute(missed: IntArray) -> IntArray:
    """Return missed words, those missed most often first."""
    order = np.argsort(-missed, kind="stable")
    ranked: IntArray = order[missed[order] > 0]
    return ranked


def rank_relative(missed: IntArray, occurrences: IntArray, threshold: int = 0) -> IntArray:
    """Return missed words, those missed in the largest share of their occurrences first.

    Ties are ordered by occurrences. Only words with more occurrences than the threshold are listed.
    """
    frequent = np.flatnonzero((occurrences > threshold) & (missed > 0))
    order = np.lexsort((frequent, -occurrences[frequent], -missed[frequent] / occurrences[frequent]))
    ranked: IntArray = frequent[order]
    return ranked
