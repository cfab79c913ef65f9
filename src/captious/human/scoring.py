"""The one place where agreement and robustness meet the metrics: captions and references in, scores per caption out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.corpus import Corpus
from captious.human.kendall import FloatArray
from captious.measures.making import make_measures
from captious.progress import track
from captious.references import load_systems
from captious.scores import Score
from captious.scores import json_number as json_number


@dataclass(frozen=True)
class CaptionScores:
    """One metric's score of each caption, turned so that higher is better."""

    metric: str
    values: FloatArray
    signature: str


def make(metrics: Any, options: Mapping[str, Any] | None = None) -> list[Any]:
    """Metric objects from names, groups and options; objects pass through."""
    return make_measures(metrics, dict(options or {}))


def names_of(metrics: Sequence[Any]) -> set[str]:
    """What metric objects are called."""
    return {metric.name for metric in metrics}


def score_captions(
    groups: Sequence[Sequence[str]], references: Sequence[Sequence[str]], metrics: Sequence[Any], name: str = "captions"
) -> list[CaptionScores]:
    """Score groups of captions, each group with its own references, as entries of one corpus.

    Entries repeat an image as often as it was judged: that is how the published figures were made, and CIDEr's document
    frequencies depend on it.
    """
    corpus = Corpus.build([str(k) for k in range(len(groups))], groups, references, name=name)
    found = []
    for metric in track(metrics, f"scoring {name}"):
        score = Score.of(metric, corpus)
        sign = 1.0 if metric.higher_is_better else -1.0
        found.append(CaptionScores(score.name, sign * score.per_caption, score.signature))
    return found


def score_systems(
    references: Any, predictions: Mapping[str, Any], metrics: Sequence[Any], *, subset: bool = False
) -> list[CaptionScores]:
    """Corpus scores of whole systems: one value for each, in the order given; the same sources as :func:`captious.load`."""
    corpora = load_systems(references, list(predictions.values()), subset=subset, names=list(predictions))
    found = []
    for metric in track(metrics, "scoring systems"):
        scores = [Score.of(metric, corpus) for corpus in corpora]
        sign = 1.0 if metric.higher_is_better else -1.0
        found.append(CaptionScores(scores[0].name, np.array([sign * s.value for s in scores]), scores[0].signature))
    return found
