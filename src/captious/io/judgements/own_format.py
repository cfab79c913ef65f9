"""Judgements of the user: JSON lines, a JSON array, CSV, TSV or Parquet (docs/reference/judgements.md)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from captious.core.errors import InputError, some
from captious.core.writing import is_standard
from captious.io.judgements.coco_sets import polos_rows
from captious.io.judgements.judged_rows import Row, number, read_rows
from captious.io.judgements.judged_sets import CaptionPairs, JudgementSet, Protocol, RatedCaptions

_RATING = ("ratings", "rating", "scores", "score", "human_score")
_REFERENCES = ("references", "refs", "reference")
_IMAGE = ("image", "image_id", "imgid")


def load(path: Path) -> JudgementSet:
    """Read rated captions (``image``, ``caption``, ``references``, ``ratings``) or pairs (``image``,
    ``first``, ``second``, ``references``, ``votes``).

    References are in each row, or once per image.
    """
    rows = read_rows(path)
    name = "judgements" if is_standard(path) else path.name.partition(".")[0]
    fields = rows[0].values
    if ("mt" in fields or "cand" in fields) and "refs" in fields:
        return polos_rows(name, rows)
    if "first" in fields and "second" in fields:
        return _pairs(name, rows)
    if "caption" not in fields:
        raise InputError(
            f"{path}: rated captions need the fields 'image', 'caption', 'references' and 'ratings', pairs "
            "'image', 'first', "
            f"'second', 'references' and 'votes'; found {some(map(repr, fields), 12)} "
            "(docs/reference/judgements.md)"
        )
    return _rated(name, rows)


def _references(rows: list[Row]) -> list[list[str]]:
    """Return the references of each row: its own, or those of the first row of its image that has some."""
    by_image: dict[str, list[str]] = {}
    for row in rows:
        if any(row.has(name) for name in _REFERENCES):
            by_image.setdefault(row.name(*_IMAGE), row.texts(*_REFERENCES))
    references = []
    for row in rows:
        own = any(row.has(name) for name in _REFERENCES)
        texts = row.texts(*_REFERENCES) if own else by_image.get(row.name(*_IMAGE))
        if texts is None:
            raise InputError(f"{row.where}: image {row.name(*_IMAGE)} has no references in any row")
        references.append(texts)
    return references


def _rated(name: str, rows: list[Row]) -> RatedCaptions:
    ratings = [row.numbers(*_RATING) for row in rows]
    several = any(len(r) > 1 for r in ratings)
    systems = [row.name("system") for row in rows] if all(row.has("system") for row in rows) else None
    scored = [key for key in rows[0].values if key.startswith("metric:")]
    return RatedCaptions(
        name=name,
        images=[row.name(*_IMAGE) for row in rows],
        captions=[row.text("caption") for row in rows],
        references=_references(rows),
        ratings=ratings,
        systems=systems,
        protocol=Protocol("tau-c" if several else "tau-b", judges="each", own="keep"),
        scores={
            key.removeprefix("metric:"): np.array(
                [number(row.get(key), f"{row.where}: '{key}'") for row in rows]
            )
            for key in scored
        },
    )


def _pairs(name: str, rows: list[Row]) -> CaptionPairs:
    votes = []
    for row in rows:
        numbers = row.numbers("votes", "vote")
        if set(numbers) - {1.0, -1.0}:
            raise InputError(
                f"{row.where}: votes are 1 (the first caption) or -1 (the second), found {some(numbers)}"
            )
        votes.append([int(v) for v in numbers])
    return CaptionPairs(
        name=name,
        images=[row.name(*_IMAGE) for row in rows],
        first=[row.text("first") for row in rows],
        second=[row.text("second") for row in rows],
        references=_references(rows),
        votes=votes,
        categories=[str(row.values.get("category") or "") for row in rows],
        protocol=Protocol("accuracy", own="remove"),
    )
