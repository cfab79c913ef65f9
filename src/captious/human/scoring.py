"""The one place where agreement and robustness meet the metrics: captions and references in, scores per caption out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from captious.corpus import Corpus
from captious.human.kendall import FloatArray
from captious.progress import track


@dataclass(frozen=True)
class CaptionScores:
    """One metric's score of each caption, turned so that higher is better."""

    metric: str
    values: FloatArray
    signature: str


def make(metrics: Any, options: Mapping[str, Any] | None = None) -> list[Any]:
    """Metric objects from names, groups and options; objects pass through."""
    from captious.api import make_metrics

    return make_metrics(metrics, dict(options or {}))


def score_captions(
    groups: Sequence[Sequence[str]], references: Sequence[Sequence[str]], metrics: Sequence[Any], name: str = "captions"
) -> list[CaptionScores]:
    """Score groups of captions, each group with its own references, as entries of one corpus.

    Entries repeat an image as often as it was judged: that is how the published figures were made, and CIDEr's document
    frequencies depend on it.
    """
    from captious.scores import Score

    corpus = Corpus.build([str(k) for k in range(len(groups))], groups, references, name=name)
    found = []
    for metric in track(metrics, f"scoring {name}"):
        score = Score.of(metric, corpus)
        sign = 1.0 if metric.higher_is_better else -1.0
        found.append(CaptionScores(score.name, sign * score.per_caption, score.signature))
    return found
