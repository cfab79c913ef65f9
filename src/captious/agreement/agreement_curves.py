"""Agreement curves over the number of references, caption length, or the level of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from captious.agreement.agreement_scores import HumanAgreement, measure
from captious.agreement.judgement_table import JudgementTable
from captious.agreement.study import METRICS, Study
from captious.core.errors import InputError
from captious.core.progress import track
from captious.io.judgements import JudgementSet, RatedSystems
from captious.metrics.registry import make_measures
from captious.results.result_rows import EXACT, NumberStyle, ResultRow
from captious.results.significance import RESAMPLES, SEED

#: Minimum number of rows for a point of a curve.
LEAST_ROWS = 20


@dataclass(frozen=True)
class CurvePoint:
    """Agreement of metrics at one point of a curve."""

    #: Position on the axis, and its label ("8 to 10").
    at: float
    label: str
    agreements: list[HumanAgreement]


@dataclass(frozen=True)
class AgreementCurve:
    """Agreement of metrics as a function of one quantity."""

    judgements: str
    axis: str
    points: list[CurvePoint]

    def tidy_rows(self) -> list[ResultRow]:
        """Return the points as rows for CSV."""
        return [
            item.tidy_row()._replace(
                metric=f"{item.judgements} {item.coefficient} by {self.axis}: {point.label}"
            )
            for point in self.points
            for item in point.agreements
        ]

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        points = [
            {"at": p.at, "label": p.label, "agreement": [item.to_json(numbers) for item in p.agreements]}
            for p in self.points
        ]
        return {"judgements": self.judgements, "axis": self.axis, "points": points}


def by_references(
    judged: JudgementSet,
    metrics: Any = METRICS,
    counts: Sequence[int] = (1, 2, 3, 5, 10, 20, 30, 40, 50),
    *,
    draws: int = 3,
    options: Mapping[str, Any] | None = None,
    ci: bool = True,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> AgreementCurve:
    """Compute agreement by number of references per image.

    References are drawn ``draws`` times; a smaller number is a subset of a larger one. Numbers above the
    largest available are replaced by it.
    """
    if isinstance(judged, RatedSystems):
        raise InputError(f"{judged.name} rates systems, not captions: there are no references to draw")
    most = max(map(len, judged.references))
    distinct_counts = sorted({min(count, most) for count in counts})
    measures = make_measures(metrics, dict(options or {}))
    points = []
    for count in track(distinct_counts, "references"):
        # There is only one way to draw all references.
        repetitions = 1 if count == most else draws
        study = Study.of(judged, measures, protocol={"references": count, "draws": repetitions})
        points.append(
            CurvePoint(count, str(count), measure(study.whole, ci=ci, resamples=resamples, seed=seed))
        )
    return AgreementCurve(judged.name, "references", points)


def by_length(
    table: JudgementTable, bins: int = 5, *, ci: bool = True, resamples: int = RESAMPLES, seed: int = SEED
) -> AgreementCurve:
    """Compute agreement among captions of similar length, in bins of about equal size."""
    points = []
    for low, high in _bins(table.words.astype(np.float64), bins):
        chosen = (table.words >= low) & (table.words <= high)
        label = f"{low:.0f} to {high:.0f}" if high > low else f"{low:.0f}"
        points += _point(table, chosen, float(np.mean(table.words[chosen])), label, ci, resamples, seed)
    return AgreementCurve(table.name, "words in the caption", points)


def by_level(
    table: JudgementTable, bins: int = 4, *, ci: bool = True, resamples: int = RESAMPLES, seed: int = SEED
) -> AgreementCurve:
    """Compute agreement among captions of two adjacent rating levels.

    The curve shows where on the scale a metric separates better from worse captions. Up to 5 distinct ratings
    are levels themselves; more are grouped into bins of about equal size.
    """
    distinct = np.unique(table.human)
    levels = [(v, v) for v in distinct.tolist()] if len(distinct) <= 5 else _bins(table.human, bins)
    points = []
    for (low, mid), (mid_high, high) in pairwise(levels):
        chosen = (table.human >= low) & (table.human <= high)
        label = f"{_range_label(low, mid)} or {_range_label(mid_high, high)}"
        points += _point(table, chosen, float(np.mean(table.human[chosen])), label, ci, resamples, seed)
    return AgreementCurve(table.name, "rated", points)


def _range_label(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _point(
    table: JudgementTable, chosen: Any, at: float, label: str, ci: bool, resamples: int, seed: int
) -> list[CurvePoint]:
    if int(np.sum(chosen)) < LEAST_ROWS:
        return []
    rows = table.where(chosen, f"{table.part}{'; ' if table.part else ''}{label}")
    return [CurvePoint(at, label, measure(rows, ci=ci, resamples=resamples, seed=seed))]


def _bins(values: Any, bins: int) -> list[tuple[float, float]]:
    """Return the lowest and highest value of bins of about equal size. Equal values share a bin."""
    if not len(values):
        return []
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)[1:], method="inverted_cdf"))
    ranges = []
    below = -np.inf
    for edge in edges.tolist():
        inside = values[(values > below) & (values <= edge)]
        if len(inside):
            ranges.append((float(inside.min()), float(inside.max())))
        below = edge
    return ranges
