"""Read the atomic facts of images: short sentences, each with one statement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.io.content import read_json_or_lines, shown_name

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
    facts: dict[str, list[str]] = {}
    for number, row in enumerate(rows, start=1):
        is_row = isinstance(row, dict)
        listed = row.get("facts", row.get("oracle_facts")) if is_row else None
        image = row.get("image_id", row.get("image_name", row.get("id"))) if is_row else None
        if (
            not isinstance(listed, list)
            or not all(isinstance(fact, str) for fact in listed)
            or not isinstance(image, str | int)
        ):
            raise InputError(
                f"{where}, row {number}: expected an image_id and a list of facts, found {str(row)[:80]}"
            )
        facts.setdefault(str(image), []).extend(listed)
    return facts
