"""Correlations between metrics, and pairs of metrics that agree with people better than either alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from captious.agreement.agreement_scores import ALPHA, compare_metrics
from captious.agreement.coefficients import COEFFICIENTS, FloatArray, IntArray
from captious.agreement.judgement_table import JudgementTable
from captious.core.errors import InputError, require
from captious.core.progress import track
from captious.results.result_rows import EXACT, NumberStyle, ResultRow
from captious.results.scores import json_number
from captious.results.significance import RESAMPLES, SEED, holm


@dataclass(frozen=True)
class MetricCorrelations:
    """Correlation matrix of metrics, ordered so that similar metrics are adjacent."""

    #: "captions of Flickr8k-Expert", "systems".
    over: str
    coefficient: str
    rows: int
    metrics: list[str]
    matrix: FloatArray

    def tidy_rows(self) -> list[ResultRow]:
        """Return the correlation of each pair of metrics as a row for CSV."""
        name = f"{self.coefficient} over {self.over}"
        return [
            ResultRow(a, name, float(self.matrix[i, j]), self.rows, "", other_system=b)
            for (i, a), (j, b) in combinations(enumerate(self.metrics), 2)
        ]

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "over": self.over,
            "coefficient": self.coefficient,
            "rows": self.rows,
            "metrics": self.metrics,
            "matrix": [[numbers.number(v) for v in row] for row in self.matrix.tolist()],
        }


def correlate_metrics(
    scores: Mapping[str, FloatArray], over: str, coefficient: str = "spearman"
) -> MetricCorrelations:
    """Correlate metrics over captions or systems, on the rows where all metrics are defined.

    Metrics are ordered by hierarchical clustering (average linkage of 1 − |correlation|).
    """
    names = list(scores)
    if len(names) < 2:
        raise InputError("metric correlations need at least two metrics; add metrics with -m")
    rows = np.all([np.isfinite(scores[name]) for name in names], axis=0)
    if int(rows.sum()) < 3:
        raise InputError(f"fewer than three {over} have a score by all of {', '.join(names)}")
    values = [scores[name][rows] for name in names]
    matrix = np.eye(len(names))
    for i, j in combinations(range(len(names)), 2):
        correlation = COEFFICIENTS[coefficient](values[i], values[j])
        matrix[i, j] = matrix[j, i] = 0.0 if np.isnan(correlation) else correlation
    order = _clustered(matrix)
    return MetricCorrelations(
        over, coefficient, int(rows.sum()), [names[k] for k in order], matrix[np.ix_(order, order)]
    )


def _clustered(matrix: FloatArray) -> list[int]:
    hierarchy = require("scipy.cluster.hierarchy", "agreement", "relating metrics")
    distances = np.clip(1 - np.abs(matrix), 0, None)
    np.fill_diagonal(distances, 0)
    # SciPy expects a condensed matrix: the upper triangle, row by row.
    condensed = distances[np.triu_indices(len(distances), 1)]
    order: list[int] = hierarchy.leaves_list(
        hierarchy.linkage(condensed, "average", optimal_ordering=True)
    ).tolist()
    return order


def over_captions(table: JudgementTable) -> MetricCorrelations:
    """Correlate metrics over the rated captions of a set, each counted once."""
    first = np.unique(table.caption, return_index=True)[1]
    return correlate_metrics(
        {name: v[first] for name, v in table.scores.items()}, f"captions of {table.name}"
    )


@dataclass(frozen=True)
class PairOfMetrics:
    """A linear combination of two metrics, fitted on some images and measured on others."""

    judgements: str
    coefficient: str
    a: str
    b: str
    value_a: float
    value_b: float
    #: The combination's agreement with people, on images that the weights were not fitted on.
    combined: float
    #: Share of the first metric in the weights of the standardised scores (mean over folds).
    share_a: float
    #: Combined − better of the two, its interval, and the adjusted p-value.
    gain: float
    interval: tuple[float, float]
    p_holm: float
    rows: int

    @property
    def complementary(self) -> bool:
        """Whether the pair agrees significantly better with people than either metric alone."""
        return self.gain > 0 and self.p_holm < ALPHA

    def tidy_row(self) -> ResultRow:
        """Return the gain of the pair as a row for CSV."""
        name = f"{self.judgements} {self.coefficient}, gain of the pair"
        return ResultRow(
            self.a, name, self.gain, self.rows, "", self.interval, self.b, p_corrected=self.p_holm
        )

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "judgements": self.judgements,
            "coefficient": self.coefficient,
            "a": self.a,
            "b": self.b,
            "value_a": numbers.number(self.value_a),
            "value_b": numbers.number(self.value_b),
            "combined": numbers.number(self.combined),
            "share_a": json_number(self.share_a),
            "gain": numbers.number(self.gain),
            "interval": [numbers.number(v) for v in self.interval],
            "p_holm": json_number(self.p_holm),
            "complementary": self.complementary,
        }


def complementary_pairs(
    table: JudgementTable,
    metrics: Sequence[str] | None = None,
    *,
    folds: int = 5,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[PairOfMetrics]:
    """Fit a linear combination of every pair of metrics, cross-validated by image.

    All judgements of an image are in one fold. Pairs are sorted by gain, the largest first. Holm's correction
    runs over all pairs.
    """
    names = list(table.scores if metrics is None else metrics)
    rows = table.where(table.defined(names))
    if rows.units < 2 * folds:
        raise InputError(
            f"{table.name}: {rows.units} images are too few for {folds} folds (at least {2 * folds} needed)"
        )
    fold = np.random.default_rng(seed).permutation(rows.units)[rows.unit] % folds
    single = {name: rows.estimate(name) for name in names}
    tested_pairs = []
    for a, b in track(list(combinations(names, 2)), "pairs of metrics"):
        combined, share = _combine(rows, a, b, fold, folds)
        better = a if single[a] >= single[b] else b
        trial = rows.with_scores({"combined": combined, better: rows.scores[better]})
        (test,) = compare_metrics(trial, ["combined", better], resamples=resamples, seed=seed)
        tested_pairs.append((a, b, share, test))
    adjusted = holm([test.p_bootstrap for *_, test in tested_pairs])
    pairs = [
        PairOfMetrics(
            judgements=table.name,
            coefficient=table.protocol.coefficient,
            a=a,
            b=b,
            value_a=single[a],
            value_b=single[b],
            combined=test.value_a,
            share_a=share,
            gain=test.difference,
            interval=test.interval,
            p_holm=p,
            rows=test.rows,
        )
        for (a, b, share, test), p in zip(tested_pairs, adjusted)
    ]
    return sorted(pairs, key=lambda pair: -pair.gain)


def _combine(table: JudgementTable, a: str, b: str, fold: IntArray, folds: int) -> tuple[FloatArray, float]:
    """Predict ratings from two metrics, each fold with weights fitted on the other folds."""
    both = np.stack([table.scores[a], table.scores[b]], axis=1)
    predicted = np.zeros(len(table))
    shares = []
    # Pairs have no intercept: their scores are differences, and swapping the captions swaps the sign.
    constant = table.protocol.coefficient != "accuracy"
    for k in range(folds):
        inside = fold != k
        centre = both[inside].mean(axis=0) if constant else np.zeros(2)
        spread = both[inside].std(axis=0)
        spread[spread == 0] = 1.0
        design = (both - centre) / spread
        middle = table.human[inside].mean() if constant else 0.0
        weights = np.linalg.lstsq(design[inside], table.human[inside] - middle, rcond=None)[0]
        predicted[~inside] = design[~inside] @ weights + middle
        shares.append(abs(weights[0]) / max(float(np.abs(weights).sum()), 1e-300))
    return predicted, float(np.mean(shares))
