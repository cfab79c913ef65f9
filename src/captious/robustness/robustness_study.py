"""Robustness of metrics on one set of captions, as ``captious robustness`` reports it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.agreement.result_tables import TextTable, bounds, percent, with_interval
from captious.core.errors import InputError
from captious.core.writing import atomic_write
from captious.io import read
from captious.io.judgements import CaptionPairs
from captious.io.judgements.distraction_sets import load_distractions
from captious.metrics.registry import make_measures
from captious.results.result_rows import EXACT, NumberStyle, ResultRow
from captious.robustness.distractions import make_distractions
from captious.robustness.pairwise_accuracy import DistractionAccuracy, distraction_accuracy
from captious.robustness.robustness_curves import RobustnessCurve, robustness_curves
from captious.robustness.transformations import read_features

#: Metrics that are tested unless others are named.
METRICS = "BLEU-1,BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,WMD,MOWE,WEmbSim,SentenceSim"


@dataclass(frozen=True)
class RobustnessReport:
    """Curves over transformed captions, and accuracies in distraction tasks."""

    curves: list[RobustnessCurve]
    accuracies: list[DistractionAccuracy]
    #: The distraction tasks that were used.
    tasks: CaptionPairs | None = None

    @property
    def signatures(self) -> list[str]:
        """Signatures of the metrics of the curves, without duplicates."""
        return list(dict.fromkeys(curve.signature for curve in self.curves))

    def tables(self, digits: int | None = None) -> list[TextTable]:
        """Return the tables of the report."""
        tables = []
        if self.curves:
            tables += [_areas_table(self.curves, digits), *_curve_tables(self.curves, digits)]
        if self.accuracies:
            tables.append(_accuracy_table(self.accuracies, digits))
        return tables

    def tidy_rows(self) -> list[ResultRow]:
        """Return all results as rows for CSV."""
        curves = [row for curve in self.curves for row in curve.tidy_rows()]
        return curves + [row for accuracy in self.accuracies for row in accuracy.tidy_rows()]

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "curves": [curve.to_json(numbers) for curve in self.curves],
            "distractions": [accuracy.to_json(numbers) for accuracy in self.accuracies],
        }


def measure_robustness(
    captions: str | Path | Mapping[str, Sequence[str]] | None = None,
    metrics: Any = METRICS,
    *,
    curves: bool = True,
    tasks: bool = True,
    distractions: str | Path | None = None,
    data: str | Path | None = None,
    save_tasks: str | Path | None = None,
    images: int = 2000,
    limit: int = 2000,
    features: str | Path | None = None,
    resamples: int = 1000,
    seed: int = 1,
    **options: Any,
) -> RobustnessReport:
    """Test metrics with captions that are wrong on purpose.

    Parameters
    ----------
    captions
        Human captions, several for each image: a file, or a mapping from image id to captions.
    metrics
        Names, groups or measure objects, as for :func:`captious.score`.
    curves
        Measure transformed captions (Cui et al. 2018).
    tasks
        Measure distraction tasks made from the captions (Hodosh & Hockenmaier 2016).
    distractions, data
        A file or folder of tasks to use instead, and the folder of Flickr30k's captions that such tasks refer
        to.
    save_tasks
        JSON Lines file for the tasks, which ``distractions`` reads. "-" is standard output.
    images, limit
        Number of images for the curves, and of instances of each task.
    features
        File with 'ids' and 'features' of images (npz), to find similar images by features instead of
        captions.
    resamples, seed
        Resamples of the bootstrap over images; seed of all random choices.
    options
        Options of metrics.

    Returns
    -------
    RobustnessReport
        Curves and accuracies, with ``tables()`` and ``to_json()``.

    Examples
    --------
    >>> captions = {"1": ["a man runs", "the man is running"], "2": ["a woman sings", "one woman singing"]}
    >>> [row.metric for row in measure_robustness(captions, "BLEU-1", curves=False, resamples=20).accuracies]
    ['BLEU-1']
    """
    if captions is None and distractions is None:
        raise InputError(
            "give human captions (several for each image), or distraction tasks with --distractions"
        )
    measures = make_measures(metrics, options)
    by_image: dict[str, list[str]] = {}
    if captions is not None:
        file = read(captions, "references")
        by_image = {image: list(group) for image, group in zip(file.ids, file.captions)}
    pairs = None
    if distractions is not None:
        pairs = load_distractions(distractions, data)
    elif tasks:
        pairs = make_distractions(by_image, limit=limit, seed=seed)
    if pairs is not None and save_tasks is not None:
        with atomic_write(save_tasks) as temporary:
            temporary.write_bytes(_json_lines(pairs).encode("utf-8", "backslashreplace"))
    measured: list[RobustnessCurve] = []
    if curves and captions is not None:
        vectors = read_features(features) if features is not None else None
        measured = robustness_curves(
            by_image, measures, images=images, features=vectors, resamples=resamples, seed=seed
        )
    accuracies = distraction_accuracy(pairs, measures, resamples=resamples) if pairs is not None else []
    return RobustnessReport(measured, accuracies, pairs)


def _areas_table(curves: Sequence[RobustnessCurve], digits: int | None) -> TextTable:
    """Build a table of the areas under the curves (lower is more robust)."""
    columns = list(dict.fromkeys(item.transformation for item in curves))
    cells = {(item.metric, item.transformation): item for item in curves}
    rows = [
        [metric, *(_area_cell(cells[metric, name], digits) for name in columns)]
        for metric in dict.fromkeys(item.metric for item in curves)
    ]
    title = f"Area under the curve of {curves[0].captions:,} transformed captions (lower is more robust)"
    return TextTable(title, ["metric", *columns], rows)


def _area_cell(item: RobustnessCurve, digits: int | None) -> str:
    if item.area != item.area:
        return "–"
    area, low, high = (
        f"{value:.{3 if digits is None else digits}f}" for value in (item.area, *item.interval)
    )
    return f"{area} [{low}, {high}]"


def _curve_tables(curves: Sequence[RobustnessCurve], digits: int | None) -> list[TextTable]:
    """Build the tables of the curves, one per transformation."""
    tables = []
    for name in dict.fromkeys(item.transformation for item in curves):
        group = [item for item in curves if item.transformation == name]
        rows = [
            [
                item.metric,
                *(f"{v:.{3 if digits is None else digits}f}" if v == v else "–" for v in item.values),
            ]
            for item in group
        ]
        tables.append(
            TextTable(
                f"{name}: score at each strength (%), human caption = 1",
                ["metric", *map(str, group[0].strengths)],
                rows,
            )
        )
    return tables


def _accuracy_table(results: Sequence[DistractionAccuracy], digits: int | None) -> TextTable:
    """Build a table of the accuracy of every metric on every task, with intervals."""
    names = list(results[0].tasks)
    rows = []
    for item in results:
        average = f"{percent(item.average, digits)} {bounds(item.interval, digits)}"
        rows.append([item.metric, *(with_interval(item.tasks[name], digits) for name in names), average])
    first = results[0].tasks
    return TextTable(
        "Distraction tasks: correct caption preferred (%, equal scores half)",
        ["metric", *(f"{name} ({first[name].rows:,})" for name in names), "average"],
        rows,
    )


def _json_lines(pairs: CaptionPairs) -> str:
    rows = zip(pairs.images, pairs.categories, pairs.first, pairs.second, pairs.references)
    keys = ("image", "task", "correct", "distractor", "references")
    return "".join(json.dumps(dict(zip(keys, row)), ensure_ascii=False) + "\n" for row in rows)
