"""Comparison of re-ranking variants on images not used for tuning.

The variants are the baseline, each language model, and both interpolated, with intervals and paired tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.core.ragged import IntArray
from captious.rerank.information import Prior, Weights, information
from captious.rerank.selection_rules import Grid, best
from captious.rerank.tuning import ScoredCandidates, Tuned, geometric_mean
from captious.results import significance
from captious.results.comparison import compare
from captious.results.comparison_result import Comparisons
from captious.results.paired_tests import PairedTests
from captious.results.scores import Scores, json_number

MEAN = "GeoMean"
BASELINE = "baseline"


@dataclass(frozen=True)
class Cell:
    """A value with its interval, and its difference from the baseline."""

    value: float
    interval: tuple[float, float]
    difference: float = 0.0
    #: p-value with Holm's correction over all metrics and systems. For the geometric mean, the uncorrected
    #: p-value of the paired bootstrap.
    p: float = float("nan")
    #: Uncorrected p-value.
    p_alone: float = float("nan")


@dataclass(frozen=True, eq=False)
class System:
    """A re-ranking variant and its results."""

    name: str
    weights: Weights | None
    cells: Mapping[str, Cell]
    scores: Scores

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        rows = {
            name: {
                "value": json_number(c.value),
                "interval": [json_number(b) for b in c.interval],
                "difference": json_number(c.difference),
                "p": json_number(c.p),
                "p alone": json_number(c.p_alone),
            }
            for name, c in self.cells.items()
        }
        return {
            "system": self.name,
            "lambda": self.weights.lam if self.weights else None,
            "alpha": self.weights.alpha if self.weights else None,
            "metrics": rows,
        }


def variants(tuned: Tuned, prior: Prior) -> dict[str, Weights]:
    """Return the best weights for each language model alone (α = 1 and α = 0), and for both together."""
    if len(prior.log) == 1:
        return {f"+ {prior.names[0]}": tuned.best()}
    alphas = np.array(tuned.alphas)
    single = {
        f"+ {prior.names[k]}": tuned.best(alphas == alpha)
        for k, alpha in enumerate((1.0, 0.0))
        if (alphas == alpha).any()
    }
    return {**single, "+ interpolated": tuned.best()}


def choices(
    judged: ScoredCandidates, prior: Prior, weights: Mapping[str, Weights], *, normalise: bool = False
) -> dict[str, IntArray]:
    """Return the selection of each variant, the baseline first."""
    grid, log_p = Grid.of(judged.nbest.offsets), judged.nbest.log_p()
    chosen = {BASELINE: best(grid, information(log_p, prior, Weights(0.0), normalise=normalise))}
    return chosen | {
        name: best(grid, information(log_p, prior, one, normalise=normalise)) for name, one in weights.items()
    }


def compared(
    judged: ScoredCandidates,
    chosen: Mapping[str, IntArray],
    images: IntArray,
    weights: Mapping[str, Weights] | None = None,
    *,
    trials: int = significance.TRIALS,
    resamples: int = significance.RESAMPLES,
    seed: int = significance.SEED,
) -> list[System]:
    """Compare every selection with the first, on some of the images."""
    scores = [judged.system(rows, images, name) for name, rows in chosen.items()]
    measures = judged.measures
    names = [measure.name for measure in measures]
    tests: Comparisons = (
        compare(*scores, baseline=0, trials=trials, resamples=resamples, seed=seed)
        if len(scores) > 1
        else Comparisons([], scores, list(chosen), 0.05)
    )
    test_of = {(row.metric, row.system_b): row for row in tests}
    resampled = PairedTests(scores, names).resampled(resamples, seed)
    means = [
        geometric_mean({name: resampled[name, k] for name in names}, measures, len(images))
        for k in range(len(scores))
    ]
    value = [
        float(geometric_mean({name: np.array(s[name].value) for name in names}, measures, len(images)))
        for s in scores
    ]
    systems = []
    for k, (name, score) in enumerate(zip(chosen, scores)):
        cells: dict[str, Cell] = {}
        for metric in names:
            row = test_of.get((metric, name))
            difference_and_p = (
                (row.difference, row.p_corrected, row.p_randomisation)
                if row
                else (0.0, float("nan"), float("nan"))
            )
            cells[metric] = Cell(
                score[metric].value, score[metric].interval(0.95, resamples, seed), *difference_and_p
            )
        p = significance.interval_and_p(means[k] - means[0], value[k] - value[0])[2] if k else float("nan")
        cells[MEAN] = Cell(value[k], _middle(means[k]), value[k] - value[0], p, p)
        systems.append(System(name, (weights or {}).get(name), cells, score))
    return systems


def _middle(values: Any) -> tuple[float, float]:
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)


def split(count: int, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Draw images for tuning and for testing, both in the order of the file."""
    order = np.random.default_rng(seed).permutation(count)
    tuned = round(share * count)
    return np.sort(order[:tuned]), np.sort(order[tuned:])


def changed(chosen: Mapping[str, IntArray], images: IntArray, texts: Sequence[str]) -> dict[str, float]:
    """Return each variant's share of images whose caption differs from the first variant's."""
    first = next(iter(chosen.values()))[images].tolist()
    return {
        name: float(np.mean([texts[a] != texts[b] for a, b in zip(first, rows[images].tolist())]))
        for name, rows in chosen.items()
    }
