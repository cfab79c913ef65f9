"""How well the order a metric gives to captions agrees with the order people give, with error bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from captious.human.coefficients import COEFFICIENTS
from captious.human.kendall import FloatArray
from captious.human.resampling import (
    bootstrap_p,
    percentile_interval,
    perfect_interval,
    resample_counts,
    small_sample_interval,
    williams,
)
from captious.human.scoring import json_number
from captious.human.study import METRICS, Study
from captious.human.table import JudgementTable
from captious.io.judgements import JudgementSet
from captious.progress import track
from captious.significance import RESAMPLES, SEED, holm

#: Differences whose adjusted p-value is lower than this are called differences.
ALPHA = 0.05


@dataclass(frozen=True)
class HumanAgreement:
    """One metric on one set of judgements, or on a part of it."""

    metric: str
    judgements: str
    #: A category of pairs or a criterion of the judges; "" is the whole.
    part: str
    #: "tau-c", "pearson", …, "accuracy".
    coefficient: str
    level: str
    #: From −1 to 1, or from 0 to 1 for accuracy. Tables show 100 times as much.
    value: float
    interval: tuple[float, float] | None
    #: Judgements that were used, and those left out because the metric is undefined for the caption.
    rows: int
    undefined: int
    #: Images, or systems: what intervals are over.
    units: int
    signature: str

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "metric": self.metric, "judgements": self.judgements, "part": self.part or None, "coefficient": self.coefficient,
            "level": self.level, "value": json_number(self.value),
            "interval": [json_number(bound) for bound in self.interval] if self.interval else None,
            "rows": self.rows, "undefined": self.undefined, "units": self.units, "signature": self.signature,
        }  # fmt: skip


def signature_of(table: JudgementTable, metric: str, resamples: int | None = None, seed: int = SEED) -> str:
    """How an agreement was measured: the metric's signature, the set and the protocol."""
    fields = [table.signatures.get(metric, metric), f"judged:{table.judged}"]
    if table.part:
        fields.append(f"part:{table.part}")
    fields += [f"{key}:{value}" for key, value in table.protocol.fields.items()]
    if resamples is not None:
        analytic = table.protocol.level == "system"
        fields.append("ci:95%|fisher-z" if analytic else f"ci:95%|bootstrap:{resamples} images|seed:{seed}")
    return "|".join(fields)


def measure(
    table: JudgementTable, metrics: Iterable[str] | None = None, *, ci: bool = False, resamples: int = RESAMPLES, seed: int = SEED
) -> list[HumanAgreement]:
    """The agreement of each metric with the judgements of a table."""
    found = []
    for metric in table.scores if metrics is None else metrics:
        rows = table.where(table.defined([metric]))
        value = table.estimate(metric)
        interval = None
        if ci and table.protocol.level == "system":
            interval = small_sample_interval(value, len(rows), table.protocol.coefficient)
        elif ci:
            drawn = _resampled(rows, [metric], resamples, seed)[metric]
            certain = table.protocol.coefficient == "accuracy" and value in (0.0, 1.0)
            interval = perfect_interval(value, rows.units) if certain else percentile_interval(drawn)
        found.append(
            HumanAgreement(
                metric=metric, judgements=table.name, part=table.part, coefficient=table.protocol.coefficient,
                level=table.protocol.level, value=value, interval=interval, rows=len(rows), undefined=len(table) - len(rows),
                units=rows.units, signature=signature_of(table, metric, resamples if ci else None, seed),
            )
        )  # fmt: skip
    return found


def agreement(
    judged: JudgementSet | Study,
    metrics: Any = METRICS,
    *,
    protocol: Mapping[str, Any] | None = None,
    ci: bool = False,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    **options: Any,
) -> list[HumanAgreement]:
    """The agreement of metrics with a set of judgements: the whole first, then its parts.

    On pairs, accuracy is followed by Pearson's correlation of the margin of votes with the difference of scores.
    """
    study = judged if isinstance(judged, Study) else Study.of(judged, metrics, options=options, protocol=protocol)
    tables = list(study.tables)
    if study.whole.protocol.coefficient == "accuracy":
        tables.insert(1, study.whole.under(coefficient="pearson"))
    return [item for table in track(tables, "agreement") for item in measure(table, ci=ci, resamples=resamples, seed=seed)]


