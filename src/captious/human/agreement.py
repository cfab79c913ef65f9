"""How well the order a metric gives to captions agrees with the order people give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.human.flickr8k import Judgements
from captious.measures.base import Measure

Floats = NDArray[np.float64]


def _tau(scores: Floats, ratings: Floats, variant: str) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(scores, ratings, variant=variant).statistic)


def tau_b(scores: Floats, ratings: Floats) -> float:
    """Kendall's tau-b: concordant minus discordant pairs, over the geometric mean of the pairs untied on either side."""
    return _tau(scores, ratings, "b")


def tau_c(scores: Floats, ratings: Floats) -> float:
    """Stuart's tau-c: for two scales with different numbers of levels, as scores and ratings have."""
    return _tau(scores, ratings, "c")


@dataclass(frozen=True)
class Agreement:
    """One metric on one set of judgements."""

    metric: str
    judgements: str
    #: Kendall's tau × 100 (0 for a metric that gives all captions one score); the sign is turned for metrics where
    #: lower is better.
    tau: float
    variant: str
    #: Judgements that were used, and those left out because the metric is undefined for the caption.
    rows: int
    undefined: int
    captions: int
    signature: str

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "metric": self.metric, "judgements": self.judgements, "tau": self.tau, "variant": f"tau-{self.variant}",
            "rows": self.rows, "undefined": self.undefined, "captions": self.captions, "signature": self.signature,
        }  # fmt: skip


def agreement(judgements: Judgements, metrics: Iterable[Measure]) -> list[Agreement]:
    """Kendall's tau of each metric with the judgements."""
    from captious.scores import Score

    found = []
    for metric in metrics:
        score = Score.of(metric, judgements.corpus)
        per_row = score.per_caption[judgements.caption] * (1.0 if metric.higher_is_better else -1.0)
        defined = np.isfinite(per_row)
        tau = _tau(per_row[defined], judgements.rating[defined], judgements.variant)
        found.append(
            Agreement(
                metric=score.name,
                judgements=judgements.name,
                tau=100 * tau if np.isfinite(tau) else 0.0,
                variant=judgements.variant,
                rows=int(defined.sum()),
                undefined=int((~defined).sum()),
                captions=len(judgements.candidates),
                signature=score.signature,
            )
        )
    return found
