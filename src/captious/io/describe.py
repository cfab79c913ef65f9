"""Descriptions of caption files: what a file is, which fields are taken, what is left out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.core.writing import is_standard
from captious.io.caption_files import BY_PLACE, CaptionFile, Records, Role, gather
from captious.io.content import shown_name
from captious.io.reading import is_prepared, open_prepared, read, read_content_bytes, records_of

_ROLES: tuple[Role, Role] = ("references", "predictions")
#: Formats under the names of the documentation.
_NAMES = {
    "coco-annotations": "COCO annotations",
    "coco-results": "rows in a JSON list (COCO results)",
    "jsonl": "JSON lines",
    "dict": "a JSON object from image to captions",
    "json": "JSON",
    "json-columns": "a table by columns, as data frames write JSON",
    "karpathy": "Karpathy's splits",
    "token": "a list of Flickr",
    "bars": "a table with bars",
    "csv": "CSV",
    "tsv": "TSV",
    "xlsx": "a spreadsheet",
    "parquet": "Parquet",
    BY_PLACE: "plain lines, matched by their number",
}


@dataclass(frozen=True)
class RoleSummary:
    """Captions of a file in one role."""

    role: Role
    images: int
    captions: int
    id_field: str
    caption_field: str
    #: Id and first caption of the first image.
    example: tuple[str, str]
    #: Most captions of an image, and fewest.
    most: int
    fewest: int


@dataclass(frozen=True)
class FileDescription:
    """Description of a caption file."""

    path: str
    format: str
    sides: tuple[RoleSummary, ...]
    fields: tuple[str, ...]
    #: Fields and content that are not read.
    left_out: tuple[str, ...]
    #: Warnings of the readers.
    warnings: tuple[str, ...]
    #: Why the file cannot be read in a role.
    refused: dict[str, str]

    @property
    def has_both_sides(self) -> bool:
        """Whether the file has references and, in other fields, predictions."""
        return len(self.sides) == 2 and self.sides[0].caption_field != self.sides[1].caption_field

    def to_json(self) -> dict[str, Any]:
        """Return a value for JSON."""
        return {
            "path": self.path,
            "format": self.format,
            "both_sides": self.has_both_sides,
            "fields": list(self.fields),
            "left_out": list(self.left_out),
            "warnings": list(self.warnings),
            "refused": self.refused,
            "sides": [vars(side) | {"example": list(side.example)} for side in self.sides],
        }


def describe(path: str | os.PathLike[str]) -> FileDescription:
    """Say what a caption file is, which fields are taken as ids and captions, and what is left out.

    Raises `InputError` if the file has captions in neither role.
    """
    name = shown_name(path)
    sides: list[RoleSummary] = []
    parts: list[Records] = []
    refused: dict[str, str] = {}
    messages: dict[str, None] = {}
    content: object = None if is_prepared(Path(path)) else read_content_bytes(path)
    for role in _ROLES:
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                records = _records(path, content, name, role)
                file = gather(records, name, role, several=True)
        except InputError as error:
            refused[role] = str(error)
            continue
        messages |= dict.fromkeys(str(warning.message) for warning in caught)
        if role == "predictions" and (failed := failed_answers(file.captions)):
            messages[f"{name}: {failed:,} predictions are VLMEvalKit's message of a failed request"] = None
        sizes = [len(texts) for texts in file.captions]
        example = (file.ids[0], file.captions[0][0])
        sides.append(
            RoleSummary(
                role,
                len(file),
                sum(sizes),
                records.id_field,
                records.caption_field,
                example,
                max(sizes),
                min(sizes),
            )
        )
        parts.append(records)
    if not parts:
        raise InputError(refused["references"])
    taken = {
        field for side in sides for field in f"{side.id_field}, {side.caption_field}".split(", ") if field
    }
    # With both sides, both caption fields are used; otherwise a field is used in either role. Shapes without
    # rows of fields state what they leave out.
    has_fields = bool(taken.intersection(parts[0].fields))
    unused = [field for field in parts[0].fields if field not in taken] if has_fields else []
    left_out = dict.fromkeys([*unused, *(note for part in parts for note in part.left_out)])
    form = _NAMES.get(parts[0].format, parts[0].format)
    return FileDescription(
        name, form, tuple(sides), parts[0].fields, tuple(left_out), tuple(messages), refused
    )


def _records(path: str | os.PathLike[str], content: object, name: str, role: Role) -> Records:
    if content is None:
        captions, _ = open_prepared(Path(path))
        groups: list[object] = [
            list(captions.texts[low:high])
            for low, high in zip(captions.image_offsets[:-1], captions.image_offsets[1:])
        ]
        return Records(list(captions.ids), groups, str, "prepared references")
    return records_of(content, name, role)


def has_both_sides(path: str | os.PathLike[str]) -> bool:
    """Whether a file has references and other captions as predictions, so that it can be scored alone."""
    return missing_side(path) is None


def missing_side(path: str | os.PathLike[str]) -> str | None:
    """Return why a file cannot be scored alone, or None if it has references and predictions."""
    if is_standard(path):
        return "standard input can be read only once"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            references, predictions = (_listed(read(path, role)) for role in _ROLES)
    except InputError as error:
        return str(error)
    return None if references != predictions else f"{shown_name(path)} has one side only"


#: Text that VLMEvalKit stores in place of an answer.
_FAILED = "Failed to obtain answer"


def failed_answers(captions: Iterable[Iterable[str]]) -> int:
    """Return the number of captions that are the message of a failed request (VLMEvalKit)."""
    return sum(text.startswith(_FAILED) for texts in captions for text in texts)


def _listed(file: CaptionFile) -> list[tuple[str, ...]]:
    return [tuple(texts) for texts in file.captions]
