"""ParaScore: CaptiousScore of a description's sentences, and of the sentences nearest to each reference."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core.container import Grouped
from captious.core.ragged import IntArray
from captious.core.threads import one_blas_thread
from captious.corpus import Captions, Corpus
from captious.corpus.paragraphs import sentences_of
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics, check_needs, in_signature
from captious.metrics.captions.distilled_captions import distilled_vectors
from captious.metrics.learned.captious_score import CaptiousScore, CaptiousScoreLite
from captious.metrics.options import Option
from captious.vectors.caption_vectors import load

_SUMMARIES = {
    "F": "{} over sentences: F of precision and recall, for descriptions",
    "P": "mean {} of a description's sentences",
    "R": "mean {} of the sentence nearest to each sentence of the references",
}


class SentenceScores(Measure):
    """Harmonic mean of precision and recall of a description's sentences, mean over captions.

    Precision is the mean CaptiousScore of its sentences against all sentences of the references. Recall is
    the mean over the references' sentences of the CaptiousScore of the nearest sentence of the description
    (cosine of distilled caption vectors), against that one reference. A description without sentences gets 0.
    """

    fixed: Mapping[str, str] = {"unit": "sentences"}
    perfect_is_maximum = False

    def __init__(self, kind: str, inner: Measure) -> None:
        self.kind = kind
        #: The measure of single sentences.
        self.inner = inner
        self.name = inner.name.replace("Captious", "Para") + ("" if kind == "F" else f"-{kind}")
        self.summary = _SUMMARIES[kind].format(inner.name)

    def check(self, corpus: Corpus | None = None) -> None:
        self.inner.check()
        if corpus is not None:
            check_needs(self, corpus)

    def resources(self) -> dict[str, Resource]:
        return {**self.inner.resources(), "captions": load()}

    def parameters(self) -> dict[str, str]:
        return {**self.inner.parameters(), **self.fixed}

    def prepare(self, references: Captions) -> Any:
        return self.inner.prepare(_by_image(references))

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        precision, recall = corpus.cached(
            ("sentence scores", self.inner.name, *map(in_signature, self.resources().values())),
            lambda: self._sides(corpus, state),
        )
        if self.kind != "F":
            return as_statistics(precision if self.kind == "P" else recall)
        total = precision + recall
        f = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
        return as_statistics(np.where(np.isnan(total), np.nan, f))

    def _sides(self, corpus: Corpus, state: Any) -> tuple[FloatArray, FloatArray]:
        """Return precision and recall of each candidate, NaN where its references have no sentence."""
        theirs = _by_image(corpus.references)
        split = sentences_of(corpus.candidates)
        ours = Captions.of(
            Grouped(split.texts, split.image_offsets), split.tokenizer, ids=split.ids, over=theirs
        )
        image_of = corpus.images[corpus.candidates.image_of]
        scores = self._values(Corpus(ours, theirs, images=image_of), state)
        sentences, references, owner = _nearest(ours, theirs, image_of)
        each = np.arange(len(owner) + 1)
        pairs = Corpus(ours.take(sentences, each), theirs.take(references, each))
        hits = self._values(pairs, self.inner.prepare(pairs.references)) if len(owner) else np.zeros(0)
        has_references = theirs.per_image[image_of] > 0
        return _means(scores, ours.image_of, has_references), _means(hits, owner, has_references)

    def _values(self, corpus: Corpus, state: Any) -> FloatArray:
        return self.inner.per_row(self.inner.statistics(corpus, state))


class ParaScore(SentenceScores):
    """CaptiousScore over sentences."""

    options: ClassVar[tuple[Option, ...]] = CaptiousScore.options

    def __init__(
        self, kind: str = "F", sentence_model: Any = None, meteor_data: Any = None, parser: Any = None
    ) -> None:
        super().__init__(kind, CaptiousScore(sentence_model, meteor_data, parser))


class ParaScoreLite(SentenceScores):
    """CaptiousScore-lite over sentences, for the base install."""

    options: ClassVar[tuple[Option, ...]] = CaptiousScoreLite.options

    def __init__(self, kind: str = "F", meteor_data: Any = None, parser: Any = None) -> None:
        super().__init__(kind, CaptiousScoreLite(meteor_data, parser))


def _by_image(references: Captions) -> Captions:
    """Return the sentences of all references of each image."""

    def make() -> Captions:
        split = sentences_of(references)
        offsets = split.image_offsets[references.image_offsets]
        return split.take(np.arange(len(split)), offsets, references.ids)

    return references.cached("sentences of images", make)


def _nearest(ours: Captions, theirs: Captions, image_of: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the nearest sentence for each sentence of the references, both as rows, and the candidate."""
    own, other = (distilled_vectors(side, load()) for side in (ours, theirs))
    sentences, references, owners = [], [], []
    bounds = theirs.image_offsets.tolist()
    # The products are small: threads would mostly wait for each other.
    with one_blas_thread():
        for i, (a, b) in enumerate(itertools.pairwise(ours.image_offsets.tolist())):
            c, d = bounds[image_of[i]], bounds[image_of[i] + 1]
            if a < b and c < d:
                sentences.append(a + (other[c:d] @ own[a:b].T).argmax(axis=1))
                references.append(np.arange(c, d))
                owners.append(np.full(d - c, i))
    if not owners:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.concatenate(sentences), np.concatenate(references), np.concatenate(owners)


def _means(values: FloatArray, owner: IntArray, is_defined: NDArray[np.bool_]) -> FloatArray:
    """Return the mean of each owner's values, 0 without any, NaN where it is not defined."""
    sums = np.bincount(owner, values, minlength=len(is_defined))
    counts = np.bincount(owner, minlength=len(is_defined))
    means = np.divide(sums, counts, out=np.zeros(len(is_defined)), where=counts > 0)
    return np.where(is_defined, means, np.nan)
