"""The public face: load, score, compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from captious import significance
from captious.corpus import Corpus
from captious.errors import InputError
from captious.measures.making import make_measures
from captious.measures.registry import Wanted
from captious.references import References, Source, load, load_systems
from captious.scores import Score, Scores, json_number

__all__ = ["Comparison", "compare", "compare_scores", "load", "load_systems", "prepare", "score"]


def prepare(references: Source, metrics: Wanted = "coco", *, tokenizer: str | None = None, **options: Any) -> References:
    """References made ready for measures: read and encoded, with n-gram tables, document frequencies, scene graphs and
    whatever else the measures derive from them. Take them wherever references are taken; ``save`` keeps them in a file.
    """
    return References.read(references, tokenizer).prepare(make_measures(metrics, options))


def score(corpus: Corpus, metrics: Wanted = "coco", **options: Any) -> Scores:
    """Score the candidates of a corpus.

    ``metrics`` are names ("CIDEr-D"), groups ("coco", "all") or measures themselves. Options go to the measures that take
    them: ``df`` (document frequencies for CIDEr, a path or a table), and those listed by ``captious metrics``.
    """
    return Scores(corpus.name, [Score.of(measure, corpus) for measure in make_measures(metrics, options)])


@dataclass(frozen=True)
class Comparison:
    """One metric on two systems over the same images."""

    metric: str
    a: float
    b: float
    #: B − A, with its confidence interval.
    difference: float
    interval: tuple[float, float]
    #: Two-sided p-values of the paired bootstrap and of approximate randomisation.
    p_bootstrap: float
    p_randomisation: float
    higher_is_better: bool
    signature: str

    @property
    def better(self) -> str:
        """Which system is ahead: "A", "B" or "neither"."""
        if self.difference == 0 or np.isnan(self.difference):
            return "neither"
        return "B" if (self.difference > 0) == self.higher_is_better else "A"

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "metric": self.metric,
            "a": json_number(self.a),
            "b": json_number(self.b),
            "difference": json_number(self.difference),
            "interval": [json_number(bound) for bound in self.interval],
            "p_bootstrap": json_number(self.p_bootstrap),
            "p_randomisation": json_number(self.p_randomisation),
            "better": self.better,
            "signature": self.signature,
        }


def compare(
    a: Corpus | Scores,
    b: Corpus | Scores,
    metrics: Wanted = "coco",
    *,
    resamples: int = significance.RESAMPLES,
    trials: int = significance.TRIALS,
    seed: int = significance.SEED,
    **options: Any,
) -> list[Comparison]:
    """Compare two systems on the same images, metric by metric, with paired tests. Refuses unlike numbers."""
    scores_a = a if isinstance(a, Scores) else score(a, metrics, **options)
    scores_b = b if isinstance(b, Scores) else score(b, metrics, **options)
    return [
        compare_scores(scores_a[name], scores_b[name], resamples=resamples, trials=trials, seed=seed)
        for name in scores_a
        if name in scores_b
    ]


def compare_scores(
    a: Score,
    b: Score,
    *,
    resamples: int = significance.RESAMPLES,
    trials: int = significance.TRIALS,
    seed: int = significance.SEED,
) -> Comparison:
    """Compare two scores of one metric on the same images."""
    if a.signature != b.signature:
        apart = "; ".join(f"{field}: {here} / {there}" for field, here, there in a.signature.difference(b.signature))
        raise InputError(f"{a.name}: these two numbers cannot be compared, they were made differently ({apart})")
    if a.ids != b.ids:
        raise InputError(f"{a.name}: A was scored on {len(a.ids):,} images and B on {len(b.ids):,}; they must be the same")
    value = a.measure.value
    rows_a, rows_b = a.image_statistics, b.image_statistics
    low, high, p_bootstrap = significance.paired_bootstrap(rows_a, rows_b, value, resamples=resamples, seed=seed)
    return Comparison(
        metric=a.name,
        a=a.value,
        b=b.value,
        difference=b.value - a.value,
        interval=(low, high),
        p_bootstrap=p_bootstrap,
        p_randomisation=significance.randomisation(rows_a, rows_b, value, trials, seed),
        higher_is_better=a.measure.higher_is_better,
        signature=f"{a.signature}|paired-bootstrap:{resamples}|randomisation:{trials}|seed:{seed}",
    )
