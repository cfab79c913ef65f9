"""Runs of tasks: the references of a task are checked, then results are scored against them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.io import CaptionFile, CaptionWarning, read
from captious.io.caption_files import columns
from captious.io.id_matching import rename_ids
from captious.io.image_columns import image_values
from captious.metrics.base import Measure
from captious.metrics.registry import make_measures
from captious.results.references import References, check_repeated, load_systems
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
    """Read the references of a task from the user's file, and check that they are the task's.

    Parameters
    ----------
    task
        The task.
    references
        The user's file (default: where the task finds its data).

    Examples
    --------
    >>> from captious.tasks import Task
    >>> task = Task("mine", "two images", ("BLEU-1",))
    >>> read_references(task, {1: ["a dog"], 2: ["a cat"]}).captions.n_images
    2
    """
    source = references if references is not None else task.path
    if source is None:
        raise InputError(
            f"the task '{task.name}' needs its references: give --references FILE "
            f"({task.what or 'in any format'})"
        )
    with columns(task.caption_column, task.id_column):
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

    Examples
    --------
    >>> from captious.tasks import Task
    >>> task = Task("mine", "two images", ("BLEU-1",))
    >>> result = run_task(task, [{1: "a dog", 2: "a cat"}], {1: ["a dog"], 2: ["a cat"]})
    >>> round(result.scores[0]["BLEU-1"].value, 2)
    1.0
    """
    chosen = task if isinstance(task, Task) else load_task(task)
    measures = make_measures(list(chosen.metrics), {})
    encoded = read_references(chosen, references)
    check_repeated(references if references is not None else chosen.path, results)
    files = [source if isinstance(source, CaptionFile) else read(source, "predictions") for source in results]
    files = [rename_ids(encoded.file, file, chosen.ids) for file in files]
    try:
        corpora = load_systems(encoded, files, subset=subset)
    except InputError as error:
        source = references if references is not None else chosen.path
        raise InputError(f"{error}{_other_splits(chosen, source, encoded, files)}") from None
    scores = Scores.of_corpora(corpora, measures)
    groups: list[GroupedScores] = []
    if chosen.group is not None:
        source = references if references is not None else chosen.path
        with columns(id=chosen.id_column):
            column = read_groups(source, chosen.group)
        groups = [group_scores(one, column, chosen.group) for one in scores]
        if chosen.group_alone:
            for one, file in zip(groups, files):
                _score_alone(one, encoded, file, measures)
    return TaskResult(chosen, scores, groups)


def _other_splits(task: Task, source: Any, references: References, files: Sequence[CaptionFile]) -> str:
    """Return a hint for an error: the splits of captioned images that are not of the task's split."""
    splits: dict[str, tuple[str, ...]] = {}
    with suppress(InputError):
        splits = image_values(source, "split") if task.split is not None else {}
    own = set(references.file.ids)
    others = Counter(
        name for file in files for image in file.ids if image not in own for name in splits.get(image, ())
    )
    if not others:
        return ""
    listed = ", ".join(f"{count:,} of '{name}'" for name, count in others.most_common(3))
    return f"; the task has the split '{task.split}', and some captions are of other splits: {listed}"


def _score_alone(
    grouped: GroupedScores, references: References, file: CaptionFile, measures: Sequence[Measure]
) -> None:
    """Score each group with its own references, as evaluations do that give one file per group."""
    place = {image: i for i, image in enumerate(file.ids)}
    for name, scores in grouped.groups.items():
        ids = [image for image in next(iter(scores.values())).ids if image in place]
        part = replace(file, ids=ids, captions=[file.captions[place[image]] for image in ids])
        corpus = references.corpus(part, grouped.system, subset=True)
        grouped.groups[name] = Scores.of(corpus, measures)
    grouped.alone = True
