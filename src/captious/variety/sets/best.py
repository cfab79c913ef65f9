"""Diversity of the best m captions of each set, and how diversity grows with m."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from captious.corpus import Corpus
from captious.errors import InputError
from captious.frequencies import DocumentFrequencies
from captious.measures.base import FloatArray, Measure
from captious.measures.making import make_measures
from captious.ragged import IntArray
from captious.records import ScoredCaptions
from captious.scores import Score, Scores
from captious.signature import sign
from captious.variety.sets.accuracy import SetAccuracy, caption_score
from captious.variety.sets.api import read_df
from captious.variety.sets.caption_kernels import KernelChoice
from captious.variety.sets.lsa import LSA
from captious.variety.sets.mbleu import InverseMBleu
from captious.variety.sets.selection import of_images, with_selected
from captious.variety.sets.self_cider import SelfCider

#: The sizes of the paper.
SIZES = (2, 5, 8, 10)

Order = Literal["accuracy", "given", "random"]


class Best(NamedTuple):
    """The measures of sets cut to m captions."""

    m: int
    #: Images that have so many captions.
    images: int
    scores: Scores


def best(
    corpus: Corpus,
    sizes: Sequence[int] = SIZES,
    *,
    metric: str | Measure = "CIDEr-D",
    order: Order = "accuracy",
    df: DocumentFrequencies | str | Path | None = None,
    kernel: KernelChoice = "cider",
    seed: int = 12345,
) -> list[Best]:
    """LSA, Self-CIDEr, 1−mBLEU-mix and accuracy of m captions of each image, for several m.

    By default the m most accurate ones; ``order="given"`` takes the first m, ``order="random"`` any m. An image counts
    for the m that it has captions for, and an m that no image has captions for is left out.
    """
    wrong = [m for m in sizes if m < 1]
    if wrong or not sizes:
        raise InputError(f"sizes of sets are positive whole numbers, not {list(sizes)}")
    table = read_df(df)
    accuracy = _metric(corpus, metric, table, order)
    rank = _ranks(corpus, accuracy, order, seed)
    out = []
    for m in sizes:
        images = np.flatnonzero(corpus.candidates.per_image >= m)
        if len(images):
            out.append(Best(m, len(images), _measure(corpus, rank, images, m, accuracy, SelfCider(kernel, table))))
    return out


def _metric(corpus: Corpus, metric: str | Measure, table: Any, order: Order) -> Measure | None:
    if not len(corpus.references):
        if order == "accuracy":
            raise InputError("ranking captions by accuracy needs reference captions; or take them as given (order='given')")
        return None
    return make_measures(metric, {} if table is None else {"df": table})[0]


def _ranks(corpus: Corpus, metric: Measure | None, order: Order, seed: int) -> IntArray:
    """The place of each caption within its image, the first to be kept first."""
    captions = corpus.candidates
    if order == "random":
        worth: FloatArray = np.random.default_rng(seed).random(len(captions))
    elif order == "accuracy" and metric is not None:
        worth = caption_score(metric, corpus).per_caption * (-1.0 if metric.higher_is_better else 1.0)
    else:
        worth = np.zeros(len(captions))
    place = np.arange(len(captions), dtype=np.int64)
    by_worth = np.lexsort((place, np.nan_to_num(worth, nan=np.inf), captions.image_of))
    rank = np.empty(len(captions), dtype=np.int64)
    rank[by_worth] = place - captions.image_offsets[captions.image_of]
    return rank


def _measure(
    corpus: Corpus, rank: IntArray, images: IntArray, m: int, accuracy: Measure | None, self_cider: SelfCider
) -> Scores:
    """The measures of the first m captions of the images that have so many."""
    chosen = np.zeros(len(corpus), dtype=np.bool_)
    chosen[images] = True
    index = np.flatnonzero((rank < m) & chosen[corpus.candidates.image_of])
    cut = with_selected(corpus, index, np.where(chosen, m, 0))
    if len(images) < len(corpus):
        cut = of_images(cut, images)
    scores = [Score.of(measure, cut) for measure in (LSA(), self_cider, InverseMBleu())]
    if accuracy is not None:
        # A caption is as accurate in a small set as in a large one.
        kept = caption_score(accuracy, corpus).statistics[index]
        known = Score(accuracy, kept, cut.ids, cut.candidates.image_offsets, sign(accuracy, cut))
        for measure in (SetAccuracy(accuracy), SetAccuracy(accuracy, oracle=True)):
            scores.append(Score.of_images(measure, measure.rows_of(known), cut.ids, sign(measure, cut)))
    return Scores(corpus.name, scores, ScoredCaptions.of(cut))
