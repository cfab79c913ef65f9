"""Read the objects in images from COCO instance annotations or simple lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from captious.core.errors import InputError
from captious.io.content import read_json_or_lines, shown_name

_SHAPES = (
    "COCO instances (with 'annotations' and 'categories'), lines or a list of {\"image_id\": …, \"objects\": "
    "[…]}, "
    "or one object {image_id: [objects]}"
)


class ImageBoxes(NamedTuple):
    """Boxes of an image's objects: name, left, top, width, height in pixels; and its size, if known."""

    size: tuple[int, int] | None
    boxes: list[tuple[str, float, float, float, float]]


def read_objects(path: str | Path) -> dict[str, set[str]]:
    """Return the names of objects by image id, from a file (also gzip)."""
    return objects_of(_content(path), shown_name(path))


def read_boxes(path: str | Path) -> dict[str, ImageBoxes]:
    """Return the boxes of objects by image id, from a file that :func:`read_objects` reads.

    Those of COCO instances are in ``bbox``. A row of other files may have ``boxes``, one for each of its
    objects, and ``width`` and ``height``. Files without boxes give an empty result.
    """
    value, where = _content(path), shown_name(path)
    images: dict[str, ImageBoxes] = {}
    if isinstance(value, dict) and "annotations" in value:
        names = {row["id"]: str(row["name"]) for row in value.get("categories", [])}
        sizes = {str(row["id"]): _size(row) for row in value.get("images", []) if "id" in row}
        for row in value["annotations"]:
            if "bbox" in row:
                image = str(row["image_id"])
                own = images.setdefault(image, ImageBoxes(sizes.get(image), []))
                own.boxes.append((names[row["category_id"]], *_box(row["bbox"], where, image)))
        return images
    rows = [value] if isinstance(value, dict) else value
    for row in rows:
        if not isinstance(row, dict) or "boxes" not in row or "objects" not in row:
            continue
        image = str(row.get("image_id", row.get("id")))
        if not isinstance(row["boxes"], list) or len(row["boxes"]) != len(row["objects"]):
            raise InputError(
                f"{where}, image {image}: expected as many boxes as objects ({len(row['objects'])}), each "
                "[left, top, width, height]"
            )
        named = [(name, *_box(box, where, image)) for name, box in zip(row["objects"], row["boxes"])]
        images[image] = ImageBoxes(_size(row), named)
    return images


def _size(row: dict[str, Any]) -> tuple[int, int] | None:
    width, height = row.get("width"), row.get("height")
    if isinstance(width, int) and isinstance(height, int) and width > 0 and height > 0:
        return width, height
    return None


def _box(value: Any, where: str, image: str) -> tuple[float, float, float, float]:
    if (
        not isinstance(value, list)
        or len(value) != 4
        or not all(isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in value)
    ):
        raise InputError(
            f"{where}, image {image}: a box is [left, top, width, height] in pixels, not {str(value)[:80]}"
        )
    left, top, width, height = map(float, value)
    return left, top, width, height


def _content(path: str | Path) -> Any:
    return read_json_or_lines(path, f"objects per image are {_SHAPES}")


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
    rows = texts_by_image(value, where, "objects", ("objects",), ("image_id", "id"))
    return {image: set(names) for image, names in rows.items()}


def texts_by_image(
    rows: list[Any], where: str, what: str, fields: Sequence[str], ids: Sequence[str]
) -> dict[str, list[str]]:
    """Return lists of texts by image id, from rows with the first of some fields that is there."""
    texts: dict[str, list[str]] = {}
    for number, row in enumerate(rows, start=1):
        listed, image = (
            next((row[key] for key in keys if key in row), None) if isinstance(row, dict) else None
            for keys in (fields, ids)
        )
        if (
            not isinstance(listed, list)
            or not all(isinstance(text, str) for text in listed)
            or not isinstance(image, str | int)
        ):
            raise InputError(
                f"{where}, row {number}: expected an image_id and a list of {what}, found {str(row)[:80]}"
            )
        texts.setdefault(str(image), []).extend(listed)
    return texts


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
