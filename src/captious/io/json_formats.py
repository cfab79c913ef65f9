"""JSON and JSON lines: COCO annotations, COCO results, {id: captions}, and one object per line."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from captious.core.errors import InputError, some
from captious.io.caption_files import (
    ID_KEYS,
    CaptionWarning,
    Records,
    Role,
    caption_names,
    id_names,
    kind,
    no_caption,
    no_id,
    numbered_names,
    selected,
    show,
)
from captious.io.content import check_depth, loads
from captious.io.data_set_files import (
    has_single_keys,
    is_sample,
    read_data_set,
    read_samples,
    read_single_keys,
    refuse_summary,
    rows_of_columns,
)


def parse(text: str, name: str, role: Role) -> Records:
    """Parse text that starts with ``{`` or ``[``: one JSON value, or one per line."""
    first_line, _, rest = text.lstrip().partition("\n")
    if rest and not rest.isspace() and first_line[0] == "{":
        try:
            loads(first_line, name)
        except json.JSONDecodeError:
            pass  # an object over several lines, or an error, which parsing the whole text reports
        else:
            return _lines(text, name, role)
    value = _loads(text, name)
    return from_value(value, name, role)


def from_value(value: object, name: str, role: Role) -> Records:
    """Return the captions of a parsed JSON value or of a Python object of the same shape."""
    if isinstance(value, Mapping):
        if not value:
            raise InputError(f"{name}: there is no caption in it (an empty object)")
        if is_coco(value):
            return _coco_annotations(value, name, role)
        if is_karpathy(value):
            return _karpathy(value, name, role)
        if (records := read_data_set(value, name, role)) is not None:
            return records
        refuse_summary(value, name)
        logs = value.get("logs")  # of early versions of lmms-eval
        if isinstance(logs, list) and logs and is_sample(logs[0]):
            return from_rows(logs, name, role, "json")
        rows = rows_of_columns(value, id_names(value), caption_names(role))
        if rows is not None:
            return from_rows(rows, name, role, "json-columns")
        if _is_id_dict(value):
            keys = list(value)
            return Records(keys, list(value.values()), lambda row: f"entry {show(keys[row])}", "dict")
        return from_rows([value], name, role, "json")  # JSON lines with one line
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return from_rows(value, name, role, "coco-results")
    raise InputError(
        f"{name}: captions were expected, but this is {kind(value)}; see docs/reference/formats.md"
    )


def from_rows(
    rows: Sequence[Any], name: str, role: Role, form: str, line_numbers: Sequence[int] | None = None
) -> Records:
    """Return the captions of rows, which are objects with an id and one or several captions."""

    def place(row: int) -> str:
        return f"row {row + 1}" if line_numbers is None else f"line {line_numbers[row]}"

    if not rows:
        raise InputError(f"{name}: there is no caption in it (an empty list)")
    first = rows[0]
    if not isinstance(first, Mapping):
        hint = ""
        if isinstance(first, str | list | tuple):
            hint = (
                "; captions without ids cannot be matched: give {id: caption}, "
                "or in Python dict(enumerate(captions))"
            )
        raise InputError(
            f'{name}, {place(0)}: an object such as {{"image_id": 42, "caption": "…"}} was expected, '
            f"but this is {kind(first)}{hint}"
        )
    if is_sample(first):
        return read_samples(rows, name, role, place)
    if has_single_keys(rows, (*id_names(), *caption_names(role))):
        return read_single_keys(rows, place)
    id_key = pick_id(first, name, place(0))
    fields = tuple(map(str, first))
    if numbered := numbered_names([key for key in first if isinstance(key, str)], role):
        return _numbered_rows(rows, id_key, numbered, name, place, form)
    caption_key = pick_caption(first, name, place(0), role)
    try:
        return Records(
            [row[id_key] for row in rows],
            [row[caption_key] for row in rows],
            place,
            form,
            id_field=id_key,
            caption_field=caption_key,
            fields=fields,
        )
    except (KeyError, TypeError, IndexError):
        pass
    for number, row in enumerate(rows):  # find the row that failed
        if not isinstance(row, Mapping):
            raise InputError(f"{name}, {place(number)}: an object was expected, but this is {kind(row)}")
        for key in (id_key, caption_key):
            if key not in row:
                raise InputError(
                    f"{name}, {place(number)}: '{key}' is missing; this row has "
                    f"{some(map(show, row)) or 'nothing'}, "
                    f"the first row has '{id_key}' and '{caption_key}'"
                )
    raise AssertionError("no row lacks a key")


def _numbered_rows(
    rows: Sequence[Any], id_key: str, keys: list[str], name: str, place: Callable[[int], str], form: str
) -> Records:
    """Return the captions of rows with a key for each caption. Keys that are absent or empty are left out."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping) or id_key not in row:
            raise InputError(
                f"{name}, {place(number)}: an object with '{id_key}' and '{keys[0]}' … '{keys[-1]}' was "
                f"expected, but this is {kind(row)}"
            )
    captions = [[row[key] for key in keys if row.get(key) not in (None, "")] for row in rows]
    return Records(
        [row[id_key] for row in rows],
        captions,
        place,
        form,
        id_field=id_key,
        caption_field=", ".join(keys),
        fields=tuple(map(str, rows[0])),
    )


def pick_id(row: Mapping[Any, object], name: str, place: str) -> str:
    """Return the key of the image id: the first default name whose value can be an id."""
    present = [key for key in id_names(row) if key in row]
    for key in present:
        if not isinstance(row[key], Mapping | list | bytes):  # `image` may be the picture itself
            return key
    if present:
        return present[0]
    raise no_id(name, f", {place}", list(row))


def pick_caption(row: Mapping[Any, object], name: str, place: str, role: Role) -> str:
    """Return the key of the captions for this role."""
    for key in caption_names(role):
        if key in row:
            return key
    if "references" in row:
        raise InputError(
            f"{name} has 'references' and no 'caption': it holds references, but predictions were expected; "
            "give the references first, then the predictions"
        )
    raise no_caption(name, f", {place}", list(row))


def is_coco(value: Mapping[Any, Any]) -> bool:
    """Whether an object is a file of COCO annotations. Only the first item of each list is inspected."""
    return "annotations" in value and not is_karpathy(value) and not _is_id_dict(value)


def _is_id_dict(value: object) -> bool:
    """Whether a value is {id: caption} or {id: [captions]}, not a COCO file or a single row."""
    if not isinstance(value, Mapping) or not value:
        return False
    if isinstance(value.get("annotations"), list) and (
        "images" in value or "info" in value or _rows_of(value)
    ):
        return False
    has_id = any(key in value for key in (*ID_KEYS, *selected().ids))
    return not (
        has_id and any(key in value for key in ("caption", "captions", "references", *selected().captions))
    )


def is_karpathy(value: Mapping[Any, Any]) -> bool:
    """Whether a value is a file of Karpathy's splits (dataset_coco.json, dataset_flickr30k.json, …)."""
    images = value.get("images")
    return (
        isinstance(images, list)
        and bool(images)
        and isinstance(images[0], Mapping)
        and "sentences" in images[0]
    )


def _karpathy(value: Mapping[Any, Any], name: str, role: Role) -> Records:
    """Return images with their sentences. The id is the COCO id if there is one, else the file name."""
    if role == "predictions":
        raise InputError(
            f"{name} is one of Karpathy's files, which hold references, but predictions were expected; "
            "give the references first, then the predictions"
        )
    ids: list[object] = []
    captions: list[object] = []
    for number, image in enumerate(value["images"], 1):
        try:
            ids.append(image["cocoid"] if "cocoid" in image else image["filename"])
            captions.append([sentence["raw"] for sentence in image["sentences"]])
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{name}, image {number}: expected 'filename' (or 'cocoid') and 'sentences' with 'raw' text; "
                f"{error!r}"
            ) from None
    return Records(ids, captions, lambda row: f"image {row + 1}", "karpathy")


def _rows_of(value: Mapping[Any, Any]) -> bool:
    annotations = value["annotations"]
    return not annotations or (isinstance(annotations[0], Mapping) and "image_id" in annotations[0])


def _coco_annotations(value: Mapping[Any, Any], name: str, role: Role) -> Records:
    annotations = value["annotations"]
    if role == "predictions":
        raise InputError(
            f"{name} is a COCO annotations file, which holds references, but predictions were expected; "
            'give the references first, then the predictions (COCO results: [{"image_id": …, "caption": …}, '
            "…])"
        )
    if not annotations:
        raise InputError(f"{name}: there is no caption in it ('annotations' is empty)")
    first = annotations[0]
    if isinstance(first, Mapping) and "caption" not in first and ("bbox" in first or "category_id" in first):
        raise InputError(
            f"{name} holds COCO's object annotations, not captions; give the captions file (captions_*.json)"
        )
    numbers = [
        number
        for number, row in enumerate(annotations)
        if not isinstance(row, Mapping) or not any(row.get(mark) for mark in UNUSABLE)
    ]
    if len(numbers) < len(annotations):
        _warn_of_unusable(annotations, numbers, name)
    kept = annotations if len(numbers) == len(annotations) else [annotations[number] for number in numbers]
    records = from_rows(kept, name, role, "coco-annotations")
    left_out: tuple[str, ...] = ()
    if len(kept) < len(annotations):
        left_out = (f"{len(annotations) - len(kept):,} captions that are rejected or pre-canned",)
    images = value.get("images")
    if isinstance(images, list) and images and isinstance(images[0], Mapping) and "domain" in images[0]:
        left_out = (*left_out, "domain of the images (nocaps): --group domain reports by it")
    return replace(records, place=lambda row: f"annotation {numbers[row] + 1}", left_out=left_out)


#: Marks of VizWiz's captions that its evaluation leaves out: rejected ones, and a sentence that annotators
#: click when an image is too poor to describe.
UNUSABLE = ("is_rejected", "is_precanned")


def _warn_of_unusable(annotations: Sequence[Any], kept: Sequence[int], name: str) -> None:
    images = {str(row.get("image_id")) for row in annotations if isinstance(row, Mapping)}
    with_captions = {
        str(annotations[number].get("image_id"))
        for number in kept
        if isinstance(annotations[number], Mapping)
    }
    lost = sorted(images - with_captions)
    if not kept:
        raise InputError(f"{name}: all captions are marked as rejected or pre-canned; there is no reference")
    message = (
        f"{name}: {len(annotations) - len(kept):,} of {len(annotations):,} captions are marked as rejected "
        "or pre-canned (VizWiz) and are left out"
    )
    if lost:
        message += (
            f"; {len(lost):,} images have no other reference ({some(lost)}): score the rest with --subset "
            "(subset=True)"
        )
    warnings.warn(CaptionWarning(message), stacklevel=2)


def _loads(text: str, name: str, first_line: int = 1) -> Any:
    try:
        return loads(text, name if first_line == 1 else f"{name}, line {first_line}")
    except json.JSONDecodeError as problem:
        line = problem.lineno + first_line - 1
        hint = ""
        if not text[problem.pos :].strip():
            hint = (
                "; the file ends too early (truncated?)" if first_line == 1 else "; the line ends too early"
            )
        raise InputError(
            f"{name}: invalid JSON at line {line}, column {problem.colno}: {problem.msg}{hint}"
        ) from None


def _lines(text: str, name: str, role: Role) -> Records:
    # Only \n ends a line: str.splitlines would also cut at U+2028 and its kin, which are legal inside JSON
    # strings.
    check_depth(text, name)
    lines = text.split("\n")
    rows: list[Any] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(loads(line, f"{name}, line {number}", shallow=True))
        except json.JSONDecodeError:
            if not line or line.isspace():
                continue
            _loads(line, name, number)  # raises the error with its position
        numbers.append(number)
    return from_rows(rows, name, role, "jsonl", numbers)
