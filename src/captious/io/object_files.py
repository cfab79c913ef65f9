"""Read the objects in images from COCO instance annotations or simple lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.io.content import decode, loads, read_bytes, shown_name

_SHAPES = (
    "COCO instances (with 'annotations' and 'categories'), lines or a list of {\"image_id\": …, \"objects\": "
    "[…]}, "
    "or one object {image_id: [objects]}"
)


def read_objects(path: str | Path) -> dict[str, set[str]]:
    """Return the names of objects by image id, from a file (also gzip)."""
    where = shown_name(path)
    text = decode(read_bytes(path), where)
    try:
        value = loads(text, where)
    except json.JSONDecodeError:
        value = _lines(text, where)
    return objects_of(value, where)


def _lines(text: str, where: str) -> list[Any]:
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                rows.append(loads(line, f"{where}, line {number}"))
            except json.JSONDecodeError as error:
                raise InputError(
                    f"{where}, line {number}: not JSON ({error}); objects per image are {_SHAPES}"
                ) from None
    return rows


def objects_of(value: Any, where: str) -> dict[str, set[str]]:
    """Return the names of objects by image id, from the content of a file."""
    if isinstance(value, dict) and "annotations" in value:
        return _instances(value, where)
    if isinstance(value, dict) and "image_id" in value:
        value = [value]
    if isinstance(value, dict):
        value = [{"image_id": image, "objects": names} for image, names in value.items()]
    if not isinstance(value, list):
        raise InputError(f"{where}: objects per image are {_SHAPES}")
    objects: dict[str, set[str]] = {}
    for number, row in enumerate(value, start=1):
        names = row.get("objects") if isinstance(row, dict) else None
        image = row.get("image_id", row.get("id")) if isinstance(row, dict) else None
        if (
            not isinstance(names, list)
            or not all(isinstance(n, str) for n in names)
            or not isinstance(image, str | int)
        ):
            raise InputError(
                f"{where}, row {number}: expected an image_id and a list of objects, found {str(row)[:80]}"
            )
        objects.setdefault(str(image), set()).update(names)
    return objects


def _instances(value: dict[str, Any], where: str) -> dict[str, set[str]]:
    try:
        names = {row["id"]: str(row["name"]) for row in value["categories"]}
        # Images without annotations are listed too: there is nothing in them.
        objects: dict[str, set[str]] = {str(row["id"]): set() for row in value.get("images", [])}
        for row in value["annotations"]:
            objects.setdefault(str(row["image_id"]), set()).add(names[row["category_id"]])
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{where}: COCO instances need categories (id, name) and annotations (image_id, category_id): "
            f"{error!r}"
        ) from None
    return objects
