"""Local recall: of what people mention of an image, and how many of them do, how much does the caption mention?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.diversity.corpus.flat import FloatArray
from captious.diversity.corpus.pos import is_content
from captious.diversity.corpus.trees import TreeBank
from captious.ragged import IntArray, runs

#: Words per key: an (image, word) pair is one number, the word in the low bits.
_SHIFT = 24
_LOW = (1 << _SHIFT) - 1

#: Words of the top class are ranked by relative omission only from more than this many occurrences on.
THRESHOLD = 10


@dataclass(frozen=True)
class Importance:
    """The content words of the references of each image.

    ``key`` is sorted: image and word in one number; ``level`` is the number of references of the image in which the
    word is a content word, its importance class. ``mentioned`` has the keys of all words of the references.
    """

    key: IntArray
    level: IntArray
    mentioned: IntArray
    n_images: int

    def of_images(self, kept: NDArray[np.bool_]) -> Importance:
        """The same for some of the images."""
        if kept.all():
            return self
        inside = kept[self.key >> _SHIFT]
        mentioned = self.mentioned[kept[self.mentioned >> _SHIFT]]
        return Importance(self.key[inside], self.level[inside], mentioned, self.n_images)


def _pairs(bank: TreeBank, rows: IntArray, owner: IntArray, *, content: bool) -> IntArray:
    """Distinct (owner, word) keys of the given captions, sorted."""
    trees = bank.trees
    positions, starts = runs(trees.offsets, rows)
    if len(bank.words) > _LOW:
        raise ValueError("too many different words")
    keys = np.repeat(owner.astype(np.int64), np.diff(starts)) << _SHIFT | trees.words[positions]
    if content:
        keys = keys[bank.mask(bank.tags, is_content)[trees.tags[positions]]]
    return np.unique(keys)


def importance(bank: TreeBank, rows: IntArray, image: IntArray, n_images: int) -> Importance:
    """Importance classes from reference captions (rows of the bank) and their images."""
    captions = np.arange(len(rows), dtype=np.int64)
    per_caption = _pairs(bank, rows, captions, content=True)
    keys = image[per_caption >> _SHIFT] << _SHIFT | (per_caption & _LOW)
    key, level = np.unique(keys, return_counts=True)
    return Importance(key, level.astype(np.int64), _pairs(bank, rows, image, content=False), n_images)


@dataclass(frozen=True)
class LocalRecall:
    """Local recall of one system. Place k of an array is importance class k + 1."""

    #: Equation 8: the mean over images of the share of the image's words of that class which its caption has;
    #: images without a word of the class are left out.
    mean: FloatArray
    #: All words of the class recalled, divided by all words of the class.
    pooled: FloatArray
    #: Images with a word of the class, and words of the class.
    images: IntArray
    words: IntArray
    #: Share of the content words of a caption that some reference of the image has: mean over images, and pooled.
    precision_mean: float
    precision_pooled: float
    #: For every word (by its number): how often it was in the top class, and how often of these it was missed.
    occurrences: IntArray
    missed: IntArray


def local_recall(bank: TreeBank, rows: IntArray, image: IntArray, target: Importance, top: int) -> LocalRecall:
    """Compare captions (rows of the bank, with their images) with the references.

    Where an image has several captions, what any of them says counts. ``top`` is the class whose omissions are listed.
    """
    said = _pairs(bank, rows, image, content=False)
    hit = _contained(target.key, said)
    classes = int(target.level.max(initial=top))
    place = (target.key >> _SHIFT) * classes + target.level - 1
    cells = target.n_images * classes
    total = np.bincount(place, minlength=cells).reshape(-1, classes)
    found = np.bincount(place[hit], minlength=cells).reshape(-1, classes)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = found / total
        pooled: FloatArray = found.sum(axis=0) / total.sum(axis=0)
        images = (total > 0).sum(axis=0)
        mean: FloatArray = np.nansum(share, axis=0) / images

    content = _pairs(bank, rows, image, content=True)
    right = _contained(content, target.mentioned)
    per_image = np.bincount(content >> _SHIFT, minlength=target.n_images)
    right_per_image = np.bincount(content[right] >> _SHIFT, minlength=target.n_images)
    some = per_image > 0
    in_top = target.level == top
    return LocalRecall(
        mean=mean,
        pooled=pooled,
        images=images,
        words=total.sum(axis=0),
        precision_mean=float((right_per_image[some] / per_image[some]).mean()) if some.any() else float("nan"),
        precision_pooled=float(right.mean()) if len(right) else float("nan"),
        occurrences=np.bincount(target.key[in_top] & _LOW, minlength=len(bank.words)),
        missed=np.bincount(target.key[in_top & ~hit] & _LOW, minlength=len(bank.words)),
    )


def _contained(keys: IntArray, among: IntArray) -> NDArray[np.bool_]:
    """Which of the keys are among others, both sorted."""
    if not len(among):
        return np.zeros(len(keys), dtype=np.bool_)
    place = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    found: NDArray[np.bool_] = among[place] == keys
    return found


def rank_absolute(missed: IntArray) -> IntArray:
    """Missed words, those missed most often first."""
    order = np.argsort(-missed, kind="stable")
    ranked: IntArray = order[missed[order] > 0]
    return ranked


def rank_relative(missed: IntArray, occurrences: IntArray, threshold: int = 0) -> IntArray:
    """Missed words, those missed in the largest share of their occurrences first, equal ones by occurrences; only
    words with more occurrences than the threshold."""
    kept = np.flatnonzero((occurrences > threshold) & (missed > 0))
    order = np.lexsort((kept, -occurrences[kept], -missed[kept] / occurrences[kept]))
    ranked: IntArray = kept[order]
    return ranked
