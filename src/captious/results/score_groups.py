"""Scores by group of images (domain, category, length), and macro means over groups.

Groups use the rows of statistics of a score, so nothing is scored again. Document frequencies and the like
are those of all references.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from captious.core.errors import InputError, some
from captious.core.ragged import runs
from captious.io import CaptionWarning, read
from captious.io.id_matching import plain_id
from captious.io.image_columns import image_values, length_groups
from captious.metrics.base import FloatArray
from captious.results import significance
from captious.results.result_rows import EXACT, NumberStyle, ResultRow
from captious.results.scores import Score, Scores
from captious.results.signatures import Signature
from captious.results.significance import Bootstrap

#: Column that groups images by the length of their references, where the references have no such column.
LENGTH = "length"
#: Name of the mean over groups in tables and files.
MACRO = "macro mean"


class MacroMean(NamedTuple):
    """Mean of a metric over groups, each of the same weight."""

    scores: list[Score]

    @property
    def value(self) -> float:
        """Mean of the groups' values, NaN if a group has none."""
        return float(np.mean([score.value for score in self.scores]))

    def interval(
        self, level: float = 0.95, resamples: int = significance.RESAMPLES, seed: int = significance.SEED
    ) -> tuple[float, float]:
        """Return the bootstrap interval. The images of each group are resampled on their own."""
        drawn: list[FloatArray] = []
        for place, score in enumerate(self.scores):
            rows, value = score.image_statistics, score.measure.value
            drawn.append(significance.resampled_values(rows, value, resamples, seed + place))
        return significance.percentile_interval(np.mean(drawn, axis=0), level)


class GroupedScores:
    """Scores of one system for each group of images, in ``groups``, and macro means."""

    def __init__(self, scores: Scores, groups: Mapping[str, Sequence[str]], column: str) -> None:
        self.system = scores.system
        self.column = column
        #: Whether each group was scored alone, with the document frequencies of its own references.
        self.alone = False
        #: Scores of all images.
        self.all = scores
        #: Scores of each group.
        self.groups: dict[str, Scores] = {
            name: Scores(
                scores.system, [_of_images(score, images, f"{column}={name}") for score in scores.values()]
            )
            for name, images in groups.items()
        }

    def macro_mean(self, metric: str) -> MacroMean:
        """Return the mean of a metric over the groups."""
        return MacroMean([scores[metric] for scores in self.groups.values()])

    def to_json(self, *, ci: bool | Bootstrap = False, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a description for JSON. NaN becomes null."""
        bootstrap = ci if isinstance(ci, Bootstrap) else Bootstrap()
        macro: dict[str, Any] = {}
        for name, score in self.all.items():
            mean, form = self.macro_mean(name), score.measure.format
            macro[name] = {"value": numbers.number(mean.value, form)}
            if ci:
                macro[name]["interval"] = [numbers.number(bound, form) for bound in mean.interval(*bootstrap)]
        return {
            "column": self.column,
            "groups": {
                name: scores.to_json(ci=ci, numbers=numbers)["scores"] for name, scores in self.groups.items()
            },
            "macro_mean": macro,
        }

    def tidy_rows(self, *, ci: bool | Bootstrap = False) -> list[ResultRow]:
        """Return a row for each metric and group, and for each macro mean."""
        bootstrap = ci if isinstance(ci, Bootstrap) else Bootstrap()
        rows = [
            row._replace(metric=f"{row.metric} ({name})")
            for name, scores in self.groups.items()
            for row in scores.tidy_rows(ci=ci)
        ]
        images = sum(len(next(iter(scores.values())).ids) for scores in self.groups.values())
        for name, score in self.all.items():
            mean = self.macro_mean(name)
            signature = Signature.of(score.name, {**score.signature.fields, "group": f"{self.column}=macro"})
            if ci:
                level, resamples, seed = bootstrap
                signature = Signature(f"{signature}|ci:{100 * level:g}%|bootstrap:{resamples}|seed:{seed}")
            rows.append(
                ResultRow(
                    self.system,
                    f"{name} ({MACRO})",
                    mean.value,
                    images,
                    signature,
                    mean.interval(*bootstrap) if ci else None,
                    format=score.measure.format,
                )
            )
        return rows


def group_scores(scores: Scores, groups: Mapping[Any, Any], column: str = "group") -> GroupedScores:
    """Divide the scores of a system by groups of images.

    Parameters
    ----------
    scores
        Scores of a system.
    groups
        Image id → group, or a list of groups if an image belongs to several. :func:`read_groups` reads
        them from a file.
    column
        Name of the groups in signatures.

    Returns
    -------
    GroupedScores
        ``groups`` holds the scores of each group, ``macro_mean(metric)`` the mean over groups.

    Examples
    --------
    >>> import captious
    >>> scores = captious.score({1: ["a dog"], 2: ["a cat"]}, {1: "a dog", 2: "a dog"}, "BLEU-1")
    >>> by_animal = group_scores(scores, {1: "dog", 2: "cat"})
    >>> by_animal.groups["dog"]["BLEU-1"].value > by_animal.groups["cat"]["BLEU-1"].value
    True
    """
    ids = next(iter(scores.values())).ids
    of_image = {
        str(image): (names,) if isinstance(names, str) else tuple(names) for image, names in groups.items()
    }
    if not any(image in of_image for image in ids):
        # One side may name images by number and the other by file name.
        plain = {plain_id(image): names for image, names in of_image.items()}
        of_image = {image: plain[plain_id(image)] for image in ids if plain_id(image) in plain} or of_image
    members: dict[str, list[str]] = {}
    for image in ids:
        for name in of_image.get(image, ()):
            members.setdefault(str(name), []).append(image)
    if not members:
        raise InputError(
            f"no image of {scores.system} is in a group: the groups are for images such as "
            f"{some(list(of_image)[:3])}, the scores for images such as {some(ids[:3])}"
        )
    left_out = sum(not of_image.get(image) for image in ids)
    if left_out:
        warnings.warn(
            CaptionWarning(
                f"{scores.system}: {left_out:,} of {len(ids):,} images have no value of '{column}' and are "
                "in no group"
            ),
            stacklevel=2,
        )
    names = sorted(members, key=_natural)
    return GroupedScores(scores, {name: members[name] for name in names}, column)


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Return a key that sorts numbers in names by their size."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", name) if part]


def read_groups(source: Any, column: str) -> dict[str, tuple[str, ...]]:
    """Return the groups of images by a column of a file or Python object.

    ``length``, if there is no such column, divides images into thirds by the mean length of their captions.

    Parameters
    ----------
    source
        A file or Python object with an image id in each row.
    column
        Name of the column, or ``length``.

    Examples
    --------
    >>> read_groups([{"image_id": 1, "kind": "dog"}, {"image_id": 2, "kind": "cat"}], "kind")
    {'1': ('dog',), '2': ('cat',)}
    """
    try:
        return image_values(source, column)
    except InputError:
        if column != LENGTH:
            raise
    file = read(source, "references")
    return length_groups(dict(zip(file.ids, file.captions)))


def _of_images(score: Score, images: Iterable[str], group: str) -> Score:
    """Return the score of some images."""
    place = {image: i for i, image in enumerate(score.ids)}
    chosen = [image for image in images if image in place]
    rows, offsets = runs(score.image_offsets, np.array([place[image] for image in chosen], dtype=np.int64))

    def signature() -> Signature:
        return Signature.of(score.name, {**score.signature.fields, "group": group})

    return Score(score.measure, score.statistics[rows], tuple(chosen), offsets, signature)
