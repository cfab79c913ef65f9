"""Accuracy of metrics at preferring a correct caption to its distractor, per task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.agreement.agreement_scores import HumanAgreement, measure
from captious.agreement.judgement_table import JudgementTable
from captious.agreement.resampling import resample_counts
from captious.agreement.study import Study
from captious.io.judgements import CaptionPairs
from captious.io.judgements.distraction_sets import TASKS
from captious.results.result_rows import EXACT, NumberStyle, ResultRow
from captious.results.significance import RESAMPLES, SEED, percentile_interval


@dataclass(frozen=True)
class DistractionAccuracy:
    """Accuracy of one metric on all tasks."""

    metric: str
    tasks: dict[str, HumanAgreement]
    #: Unweighted mean over tasks, with its interval over images.
    average: float
    interval: tuple[float, float]

    def tidy_rows(self) -> list[ResultRow]:
        """Return the accuracy on each task, and the mean, as rows for CSV."""
        rows = [item.tidy_row()._replace(metric=f"{task}: accuracy") for task, item in self.tasks.items()]
        first = next(iter(self.tasks.values()))
        mean = ResultRow(
            self.metric,
            "all tasks: mean accuracy",
            self.average,
            sum(row.n for row in rows),
            first.signature.replace(f"|part:{first.part}|", "|"),
            self.interval,
        )
        return [*rows, mean]

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "metric": self.metric,
            "tasks": {name: item.to_json(numbers) for name, item in self.tasks.items()},
            "average": numbers.number(self.average),
            "interval": [numbers.number(v) for v in self.interval],
        }


def distraction_accuracy(
    pairs: CaptionPairs,
    metrics: Any = "coco",
    *,
    options: Mapping[str, Any] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[DistractionAccuracy]:
    """Compute how often each metric scores the correct caption higher. Ties count ½.

    Parameters
    ----------
    pairs
        Distraction tasks, from `make_distractions` or `load_distractions`.
    metrics
        Metric names, groups or objects.
    options
        Options of the metrics.
    resamples, seed
        Number of bootstrap resamples of images, and their random seed.

    Returns
    -------
    list of DistractionAccuracy
        One entry per metric.

    Examples
    --------
    >>> captions = {"1": ["a man runs", "the man is running"], "2": ["a woman sings", "one woman singing"]}
    >>> from captious.robustness import make_distractions
    >>> [row.metric for row in distraction_accuracy(make_distractions(captions), "BLEU-1", resamples=20)]
    ['BLEU-1']
    """
    study = Study.of(pairs, metrics, options=options)
    kinds = np.array(pairs.categories, dtype=object)
    order = [task for task in TASKS if task in set(pairs.categories)]
    order += [kind for kind in dict.fromkeys(pairs.categories) if kind not in TASKS]
    parts = {task: study.whole.where(kinds == task, task) for task in order}
    accuracies = []
    for metric in study.metrics:
        tasks = {
            task: measure(table, [metric], ci=True, resamples=resamples, seed=seed)[0]
            for task, table in parts.items()
        }
        average = float(np.mean([item.value for item in tasks.values()]))
        accuracies.append(
            DistractionAccuracy(
                metric, tasks, average, _average_interval(study.whole, kinds, order, metric, resamples, seed)
            )
        )
    return accuracies


def _average_interval(
    table: JudgementTable, kinds: Any, order: list[str], metric: str, resamples: int, seed: int
) -> tuple[float, float]:
    """Return the interval of the mean over tasks, resampling images with all their instances."""
    averages = []
    for counts in resample_counts(table.units, resamples, seed):
        per_task = []
        for task in order:
            rows = (kinds == task) & np.isfinite(table.scores[metric])
            per_task.append(
                table.coefficient.resampled(
                    table.scores[metric][rows], table.human[rows], table.unit[rows], counts
                )
            )
        averages.append(np.mean(per_task, axis=0))
    return percentile_interval(np.concatenate(averages))
