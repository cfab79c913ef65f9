"""Scores of captions and systems by metrics, for agreement and robustness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.agreement.kendall import FloatArray
from captious.core.progress import track
from captious.corpus import Corpus
from captious.metrics.registry import make_measures
from captious.results.references import load_systems
from captious.results.scores import Score


@dataclass(frozen=True)
class CaptionScores:
    """One metric's score of each caption (or system), negated where lower is better."""

    metric: str
    values: FloatArray
    signature: str


def make(metrics: Any, options: Mapping[str, Any] | None = None) -> list[Any]:
    """Build metric objects from names, groups and options. Objects pass through."""
    return make_measures(metrics, dict(options or {}))


def names_of(metrics: Sequence[Any]) -> set[str]:
    """Return the names of metric objects."""
    return {metric.name for metric in metrics}


def score_captions(
    groups: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    metrics: Sequence[Any],
    name: str = "captions",
) -> list[CaptionScores]:
    """Score groups of captions, each group with its own references, as entries of one corpus.

    An image is repeated for each of its judgements, as in the published experiments: CIDEr's document
    frequencies depend on it.
    """
    corpus = Corpus.build([str(k) for k in range(len(groups))], groups, references, name=name)
    caption_scores = []
    for metric in track(metrics, f"scoring {name}"):
        score = Score.of(metric, corpus)
        sign = 1.0 if metric.higher_is_better else -1.0
        caption_scores.append(CaptionScores(score.name, sign * score.per_caption, score.signature))
    return caption_scores


def score_systems(
    references: Any, predictions: Mapping[str, Any], metrics: Sequence[Any], *, subset: bool = False
) -> list[CaptionScores]:
    """Compute the corpus score of each system, from the same sources as :func:`captious.load`."""
    corpora = load_systems(references, list(predictions.values()), subset=subset, names=list(predictions))
    system_scores = []
    for metric in track(metrics, "scoring systems"):
        scores = [Score.of(metric, corpus) for corpus in corpora]
        sign = 1.0 if metric.higher_is_better else -1.0
        system_scores.append(
            CaptionScores(scores[0].name, np.array([sign * s.value for s in scores]), scores[0].signature)
        )
    return system_scores
