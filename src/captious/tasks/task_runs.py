"""Runs of tasks: the references of a task are checked, then results are scored against them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.io import CaptionWarning
from captious.metrics.registry import make_measures
from captious.results.references import References, load_systems
from captious.results.score_groups import GroupedScores, group_scores, read_groups
from captious.results.scores import Scores
from captious.tasks.task_files import Task, load_task


@dataclass(frozen=True)
class TaskResult:
    """Scores of systems on a task, and those of groups of images if the task reports them."""

    task: Task
    scores: list[Scores]
    groups: list[GroupedScores]


def read_references(task: Task, references: Any = None) -> References:
    """Read the references of a task from the user's file, and check that they are the task's."""
    source = references if references is not None else task.path
    if source is None:
        raise InputError(
            f"the task '{task.name}' needs its references: give --references FILE "
            f"({task.what or 'in any format'})"
        )
    try:
        read = References.read(source, task.tokenizer, task.split)
    except InputError as error:
        # A file that holds the split alone has no column of splits.
        if task.split is None or not ("no column 'split'" in str(error) or "has no value" in str(error)):
            raise
        read = References.read(source, task.tokenizer)
    if task.digest is not None and read.captions.digest != task.digest:
        raise InputError(
            f"{read.file.label}: the references have the digest {read.captions.digest}, those of the task "
            f"'{task.name}' {task.digest}; use the references of the task ({task.what})"
        )
    if task.images is not None and len(read) != task.images:
        warnings.warn(
            CaptionWarning(
                f"{read.file.label} has {len(read):,} images, and the task '{task.name}' has "
                f"{task.images:,}; its numbers are not comparable with published ones"
            ),
            stacklevel=3,
        )
    return read


def run_task(
    task: str | Path | Task, results: Sequence[Any], references: Any = None, *, subset: bool = False
) -> TaskResult:
    """Score systems on a task.

    Parameters
    ----------
    task
        Name of a task, a task file, or a task.
    results
        Results of systems, in any format that captious reads.
    references
        File of references, if the task file names none.
    subset
        Score the images that both sides have. Without it, a missing image is an error.
    """
    chosen = task if isinstance(task, Task) else load_task(task)
    measures = make_measures(list(chosen.metrics), {})
    encoded = read_references(chosen, references)
    corpora = load_systems(encoded, results, subset=subset)
    scores = Scores.of_corpora(corpora, measures)
    groups: list[GroupedScores] = []
    if chosen.group is not None:
        source = references if references is not None else chosen.path
        column = read_groups(source, chosen.group)
        groups = [group_scores(one, column, chosen.group) for one in scores]
    return TaskResult(chosen, scores, groups)