def _resampled(table: JudgementTable, metrics: Sequence[str], resamples: int, seed: int) -> dict[str, FloatArray]:
    """Agreement on the same resamples for all metrics, which must be defined in every row."""
    parts: dict[str, list[FloatArray]] = {metric: [] for metric in metrics}
    for counts in resample_counts(table.units, resamples, seed):
        for metric in metrics:
            parts[metric].append(table.resampled(metric, counts))
    return {metric: np.concatenate(values) for metric, values in parts.items()}


@dataclass(frozen=True)
class MetricComparison:
    """Two metrics on the same judgements."""

    judgements: str
    part: str
    coefficient: str
    a: str
    b: str
    value_a: float
    value_b: float
    #: A − B, with its interval over images.
    difference: float
    interval: tuple[float, float]
    rows: int
    p_bootstrap: float
    #: Williams' test, for correlations.
    p_williams: float | None
    #: The larger of the two, adjusted by Holm over all pairs compared on this set.
    p_holm: float

    @property
    def better(self) -> str | None:
        """The metric that agrees significantly better with people, else None."""
        if not self.p_holm < ALPHA or self.difference == 0:
            return None
        return self.a if self.difference > 0 else self.b

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "judgements": self.judgements, "part": self.part or None, "coefficient": self.coefficient, "a": self.a, "b": self.b,
            "value_a": json_number(self.value_a), "value_b": json_number(self.value_b), "difference": json_number(self.difference),
            "interval": [json_number(bound) for bound in self.interval], "rows": self.rows,
            "p_bootstrap": json_number(self.p_bootstrap),
            "p_williams": None if self.p_williams is None else json_number(self.p_williams),
            "p_holm": json_number(self.p_holm), "better": self.better,
        }  # fmt: skip


def compare_metrics(
    table: JudgementTable, metrics: Sequence[str] | None = None, *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[MetricComparison]:
    """Compare every pair of metrics on the rows where all are defined, with the same resamples of images for both and Holm's
    correction over all pairs. Correlations are tested twice, by the bootstrap and by Williams' test; the larger p-value counts."""
    names = list(table.scores if metrics is None else metrics)
    rows = table.where(table.defined(names))
    level = rows.protocol.level
    if len(rows) < 2:
        return []
    values = {name: rows.estimate(name) for name in names}
    drawn = _resampled(rows, names, resamples, seed)
    pairs = list(combinations(names, 2))
    correlations = level != "image" and rows.protocol.coefficient in ("pearson", "spearman")
    p_boot, p_williams = [], []
    for a, b in pairs:
        p_boot.append(bootstrap_p(values[a] - values[b], drawn[a] - drawn[b]))
        between = COEFFICIENTS[rows.protocol.coefficient](rows.scores[a], rows.scores[b]) if correlations else float("nan")
        p_williams.append(williams(values[a], values[b], between, len(rows))[1] if correlations else float("nan"))
    # Where there are two tests, a difference must pass both.
    adjusted = holm([b if np.isnan(w) else max(b, w) for b, w in zip(p_boot, p_williams)])
    return [
        MetricComparison(
            judgements=table.name, part=table.part, coefficient=rows.protocol.coefficient, a=a, b=b, value_a=values[a],
            value_b=values[b], difference=values[a] - values[b], interval=percentile_interval(drawn[a] - drawn[b]),
            rows=len(rows), p_bootstrap=p_boot[k], p_williams=p_williams[k] if correlations else None, p_holm=adjusted[k],
        )
        for k, (a, b) in enumerate(pairs)
    ]  # fmt: skip
