"""Agreement between metrics and human judgements, with confidence intervals and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from captious.agreement.coefficients import COEFFICIENTS, FloatArray
from captious.agreement.judgement_table import JudgementTable
from captious.agreement.resampling import (
    bootstrap_p,
    perfect_interval,
    resample_counts,
    small_sample_interval,
    williams,
)
from captious.agreement.study import METRICS, Study
from captious.core.progress import track
from captious.io.judgements import JudgementSet
from captious.results.result_rows import EXACT, NumberStyle, ResultRow
from captious.results.scores import json_number
from captious.results.significance import RESAMPLES, SEED, holm, percentile_interval

#: Significance level for adjusted p-values.
ALPHA = 0.05


@dataclass(frozen=True)
class HumanAgreement:
    """Agreement of one metric with one set of judgements, or with a part of the set."""

    metric: str
    judgements: str
    #: A category of pairs or a judging criterion. "" is the whole set.
    part: str
    #: "tau-c", "pearson", …, "accuracy", "ap", "auc", "word named".
    coefficient: str
    level: str
    #: From −1 to 1, or from 0 to 1 for accuracy. Tables show 100 × the value.
    value: float
    interval: tuple[float, float] | None
    #: Judgements used, and judgements skipped because the metric is undefined for the caption.
    rows: int
    undefined: int
    #: Number of resampled units: images, or systems.
    units: int
    signature: str

    @property
    def quantity(self) -> str:
        """Name of the value: the set, its part, and the coefficient."""
        return " ".join(filter(None, (self.judgements, self.part, self.coefficient)))

    def tidy_row(self) -> ResultRow:
        """Return the agreement as a row for CSV. The metric is the system that is judged."""
        return ResultRow(
            self.metric, self.quantity, self.value, self.rows, self.signature, interval=self.interval
        )

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "metric": self.metric,
            "judgements": self.judgements,
            "part": self.part or None,
            "coefficient": self.coefficient,
            "level": self.level,
            "value": numbers.number(self.value),
            "interval": [numbers.number(bound) for bound in self.interval] if self.interval else None,
            "rows": self.rows,
            "undefined": self.undefined,
            "units": self.units,
            "signature": self.signature,
        }


def signature_of(table: JudgementTable, metric: str, resamples: int | None = None, seed: int = SEED) -> str:
    """Return the signature of an agreement: the metric's signature, the set and the protocol."""
    fields = [table.signatures.get(metric, metric), f"judged:{table.judged}"]
    if table.part:
        fields.append(f"part:{table.part}")
    fields += [f"{key}:{value}" for key, value in table.protocol.fields.items()]
    if resamples is not None:
        analytic = table.protocol.level == "system"
        fields.append("ci:95%|fisher-z" if analytic else f"ci:95%|bootstrap:{resamples} images|seed:{seed}")
    return "|".join(fields)


