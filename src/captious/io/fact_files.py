"""Read the atomic facts of images: short sentences, each with one statement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.io.content import read_json_or_lines, shown_name
from captious.io.object_files import texts_by_image

_SHAPES = (
    'lines or a list of {"image_id": …, "facts": […]} (also image_name and oracle_facts), or one object '
    "{image_id: [facts]}"
)


def read_facts(path: str | Path) -> dict[str, list[str]]:
    """Return the facts of images by id, from a file (also gzip)."""
    return facts_of(read_json_or_lines(path, f"facts per image are {_SHAPES}"), shown_name(path))


def facts_of(value: Any, where: str) -> dict[str, list[str]]:
    """Return the facts of images by id, from the content of a file."""
    if isinstance(value, dict) and not {"facts", "oracle_facts"} & value.keys():
        value = [{"image_id": image, "facts": rows} for image, rows in value.items()]
    rows = [value] if isinstance(value, dict) else value
    if not isinstance(rows, list):
        raise InputError(f"{where}: facts per image are {_SHAPES}")
    return texts_by_image(rows, where, "facts", ("facts", "oracle_facts"), ("image_id", "image_name", "id"))
