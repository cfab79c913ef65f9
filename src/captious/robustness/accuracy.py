"""How often metrics tell a correct caption from its distractor, task by task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.human.agreement import HumanAgreement, measure
from captious.human.resampling import percentile_interval, resample_counts
from captious.human.scoring import json_number
from captious.human.study import Study
from captious.human.table import JudgementTable
from captious.io.judgements import CaptionPairs
from captious.io.judgements.distractions import TASKS
from captious.significance import RESAMPLES, SEED


@dataclass(frozen=True)
class DistractionAccuracy:
    """One metric on all tasks."""

    metric: str
    tasks: dict[str, HumanAgreement]
    #: The mean over tasks, each counting alike, with its interval over images.
    average: float
    interval: tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "metric": self.metric, "tasks": {name: item.to_json() for name, item in self.tasks.items()},
            "average": json_number(self.average), "interval": [json_number(v) for v in self.interval],
        }  # fmt: skip


def distraction_accuracy(
    pairs: CaptionPairs, metrics: Any = "coco", *, options: Mapping[str, Any] | None = None, resamples: int = RESAMPLES, seed: int = SEED
) -> list[DistractionAccuracy]:
    """The share of instances in which a metric scores the correct caption higher; equal scores count half."""
    study = Study.of(pairs, metrics, options=options)
    kinds = np.array(pairs.categories, dtype=object)
    order = [task for task in TASKS if task in set(pairs.categories)]
    order += [kind for kind in dict.fromkeys(pairs.categories) if kind not in TASKS]
    parts = {task: study.whole.where(kinds == task, task) for task in order}
    found = []
    for metric in study.metrics:
        tasks = {task: measure(table, [metric], ci=True, resamples=resamples, seed=seed)[0] for task, table in parts.items()}
        average = float(np.mean([item.value for item in tasks.values()]))
        found.append(DistractionAccuracy(metric, tasks, average, _average_interval(study.whole, kinds, order, metric, resamples, seed)))
    return found


def _average_interval(
    table: JudgementTable, kinds: Any, order: list[str], metric: str, resamples: int, seed: int
) -> tuple[float, float]:
    """Images are resampled, with all their instances of all tasks."""
    drawn = []
    for counts in resample_counts(table.units, resamples, seed):
        each = []
        for task in order:
            rows = (kinds == task) & np.isfinite(table.scores[metric])
            each.append(table.coefficient.resampled(table.scores[metric][rows], table.human[rows], table.unit[rows], counts))
        drawn.append(np.mean(each, axis=0))
    return percentile_interval(np.concatenate(drawn))
