"""What re-ranking does on images that were not tuned on: baseline, each language model, both interpolated; intervals and paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious import significance
from captious.comparison import Comparisons, compare
from captious.paired import PairedTests
from captious.ragged import IntArray
from captious.rerank.choosing import Grid, best
from captious.rerank.information import Prior, Weights, information
from captious.rerank.tuning import Judged, Tuned, geometric_mean
from captious.scores import Scores, json_number

MEAN = "GeoMean"
BASELINE = "baseline"


@dataclass(frozen=True)
class Cell:
    """A value with its interval, and how it differs from the baseline's."""

    value: float
    interval: tuple[float, float]
    difference: float = 0.0
    #: Corrected by Holm's method over all metrics and systems; of the geometric mean, the p-value of the paired bootstrap alone.
    p: float = float("nan")
    #: The p-value of this comparison by itself.
    p_alone: float = float("nan")


@dataclass(frozen=True, eq=False)
class System:
    """A way to choose, and what comes of it."""

    name: str
    weights: Weights | None
    cells: Mapping[str, Cell]
    scores: Scores

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        rows = {
            name: {"value": json_number(c.value), "interval": [json_number(b) for b in c.interval], "difference": json_number(c.difference), "p": json_number(c.p), "p alone": json_number(c.p_alone)}
            for name, c in self.cells.items()
        }
        return {"system": self.name, "lambda": self.weights.lam if self.weights else None, "alpha": self.weights.alpha if self.weights else None, "metrics": rows}


def variants(tuned: Tuned, prior: Prior) -> dict[str, Weights]:
    """The best weights for each language model by itself (α = 1 and α = 0), and for both together."""
    if len(prior.log) == 1:
        return {f"+ {prior.names[0]}": tuned.best()}
    alphas = np.array(tuned.alphas)
    found = {f"+ {prior.names[k]}": tuned.best(alphas == alpha) for k, alpha in enumerate((1.0, 0.0)) if (alphas == alpha).any()}
    return {**found, "+ interpolated": tuned.best()}


def choices(judged: Judged, prior: Prior, weights: Mapping[str, Weights], *, normalise: bool = False) -> dict[str, IntArray]:
    """What each variant chooses, the baseline first."""
    grid, log_p = Grid.of(judged.nbest.offsets), judged.nbest.log_p()
    chosen = {BASELINE: best(grid, information(log_p, prior, Weights(0.0), normalise=normalise))}
    return chosen | {name: best(grid, information(log_p, prior, one, normalise=normalise)) for name, one in weights.items()}


def compared(
    judged: Judged,
    chosen: Mapping[str, IntArray],
    images: IntArray,
    weights: Mapping[str, Weights] | None = None,
    *,
    trials: int = significance.TRIALS,
    resamples: int = significance.RESAMPLES,
    seed: int = significance.SEED,
) -> list[System]:
    """Every choice against the first, on some images."""
    scores = [judged.system(rows, images, name) for name, rows in chosen.items()]
    measures = judged.measures
    names = [measure.name for measure in measures]
    tests: Comparisons = compare(*scores, baseline=0, trials=trials, resamples=resamples, seed=seed) if len(scores) > 1 else Comparisons([], scores, list(chosen), 0.05)
    found = {(row.metric, row.system_b): row for row in tests}
    resampled = PairedTests(scores, names).resampled(resamples, seed)
    means = [geometric_mean({name: resampled[name, k] for name in names}, measures, len(images)) for k in range(len(scores))]
    value = [float(geometric_mean({name: np.array(s[name].value) for name in names}, measures, len(images))) for s in scores]
    systems = []
    for k, (name, score) in enumerate(zip(chosen, scores)):
        cells: dict[str, Cell] = {}
        for metric in names:
            row = found.get((metric, name))
            own = (row.difference, row.p_corrected, row.p_randomisation) if row else (0.0, float("nan"), float("nan"))
            cells[metric] = Cell(score[metric].value, score[metric].interval(0.95, resamples, seed), *own)
        p = significance.of_differences(means[k] - means[0], value[k] - value[0])[2] if k else float("nan")
        cells[MEAN] = Cell(value[k], _middle(means[k]), value[k] - value[0], p, p)
        systems.append(System(name, (weights or {}).get(name), cells, score))
    return systems


def _middle(values: Any) -> tuple[float, float]:
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)


def split(count: int, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Images to tune on, and the others, drawn by the seed; both in the order of the file."""
    order = np.random.default_rng(seed).permutation(count)
    tuned = round(share * count)
    return np.sort(order[:tuned]), np.sort(order[tuned:])


def changed(chosen: Mapping[str, IntArray], images: IntArray, texts: Sequence[str]) -> dict[str, float]:
    """The share of images whose caption is not that of the first choice."""
    first = next(iter(chosen.values()))[images].tolist()
    return {name: float(np.mean([texts[a] != texts[b] for a, b in zip(first, rows[images].tolist())])) for name, rows in chosen.items()}
