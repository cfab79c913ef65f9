"""Template captions from objects: "there is a tennis ball, court and person" (Wang et al. 2020, §3.2).

They only list the most frequent objects of an image, and show how much of a metric that alone can earn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from captious.core.errors import InputError, some
from captious.core.progress import track
from captious.corpus import Corpus
from captious.io import read
from captious.io.caption_files import CaptionFile, show
from captious.io.content import decode, read_bytes, shown_name
from captious.io.object_files import read_objects
from captious.metrics.base import Measure
from captious.metrics.registry import make_measures
from captious.rerank.nbest import image_of, numbers, read_rows
from captious.rerank.selection_rules import as_given
from captious.results.references import References, tell_apart
from captious.results.scores import Score

_HOW = 'objects are lines of {"image_id": …, "objects": […], "scores": […]}, or anything that --objects takes'

#: Image id → object → detector's confidence (1 where unknown).
Detected = Mapping[str, Mapping[str, float]]


def read_detected(path: str | Path) -> dict[str, dict[str, float]]:
    """Read the objects of images, with scores where the file has them.

    An object that is detected several times gets its highest score.
    """
    name = shown_name(path)
    if '"scores"' not in decode(read_bytes(path), name):
        return {image: dict.fromkeys(sorted(names), 1.0) for image, names in read_objects(path).items()}
    by_image: dict[str, dict[str, float]] = {}
    for number, row in enumerate(read_rows(path, _HOW), 1):
        where = f"{name}, line {number:,}"
        names = row.get("objects") if isinstance(row, dict) else None
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise InputError(f"{where}: {_HOW}")
        image = image_of(row, where)
        if image in by_image:
            raise InputError(
                f"{where}: image {show(image)} occurs more than once; put all its objects in one line"
            )
        scores = by_image[image] = {}
        for one, score in zip(names, numbers(row.get("scores"), len(names), image, where, "scores")):
            scores[one] = max(score, scores.get(one, -math.inf))
    return by_image


def vocabulary(detected: Detected, size: int) -> list[str]:
    """Return the objects that occur in most images, the most frequent first."""
    if size < 1:
        raise InputError(f"the vocabulary size must be at least 1, not {size}")
    counts: Counter[str] = Counter()
    for objects in detected.values():
        counts.update(objects.keys())
    return [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size]]


def template(objects: Sequence[str]) -> str:
    """Build the sentence that lists objects, or an empty string for none."""
    if not objects:
        return ""
    article = "an" if objects[0][:1].lower() in tuple("aeiou") else "a"
    listed = objects[0] if len(objects) == 1 else ", ".join(objects[:-1]) + f" and {objects[-1]}"
    return f"there is {article} {listed}"


def captions(
    detected: Detected, size: int, *, threshold: float = 0.0, most: int | None = None
) -> dict[str, str]:
    """Write a template caption for each image.

    It lists the objects among the ``size`` most frequent with a score of at least ``threshold``, ordered by
    score (then by frequency), ``most`` at most.
    """
    if most is not None and most < 1:
        raise InputError(f"the number of objects per caption must be at least 1, not {most}")
    rank = {name: i for i, name in enumerate(vocabulary(detected, size))}
    by_image = {}
    for image, objects in detected.items():
        listed = sorted(
            (name for name, score in objects.items() if name in rank and score >= threshold),
            key=lambda name: (-objects[name], rank[name]),
        )
        by_image[image] = template(listed[:most])
    return by_image


@dataclass(frozen=True)
class TemplatePoint:
    """Mean length (in words) and metric values of the template captions of one vocabulary and threshold."""

    vocabulary: int
    threshold: float
    most: int | None
    length: float
    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "vocabulary": self.vocabulary,
            "threshold": self.threshold,
            "most": self.most,
            "length": self.length,
            "metrics": {
                name: {"value": value, "interval": list(self.intervals[name])}
                for name, value in self.values.items()
            },
        }


def curve(
    detected: Detected,
    references: References,
    measures: Sequence[Measure],
    sizes: Sequence[int] = (10, 20, 40, 80),
    *,
    thresholds: Sequence[float] = (0.0,),
    most: Sequence[int | None] = (None,),
) -> list[TemplatePoint]:
    """Measure template captions for each size of vocabulary, threshold, and number of objects."""
    ids = references.captions.ids
    missing = [image for image in ids if image not in detected]
    if missing:
        raise InputError(
            f"{len(missing):,} of {len(ids):,} images of the references have no objects ({some(missing)})"
        )
    used = {image: detected[image] for image in ids}
    points = [(size, threshold, limit) for size in sizes for threshold in thresholds for limit in most]
    measured_points = []
    for size, threshold, limit in track(points, "template captions"):
        texts = captions(used, size, threshold=threshold, most=limit)
        measured_points.append(measured(texts, references, measures, (size, threshold, limit)))
    return measured_points


def measured_systems(
    paths: Sequence[str | Path], references: References, measures: Sequence[Measure]
) -> dict[str, TemplatePoint]:
    """Measure the captions of systems for all images of the references, by name of the system."""
    files = [read(path, "predictions") for path in paths]
    names = tell_apart([file.system_name for file in files], [file.path for file in files])
    return {name: _measured_file(file, references, measures) for name, file in zip(names, files)}


def _measured_file(file: CaptionFile, references: References, measures: Sequence[Measure]) -> TemplatePoint:
    texts = {image: group[0] for image, group in zip(file.ids, file.captions)}
    missing = [image for image in references.captions.ids if image not in texts]
    if missing:
        raise InputError(
            f"{file.label}: {len(missing):,} images of the references have no caption ({some(missing)})"
        )
    return measured(texts, references, measures)


def measured(
    texts: Mapping[str, str],
    references: References,
    measures: Sequence[Measure],
    setting: tuple[int, float, int | None] = (0, 0.0, None),
) -> TemplatePoint:
    """Measure captions of all images of the references."""
    ids = references.captions.ids
    corpus = Corpus.build(ids, [[texts[image]] for image in ids], references.captions)
    scores = [Score.of(measure, corpus) for measure in measures]
    intervals = {score.name: score.interval() for score in scores}
    return TemplatePoint(
        *setting,
        float(np.mean(corpus.candidates.lengths)),
        {score.name: score.value for score in scores},
        intervals,
    )


@dataclass(frozen=True)
class TemplateCurves:
    """Scores of template captions, one point per setting, and of the captions of systems."""

    points: list[TemplatePoint]
    #: Name of the file → scores of its captions.
    systems: dict[str, TemplatePoint]

    def to_json(self) -> list[dict[str, Any]]:
        """A JSON-ready description: the points, then the systems with their names."""
        systems = [{"system": name, **point.to_json()} for name, point in self.systems.items()]
        return [point.to_json() for point in self.points] + systems


def template_captions(
    detected: str | Path | Detected, size: int = 80, *, threshold: float = 0.0, most: int | None = None
) -> list[dict[str, Any]]:
    """Return template captions as COCO results, for a file of objects or the objects of images.

    Parameters
    ----------
    detected
        A file of detected objects, or the objects of each image.
    size
        Number of the most frequent classes to name.
    threshold
        Smallest score of an object.
    most
        Largest number of objects of a caption (default: all).

    Examples
    --------
    >>> from captious.data import demo_path
    >>> rows = template_captions(demo_path("objects"))
    >>> rows[0]
    {'image_id': 1001, 'caption': 'there is a dog and frisbee'}
    """
    texts = captions(_detected(detected), size, threshold=threshold, most=most)
    return [{"image_id": as_given(image), "caption": text} for image, text in texts.items()]


def template_curves(
    detected: str | Path | Detected,
    references: str | Path | References,
    systems: Sequence[str | Path] = (),
    *,
    sizes: Sequence[int] = (80,),
    thresholds: Sequence[float] = (0.0,),
    most: Sequence[int | None] = (None,),
    metrics: str | Sequence[str] = "SPICE,SPICE-U",
    tokenizer: str | None = None,
    **options: Any,
) -> TemplateCurves:
    """Score the template captions of every setting, and the captions of systems beside them.

    ``options`` are the options of metrics, such as ``truth``.

    Parameters
    ----------
    detected
        A file of detected objects, or the objects of each image.
    references
        Reference captions.
    systems
        Captions of systems to show beside the templates.
    sizes, thresholds, most
        Settings of :func:`template_captions` to combine.
    metrics
        Metrics to score with.
    tokenizer
        Name of a tokenizer.
    options
        Options of the metrics.

    Examples
    --------
    >>> from captious.data import demo_path
    >>> curves = template_curves(demo_path("objects"), demo_path("references"), metrics="BLEU-1")
    >>> curves.points[0].vocabulary
    80
    """
    if not isinstance(references, References):
        references = References.read(references, tokenizer)
    measures = make_measures(metrics, options)
    beside = measured_systems(systems, references, measures)
    points = curve(_detected(detected), references, measures, sizes, thresholds=thresholds, most=most)
    return TemplateCurves(points, beside)


def _detected(source: str | Path | Detected) -> Detected:
    return read_detected(source) if isinstance(source, str | Path) else source
