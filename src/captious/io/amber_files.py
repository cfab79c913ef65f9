"""Read the annotation of AMBER: objects that are in images, and objects that models tend to invent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from captious.core.errors import InputError
from captious.io.content import read_json_or_lines, read_lines, shown_name

_SHAPE = 'rows of {"id": …, "truth": [objects in the image], "hallu": [objects that models tend to invent]}'
_WORDS = "words per object are one JSON object {object: [other words that stand for it]}"
_ANNOTATIONS = ("annotations.json", "annotations.jsonl", "generative.jsonl", "generative.json")
_RELATIONS = ("relation.json", "relation.jsonl")
_SAFE = ("safe_words.txt",)


class AmberFiles(NamedTuple):
    """Content of AMBER's files."""

    #: Objects that are in each image, and objects that models tend to invent for it.
    images: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    #: Words that stand for an object, beside its name.
    words: dict[str, tuple[str, ...]]
    #: Words that are never judged.
    safe: frozenset[str]


def read_amber(path: str | Path) -> AmberFiles:
    """Read a folder (annotations.json, relation.json, safe_words.txt; also gzip) or a file of annotations.

    Rows of AMBER's other tasks, which are questions, are left out.
    """
    place = Path(path)
    if not place.is_dir():
        return AmberFiles(annotations_of(read_json_or_lines(path, _SHAPE), shown_name(path)), {}, frozenset())
    annotations = _find(place, _ANNOTATIONS)
    if annotations is None:
        raise InputError(f"{path}: AMBER's folder needs the file {_ANNOTATIONS[0]} ({_SHAPE})")
    images = annotations_of(read_json_or_lines(annotations, _SHAPE), shown_name(annotations))
    relations, safe = _find(place, _RELATIONS), _find(place, _SAFE)
    words = {} if relations is None else words_of(read_json_or_lines(relations, _WORDS), str(relations))
    lines = () if safe is None else read_lines(safe)
    return AmberFiles(images, words, frozenset(line.strip().lower() for line in lines if line.strip()))


def _find(place: Path, names: tuple[str, ...]) -> Path | None:
    paths = (place / f"{name}{ending}" for name in names for ending in ("", ".gz"))
    return next((path for path in paths if path.is_file()), None)


def annotations_of(value: Any, where: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the objects of each image, from the content of a file."""
    rows = [value] if isinstance(value, dict) else value
    images: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
        is_row = isinstance(row, dict)
        if is_row and str(row.get("type", "")).startswith("discriminative"):
            continue
        image = row.get("id", row.get("image_id")) if is_row else None
        sides = (row.get("truth"), row.get("hallu", [])) if is_row else (None, None)
        if not isinstance(image, str | int) or not all(map(_is_words, sides)):
            raise InputError(f"{where}, row {number}: AMBER's annotation is {_SHAPE}, found {str(row)[:80]}")
        if str(image) in images:
            raise InputError(f"{where}, row {number}: image {image} has two rows")
        truth, invented = (tuple(dict.fromkeys(map(str.lower, side or ()))) for side in sides)
        images[str(image)] = (truth, invented)
    if not images:
        raise InputError(f"{where}: AMBER's annotation is {_SHAPE}, and the file has no such row")
    return images


def words_of(value: Any, where: str) -> dict[str, tuple[str, ...]]:
    """Return the words that stand for each object, from the content of a file."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict) or not all(map(_is_words, value.values())):
        raise InputError(f"{where}: {_WORDS}")
    return {name.lower(): tuple(map(str.lower, words)) for name, words in value.items()}


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)
