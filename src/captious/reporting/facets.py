"""Groups of images in the report: scores of each group, and macro means."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from captious.core.errors import InputError
from captious.core.progress import track
from captious.io.id_matching import plain_id
from captious.reporting.report_data import ReportImages
from captious.results.score_groups import GroupedScores, group_scores, read_groups
from captious.results.scores import json_number
from captious.results.significance import Bootstrap

#: Groups of a column that the page shows, the largest.
SHOWN = 40

#: A column, several with commas or in a list, or columns with the groups of images.
Groups = str | Iterable[str] | Mapping[str, Mapping[Any, Any]]


def read_facets(groups: Groups | None, source: Any) -> dict[str, Mapping[Any, Any]]:
    """Return the groups of images by column, read from a file or other source of references."""
    if groups is None:
        return {}
    if isinstance(groups, Mapping):
        return dict(groups)
    columns = [part.strip() for part in groups.split(",")] if isinstance(groups, str) else list(groups)
    if source is None:
        raise InputError("groups of images need a file with their column: --group-file FILE (group_file=…)")
    if not isinstance(source, str | os.PathLike | Mapping | list) and not hasattr(source, "columns"):
        raise InputError("prepared references hold captions only; name the file of the groups (group_file=…)")
    return {column: read_groups(source, column) for column in columns if column}


def facets(
    images: ReportImages, columns: Mapping[str, Mapping[Any, Any]], bootstrap: Bootstrap
) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Return for each column the scores of its groups, and for each image the numbers of its groups."""
    described, members = [], []
    for column, groups in track(list(columns.items()), "scoring groups"):
        grouped = [group_scores(entry.scores, groups, column) for entry in images.entries]
        sizes = {
            name: max((len(score.ids) for score in scores.values()), default=0)
            for one in grouped
            for name, scores in one.groups.items()
        }
        largest = set(sorted(sizes, key=lambda name: -sizes[name])[:SHOWN])
        names = [name for name in sizes if name in largest]
        described.append(
            {
                "column": column,
                "groups": [{"name": name, "images": sizes[name]} for name in names],
                "left_out": len(sizes) - len(names),
                "scores": _scores(grouped, names, bootstrap),
            }
        )
        members.append(_members(images, groups, names))
    return described, members


def _scores(
    grouped: Sequence[GroupedScores], names: Sequence[str], bootstrap: Bootstrap
) -> dict[str, list[Any]]:
    """Return metric → system → rows of value, low, high: one for each group, and the macro mean."""
    metrics = dict.fromkeys(name for one in grouped for name in one.all)
    out: dict[str, list[Any]] = {}
    for metric in metrics:
        out[metric] = []
        for one in grouped:
            if metric not in one.all:
                out[metric].append(None)
                continue
            rows: list[Any] = [
                _row(one.groups[name][metric], bootstrap) if name in one.groups else None for name in names
            ]
            out[metric].append([*rows, _row(one.macro_mean(metric), bootstrap)])
    return out


def _row(score: Any, bootstrap: Bootstrap) -> list[float | None]:
    is_single = hasattr(score, "ids") and len(score.ids) < 2
    bounds = (float("nan"), float("nan")) if is_single else score.interval(*bootstrap)
    return [json_number(score.value), *map(json_number, bounds)]


def _members(images: ReportImages, groups: Mapping[Any, Any], names: Sequence[str]) -> list[Any]:
    number = {name: k for k, name in enumerate(names)}
    of_image = {str(image): own for image, own in groups.items()}
    plain = {plain_id(image): own for image, own in of_image.items()}
    out = []
    for image in images.ids:
        own = of_image.get(image, plain.get(plain_id(image), ()))
        listed = (own,) if isinstance(own, str) else tuple(own)
        out.append([number[str(name)] for name in listed if str(name) in number])
    return out
