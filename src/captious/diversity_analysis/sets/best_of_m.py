"""Diversity of the best m captions of each set, and how diversity grows with m."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.corpus import Corpus
from captious.corpus.frequencies import DocumentFrequencies
from captious.diversity_analysis.sets.accuracy_diversity import SetAccuracy, caption_score
from captious.diversity_analysis.sets.set_diversity import read_df
from captious.metrics.base import FloatArray, Measure
from captious.metrics.registry import make_measures
from captious.metrics.sets.lsa import LSA
from captious.metrics.sets.mbleu import InverseMBleu
from captious.metrics.sets.selection import of_images, with_selected
from captious.metrics.sets.self_cider import SelfCider
from captious.metrics.sets.similarity_kernels import KernelChoice
from captious.results.saved_scores import ScoredCaptions
from captious.results.scores import Score, Scores
from captious.results.signatures import sign

#: Sizes used in the paper.
SIZES = (2, 5, 8, 10)

Order = Literal["accuracy", "given", "random"]


class BestOfM(NamedTuple):
    """Measures of sets truncated to m captions."""

    m: int
    #: Number of images with at least m captions.
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
) -> list[BestOfM]:
    """Compute LSA, Self-CIDEr, 1−mBLEU-mix and accuracy of m captions per image, for several m.

    Parameters
    ----------
    corpus
        Captions to measure.
    sizes
        Values of m. Images with fewer than m captions are skipped, and so is an m without images.
    metric
        Accuracy metric.
    order
        "accuracy" selects the m most accurate captions, "given" the first m, and "random" any m.
    df, kernel
        Document frequencies and kernel of Self-CIDEr.
    seed
        Random seed for ``order="random"``.

    Examples
    --------
    >>> import captious
    >>> from captious.data import demo_path
    >>> corpus = captious.load(demo_path("references"), demo_path("sampling"), several=True)
    >>> [row.m for row in best(corpus, sizes=(2, 5))]
    [2, 5]
    """
    invalid = [m for m in sizes if m < 1]
    if invalid or not sizes:
        raise InputError(f"sizes must be positive integers, not {list(sizes)}")
    table = read_df(df)
    accuracy = _metric(corpus, metric, table, order)
    rank = _ranks(corpus, accuracy, order, seed)
    out = []
    for m in sizes:
        images = np.flatnonzero(corpus.candidates.per_image >= m)
        if len(images):
            out.append(
                BestOfM(m, len(images), _measure(corpus, rank, images, m, accuracy, SelfCider(kernel, table)))
            )
    return out


def _metric(corpus: Corpus, metric: str | Measure, table: Any, order: Order) -> Measure | None:
    if not len(corpus.references):
        if order == "accuracy":
            raise InputError("ranking captions by accuracy needs references; add some, or use order='given'")
        return None
    return make_measures(metric, {} if table is None else {"df": table}, spare=("df",))[0]


def _ranks(corpus: Corpus, metric: Measure | None, order: Order, seed: int) -> IntArray:
    """Return the rank of each caption within its image. The lowest ranks are selected."""
    captions = corpus.candidates
    if order == "random":
        sort_keys: FloatArray = np.random.default_rng(seed).random(len(captions))
    elif order == "accuracy" and metric is not None:
        sort_keys = caption_score(metric, corpus).per_caption * (-1.0 if metric.higher_is_better else 1.0)
    else:
        sort_keys = np.zeros(len(captions))
    positions = np.arange(len(captions), dtype=np.int64)
    sorted_captions = np.lexsort((positions, np.nan_to_num(sort_keys, nan=np.inf), captions.image_of))
    rank = np.empty(len(captions), dtype=np.int64)
    rank[sorted_captions] = positions - captions.image_offsets[captions.image_of]
    return rank


def _measure(
    corpus: Corpus, rank: IntArray, images: IntArray, m: int, accuracy: Measure | None, self_cider: SelfCider
) -> Scores:
    """Return the measures of the first m captions of the images."""
    is_chosen = np.zeros(len(corpus), dtype=np.bool_)
    is_chosen[images] = True
    index = np.flatnonzero((rank < m) & is_chosen[corpus.candidates.image_of])
    truncated = with_selected(corpus, index, np.where(is_chosen, m, 0))
    if len(images) < len(corpus):
        truncated = of_images(truncated, images)
    scores = [Score.of(measure, truncated) for measure in (LSA(), self_cider, InverseMBleu())]
    if accuracy is not None:
        # Accuracy of a caption does not depend on the set, so scores are reused.
        selected_rows = caption_score(accuracy, corpus).statistics[index]
        accuracy_score = Score(
            accuracy,
            selected_rows,
            truncated.ids,
            truncated.candidates.image_offsets,
            sign(accuracy, truncated),
        )
        for measure in (SetAccuracy(accuracy), SetAccuracy(accuracy, oracle=True)):
            scores.append(
                Score.of_images(
                    measure, measure.rows_of(accuracy_score), truncated.ids, sign(measure, truncated)
                )
            )
    return Scores(corpus.name, scores, ScoredCaptions.of(truncated))