def measure(
    table: JudgementTable,
    metrics: Iterable[str] | None = None,
    *,
    ci: bool = False,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[HumanAgreement]:
    """Compute the agreement of each metric with the judgements of a table.

    Parameters
    ----------
    table
        Judgements with the scores of metrics.
    metrics
        Names of metrics (default: all in the table).
    ci
        Compute intervals.
    resamples
        Resamples of the bootstrap.
    seed
        Seed of the bootstrap.

    Examples
    --------
    >>> import json, tempfile
    >>> from captious.agreement import load_judgements
    >>> image = {"image_id": 1, "references": ["a dog runs", "the dog is running"]}
    >>> ratings = {"a dog runs": 5, "a dog sits": 3, "two men": 1}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     for caption, rating in ratings.items():
    ...         print(json.dumps({**image, "caption": caption, "score": rating}), file=file, flush=True)
    ...     judged = load_judgements(file.name)
    >>> from captious.agreement import Study
    >>> study = Study.of(judged, "BLEU-1,ROUGE-L")
    >>> [row.metric for row in measure(study.tables[0])]
    ['BLEU-1', 'ROUGE-L']
    """
    agreements = []
    for metric in table.scores if metrics is None else metrics:
        rows = table.where(table.defined([metric]))
        value = table.estimate(metric)
        interval = None
        if ci and table.protocol.level == "system":
            interval = small_sample_interval(value, len(rows), table.protocol.coefficient)
        elif ci:
            resampled = _resampled(rows, [metric], resamples, seed)[metric]
            is_extreme = table.protocol.coefficient in ("accuracy", "word named") and value in (0.0, 1.0)
            interval = perfect_interval(value, rows.units) if is_extreme else percentile_interval(resampled)
        agreements.append(
            HumanAgreement(
                metric=metric,
                judgements=table.name,
                part=table.part,
                coefficient=table.protocol.coefficient,
                level=table.protocol.level,
                value=value,
                interval=interval,
                rows=len(rows),
                undefined=len(table) - len(rows),
                units=rows.units,
                signature=signature_of(table, metric, resamples if ci else None, seed),
            )
        )
    return agreements


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
    """Compute the agreement of metrics with a set of human judgements.

    Parameters
    ----------
    judged
        A set of judgements (see `captious.agreement.load_judgements`), or a `Study` that is already scored.
    metrics
        Metric names, groups or objects. Ignored for a `Study`.
    protocol
        Changes to the set's own protocol, such as ``{"judges": "mean"}``.
    ci
        Whether to compute 95% confidence intervals.
    resamples, seed
        Number of bootstrap resamples of images, and their random seed.
    **options
        Options of the metrics.

    Returns
    -------
    list of HumanAgreement
        The whole set first, then its parts. For pairs, accuracy is followed by Pearson's correlation between
        the margin of votes and the difference of scores. Where people marked wrong words, the share of
        them that a metric names follows (:class:`captious.metrics.base.NamesWrongWords`).

    Examples
    --------
    >>> import json, tempfile
    >>> from captious.agreement import load_judgements
    >>> image = {"image_id": 1, "references": ["a dog runs", "the dog is running"]}
    >>> ratings = {"a dog runs": 5, "a dog sits": 3, "two men": 1}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     for caption, rating in ratings.items():
    ...         print(json.dumps({**image, "caption": caption, "score": rating}), file=file, flush=True)
    ...     judged = load_judgements(file.name)
    >>> [row.metric for row in agreement(judged, "BLEU-1,ROUGE-L")]
    ['BLEU-1', 'ROUGE-L']
    """
    study = (
        judged if isinstance(judged, Study) else Study.of(judged, metrics, options=options, protocol=protocol)
    )
    tables = list(study.tables)
    # Pairs that all prefer the same side have no correlation.
    if study.whole.protocol.coefficient == "accuracy" and np.ptp(study.whole.human) > 0:
        tables.insert(1, study.whole.under(coefficient="pearson"))
    return [
        item
        for table in track(tables, "agreement")
        for item in measure(table, ci=ci, resamples=resamples, seed=seed)
    ]


def _resampled(
    table: JudgementTable, metrics: Sequence[str], resamples: int, seed: int
) -> dict[str, FloatArray]:
    """Compute the agreement on the same resamples for all metrics, which must be defined in every row."""
    parts: dict[str, list[FloatArray]] = {metric: [] for metric in metrics}
    for counts in resample_counts(table.units, resamples, seed):
        for metric in metrics:
            parts[metric].append(table.resampled(metric, counts))
    return {metric: np.concatenate(values) for metric, values in parts.items()}


@dataclass(frozen=True)
class MetricComparison:
    """Comparison of two metrics on the same judgements."""

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
    #: The larger of the two p-values, with Holm's correction over all pairs of this set.
    p_holm: float
    signature: str = ""

    @property
    def better(self) -> str | None:
        """The metric with the significantly higher agreement, or None."""
        if not self.p_holm < ALPHA or self.difference == 0:
            return None
        return self.a if self.difference > 0 else self.b

    def tidy_row(self) -> ResultRow:
        """Return the difference A − B as a row for CSV."""
        return ResultRow(
            self.a,
            " ".join(filter(None, (self.judgements, self.part, self.coefficient))),
            self.difference,
            self.rows,
            self.signature,
            interval=self.interval,
            other_system=self.b,
            p=self.p_bootstrap if self.p_williams is None else max(self.p_bootstrap, self.p_williams),
            p_corrected=self.p_holm,
        )

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "judgements": self.judgements,
            "part": self.part or None,
            "coefficient": self.coefficient,
            "a": self.a,
            "b": self.b,
            "value_a": numbers.number(self.value_a),
            "value_b": numbers.number(self.value_b),
            "difference": numbers.number(self.difference),
            "interval": [numbers.number(bound) for bound in self.interval],
            "rows": self.rows,
            "p_bootstrap": json_number(self.p_bootstrap),
            "p_williams": None if self.p_williams is None else json_number(self.p_williams),
            "p_holm": json_number(self.p_holm),
            "better": self.better,
            "signature": self.signature,
        }


