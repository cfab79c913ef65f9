"""Agreement against something: the number of references, the length of captions, the level of people's ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from captious.errors import InputError
from captious.human.agreement import HumanAgreement, measure
from captious.human.scoring import make
from captious.human.study import METRICS, Study
from captious.human.table import JudgementTable
from captious.io.judgements import JudgementSet, RatedSystems
from captious.progress import track
from captious.significance import RESAMPLES, SEED

#: Fewer rows than this make no point of a curve.
LEAST_ROWS = 20


@dataclass(frozen=True)
class CurvePoint:
    """The agreement of metrics at one place of a curve."""

    #: Where the point is drawn, and what it stands for ("8 to 10 words").
    at: float
    label: str
    found: list[HumanAgreement]


@dataclass(frozen=True)
class AgreementCurve:
    """Agreement of metrics against one quantity."""

    judgements: str
    axis: str
    points: list[CurvePoint]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        points = [{"at": p.at, "label": p.label, "found": [item.to_json() for item in p.found]} for p in self.points]
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
    """Agreement by number of references per image, drawn several times; fewer are a subset of more. A number that no image
    has is left out, except for the largest, which then means all."""
    if isinstance(judged, RatedSystems):
        raise InputError(f"{judged.name} judges systems; there are no references to draw")
    most = max(map(len, judged.references))
    wanted = sorted({min(count, most) for count in counts})
    made = make(metrics, options)
    points = []
    for count in track(wanted, "references"):
        # All references can be drawn in one way only.
        times = 1 if count == most else draws
        study = Study.of(judged, made, protocol={"references": count, "draws": times})
        points.append(CurvePoint(count, str(count), measure(study.whole, ci=ci, resamples=resamples, seed=seed)))
    return AgreementCurve(judged.name, "references", points)


def by_length(table: JudgementTable, bins: int = 5, *, ci: bool = True, resamples: int = RESAMPLES, seed: int = SEED) -> AgreementCurve:
    """Agreement among captions of about equal length, in bins with about the same number of rows."""
    points = []
    for low, high in _bins(table.words.astype(np.float64), bins):
        chosen = (table.words >= low) & (table.words <= high)
        label = f"{low:.0f} to {high:.0f}" if high > low else f"{low:.0f}"
        points += _point(table, chosen, float(np.mean(table.words[chosen])), label, ci, resamples, seed)
    return AgreementCurve(table.name, "words in the caption", points)


def by_level(table: JudgementTable, bins: int = 4, *, ci: bool = True, resamples: int = RESAMPLES, seed: int = SEED) -> AgreementCurve:
    """Agreement among captions of two neighbouring levels of people's ratings: where on the scale does a metric tell the
    better from the worse? A few distinct ratings are levels themselves; many are put into bins of about equal size."""
    distinct = np.unique(table.human)
    levels = [(v, v) for v in distinct.tolist()] if len(distinct) <= 5 else _bins(table.human, bins)
    points = []
    for (low, mid), (mid_high, high) in pairwise(levels):
        chosen = (table.human >= low) & (table.human <= high)
        label = f"{low:g}{'' if low == mid else f' to {mid:g}'} or {mid_high:g}{'' if mid_high == high else f' to {high:g}'}"
        points += _point(table, chosen, float(np.mean(table.human[chosen])), label, ci, resamples, seed)
    return AgreementCurve(table.name, "rated", points)


def _point(
    table: JudgementTable, chosen: Any, at: float, label: str, ci: bool, resamples: int, seed: int
) -> list[CurvePoint]:
    if int(np.sum(chosen)) < LEAST_ROWS:
        return []
    rows = table.where(chosen, f"{table.part}{'; ' if table.part else ''}{label}")
    return [CurvePoint(at, label, measure(rows, ci=ci, resamples=resamples, seed=seed))]


def _bins(values: Any, bins: int) -> list[tuple[float, float]]:
    """Lowest and highest value of bins with about equally many values; equal values stay together."""
    if not len(values):
        return []
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)[1:], method="inverted_cdf"))
    found = []
    below = -np.inf
    for edge in edges.tolist():
        inside = values[(values > below) & (values <= edge)]
        if len(inside):
            found.append((float(inside.min()), float(inside.max())))
        below = edge
    return found
