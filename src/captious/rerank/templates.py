"""Captions from objects by a template: "there is a tennis ball, court and person" (Wang et al. 2020, §3.2).

They say nothing but which of the commonest objects are there, and show how far a metric can be pleased by that alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from captious.corpus import Corpus
from captious.errors import InputError, some
from captious.io.captions import show
from captious.io.content import decode, read_bytes, shown_name
from captious.io.objects import read_objects
from captious.measures.base import Measure
from captious.progress import track
from captious.references import References
from captious.rerank.nbest import image_of, numbers, read_rows
from captious.scores import Score

_HOW = 'objects are lines of {"image_id": …, "objects": […], "scores": […]}, or anything that --objects takes'

#: Objects of an image with how sure a detector is of each (1 where nobody said).
Detected = Mapping[str, Mapping[str, float]]


def read_detected(path: str | Path) -> dict[str, dict[str, float]]:
    """Objects of images, with scores where the file has them. An object that is found several times has its highest score."""
    name = shown_name(path)
    if '"scores"' not in decode(read_bytes(path), name):
        return {image: dict.fromkeys(sorted(names), 1.0) for image, names in read_objects(path).items()}
    found: dict[str, dict[str, float]] = {}
    for number, row in enumerate(read_rows(path, _HOW), 1):
        where = f"{name}, line {number:,}"
        names = row.get("objects") if isinstance(row, dict) else None
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise InputError(f"{where}: {_HOW}")
        image = image_of(row, where)
        if image in found:
            raise InputError(f"{where}: image {show(image)} is there more than once")
        own = found[image] = {}
        for one, score in zip(names, numbers(row.get("scores"), len(names), image, where, "scores")):
            own[one] = max(score, own.get(one, -math.inf))
    return found


def vocabulary(detected: Detected, size: int) -> list[str]:
    """The objects that are in most images, the commonest first."""
    if size < 1:
        raise InputError(f"a vocabulary has at least one object, not {size}")
    counts: Counter[str] = Counter()
    for objects in detected.values():
        counts.update(objects.keys())
    return [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size]]


def template(objects: Sequence[str]) -> str:
    """A sentence that names objects; nothing where there are none."""
    if not objects:
        return ""
    article = "an" if objects[0][:1].lower() in tuple("aeiou") else "a"
    listed = objects[0] if len(objects) == 1 else ", ".join(objects[:-1]) + f" and {objects[-1]}"
    return f"there is {article} {listed}"


def captions(detected: Detected, size: int, *, threshold: float = 0.0, most: int | None = None) -> dict[str, str]:
    """A caption for each image: its objects among the ``size`` commonest, with a score of at least ``threshold``, the surest (and then
    the commonest) first, and no more than ``most``."""
    if most is not None and most < 1:
        raise InputError(f"a caption names at least one object, not {most}")
    place = {name: i for i, name in enumerate(vocabulary(detected, size))}
    made = {}
    for image, objects in detected.items():
        kept = sorted((name for name, score in objects.items() if name in place and score >= threshold), key=lambda name: (-objects[name], place[name]))
        made[image] = template(kept[:most])
    return made


@dataclass(frozen=True)
class Point:
    """Captions of one vocabulary and threshold: their mean length in words, and what metrics say."""

    vocabulary: int
    threshold: float
    most: int | None
    length: float
    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "vocabulary": self.vocabulary, "threshold": self.threshold, "most": self.most, "length": self.length,
            "metrics": {name: {"value": value, "interval": list(self.intervals[name])} for name, value in self.values.items()},
        }  # fmt: skip


def curve(
    detected: Detected,
    references: References,
    measures: Sequence[Measure],
    sizes: Sequence[int] = (10, 20, 40, 80),
    *,
    thresholds: Sequence[float] = (0.0,),
    most: Sequence[int | None] = (None,),
) -> list[Point]:
    """Metrics of template captions against their length, for each size of vocabulary, threshold, and number of objects."""
    ids = references.captions.ids
    missing = [image for image in ids if image not in detected]
    if missing:
        raise InputError(f"{len(missing):,} of {len(ids):,} images of the references have no objects ({some(missing)})")
    own = {image: detected[image] for image in ids}
    points = [(size, threshold, limit) for size in sizes for threshold in thresholds for limit in most]
    found = []
    for size, threshold, limit in track(points, "template captions"):
        made = captions(own, size, threshold=threshold, most=limit)
        found.append(measured(made, references, measures, (size, threshold, limit)))
    return found


def measured(
    made: Mapping[str, str], references: References, measures: Sequence[Measure], of: tuple[int, float, int | None] = (0, 0.0, None)
) -> Point:
    """One point: captions of all images of the references."""
    ids = references.captions.ids
    corpus = Corpus.build(ids, [[made[image]] for image in ids], references.captions)
    scores = [Score.of(measure, corpus) for measure in measures]
    intervals = {score.name: score.interval() for score in scores}
    return Point(*of, float(np.mean(corpus.candidates.lengths)), {score.name: score.value for score in scores}, intervals)
