"""Robustness of metrics on one set of captions, as ``captious robustness`` reports it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.agreement.metric_scores import make
from captious.agreement.result_tables import TextTable
from captious.core.errors import InputError
from captious.core.writing import atomic_write
from captious.io import read
from captious.io.judgements import CaptionPairs
from captious.io.judgements.distraction_sets import load_distractions
from captious.robustness import robustness_tables
from captious.robustness.distractions import make_distractions
from captious.robustness.pairwise_accuracy import DistractionAccuracy, distraction_accuracy
from captious.robustness.robustness_curves import RobustnessCurve, robustness_curves
from captious.robustness.transformation_features import read_features

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

    def tables(self) -> list[TextTable]:
        """Return the tables of the report."""
        curves = [robustness_tables.areas(self.curves), *robustness_tables.points(self.curves)]
        return [
            *(curves if self.curves else []),
            *([robustness_tables.accuracies(self.accuracies)] if self.accuracies else []),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "curves": [curve.to_json() for curve in self.curves],
            "distractions": [accuracy.to_json() for accuracy in self.accuracies],
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
    """
    if captions is None and distractions is None:
        raise InputError(
            "give human captions (several for each image), or distraction tasks with --distractions"
        )
    measures = make(metrics, options)
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


def _json_lines(pairs: CaptionPairs) -> str:
    rows = zip(pairs.images, pairs.categories, pairs.first, pairs.second, pairs.references)
    keys = ("image", "task", "correct", "distractor", "references")
    return "".join(json.dumps(dict(zip(keys, row)), ensure_ascii=False) + "\n" for row in rows)