def compare_metrics(
    table: JudgementTable,
    metrics: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[MetricComparison]:
    """Compare every pair of metrics on the rows where all metrics are defined.

    All metrics share the same resamples of images, and Holm's correction runs over all pairs. Correlations
    are tested twice, by the bootstrap and by Williams' test; the larger p-value counts.

    Parameters
    ----------
    table
        Judgements with the scores of metrics.
    metrics
        Names of metrics (default: all in the table).
    resamples
        Resamples of the bootstrap.
    seed
        Seed of the bootstrap.

    Examples
    --------
    >>> import json, tempfile
    >>> from captious.agreement import load_judgements
    >>> image = {"image_id": 1, "references": ["a dog runs", "the dog is running"]}
    >>> ratings = {"a dog runs": 5, "a dog sits": 3, "two men": 1}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     for caption, rating in ratings.items():
    ...         print(json.dumps({**image, "caption": caption, "score": rating}), file=file, flush=True)
    ...     judged = load_judgements(file.name)
    >>> from captious.agreement import Study
    >>> study = Study.of(judged, "BLEU-1,ROUGE-L")
    >>> [(row.a, row.b) for row in compare_metrics(study.tables[0], resamples=20)]
    [('BLEU-1', 'ROUGE-L')]
    """
    names = list(table.scores if metrics is None else metrics)
    rows = table.where(table.defined(names))
    level = rows.protocol.level
    if len(rows) < 2:
        return []
    values = {name: rows.estimate(name) for name in names}
    resampled = _resampled(rows, names, resamples, seed)
    pairs = list(combinations(names, 2))
    is_correlation = level != "image" and rows.protocol.coefficient in ("pearson", "spearman")
    p_boot, p_williams = [], []
    for a, b in pairs:
        p_boot.append(bootstrap_p(values[a] - values[b], resampled[a] - resampled[b]))
        between = (
            COEFFICIENTS[rows.protocol.coefficient](rows.scores[a], rows.scores[b])
            if is_correlation
            else float("nan")
        )
        p_williams.append(
            williams(values[a], values[b], between, len(rows))[1] if is_correlation else float("nan")
        )
    # Where there are two tests, a difference must pass both.
    adjusted = holm([b if np.isnan(w) else max(b, w) for b, w in zip(p_boot, p_williams)])
    return [
        MetricComparison(
            judgements=table.name,
            part=table.part,
            coefficient=rows.protocol.coefficient,
            a=a,
            b=b,
            value_a=values[a],
            value_b=values[b],
            difference=values[a] - values[b],
            interval=percentile_interval(resampled[a] - resampled[b]),
            rows=len(rows),
            p_bootstrap=p_boot[k],
            p_williams=p_williams[k] if is_correlation else None,
            p_holm=adjusted[k],
            signature=f"{signature_of(table, a, resamples, seed)}|minus:{b}|holm:{len(pairs)}",
        )
        for k, (a, b) in enumerate(pairs)
    ]
