"""Values that a file has for each image beside its captions: the split, the domain, a category."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from captious.core.container import Grouped
from captious.core.errors import InputError, did_you_mean, some
from captious.io import json_formats
from captious.io.caption_files import CaptionFile, Records, columns, id_texts, kind, show
from captious.io.content import decode, loads, shown_name
from captious.io.data_set_files import is_youcook, youcook_rows
from captious.io.reading import is_prepared, read_content_bytes, records_of

#: Keys of the lists of images in COCO's and Karpathy's files.
_IMAGE_IDS = ("cocoid", "filename", "id", "file_name")


def image_values(source: object, column: str) -> dict[str, tuple[str, ...]]:
    """Return the values that images have in a column, by image id.

    The source is any that :func:`captious.io.read` takes. In COCO's files, the entries of ``images`` and of
    ``annotations`` are searched, in Karpathy's files those of ``images``. In a file ``{image: value}`` the
    column is only a name. A list gives an image several values, null or an empty text none.
    """
    name = shown_name(source) if isinstance(source, str | os.PathLike) else "<references>"
    records = _records(source, name, column)
    values: dict[str, dict[str, None]] = {}
    for row, (image, value) in enumerate(zip(id_texts(records, name), records.captions)):
        texts = _texts(value, f"{name}, {records.place(row)}", column)
        values.setdefault(image, {}).update(dict.fromkeys(texts))
    if not any(values.values()):
        raise InputError(f"{name}: no image has a value of '{column}'; name another column")
    return {image: tuple(texts) for image, texts in values.items()}


def _records(source: object, name: str, column: str) -> Records:
    """Return ids and values, as the readers of captions return ids and captions."""
    if isinstance(source, str | os.PathLike):
        if is_prepared(Path(source)):
            raise InputError(
                f"{name} has prepared references, which hold captions only; read '{column}' from the file "
                "that they were made from"
            )
        data = read_content_bytes(source)
        content: object = data
        value: object = None
        if data.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] == b"{":
            with suppress(json.JSONDecodeError):  # JSON lines, or an error that the reader reports
                value = loads(decode(data, name), name)
    else:
        value = content = source
    listed = _listed(value, name, column)
    if listed is not None:
        return listed
    with columns(caption=column):
        try:
            return records_of(content, name, "references")
        except InputError as error:
            if "there is no caption" not in str(error):
                raise
            present = str(error).partition("found: ")[2].partition(";")[0]
            raise _no_column(name, column, present) from None


def _no_column(name: str, column: str, present: str) -> InputError:
    return InputError(f"{name} has no column '{column}' (it has: {present or 'none'}); name one that it has")


def _listed(value: object, name: str, column: str) -> Records | None:
    """Return the values in COCO's and Karpathy's lists of images, or None for other shapes."""
    if isinstance(value, Mapping) and isinstance(value.get("videos"), list) and "sentences" in value:
        # MSR-VTT lists its videos with their splits.
        videos = [row for row in value["videos"] if isinstance(row, Mapping) and "video_id" in row]
        if any(column in row for row in videos):
            return Records(
                [row["video_id"] for row in videos],
                [row.get(column) for row in videos],
                lambda i: f"videos {i + 1}",
                "json",
            )
    if isinstance(value, Mapping) and column in ("split", "subset") and is_youcook(value):
        ids = [image for image, _, _ in youcook_rows(value, name)]
        videos = value["database"]
        return Records(
            ids,
            [videos[image.rpartition("#")[0]].get("subset") for image in ids],
            lambda i: f"segment {ids[i]}",
            "json",
        )
    if not isinstance(value, Mapping) or not (json_formats.is_coco(value) or json_formats.is_karpathy(value)):
        return None
    present: dict[str, None] = {}
    for part, keys in (("images", _IMAGE_IDS), ("annotations", ("image_id",))):
        rows = value.get(part)
        rows = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
        if any(column in row for row in rows):
            for number, row in enumerate(rows, 1):
                if not any(key in row for key in keys):
                    raise InputError(f"{name}, {part} {number}: there is no id ({', '.join(keys)})")
            ids = [next(row[key] for key in keys if key in row) for row in rows]
            texts = [row.get(column) for row in rows]
            return Records(ids, texts, lambda i, part=part: f"{part} {i + 1}", "json")  # type: ignore[misc]
        present.update(dict.fromkeys(map(str, rows[0] if rows else ())))
    raise _no_column(name, column, some(map(show, present), 12))


def _texts(value: object, place: str, column: str) -> list[str]:
    """Return the values of a cell as texts."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple | set):
        return [text for item in value for text in _texts(item, place, column)]
    if value is None or value != value:
        return []
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, str | int | float):
        text = str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()
        return [text] if text else []
    raise InputError(f"{place}: '{column}' is {kind(value)}; groups are texts, numbers or lists of them")


def of_split(file: CaptionFile, source: object, splits: Sequence[str]) -> CaptionFile:
    """Return the images of a file whose ``split`` is one of ``splits`` (Karpathy's files, or a column)."""
    values = image_values(source, "split")
    counts: dict[str, int] = {}
    for texts in values.values():
        for text in texts:
            counts[text] = counts.get(text, 0) + 1
    for split in splits:
        if split not in counts:
            listed = ", ".join(f"{name} ({counts[name]:,})" for name in sorted(counts))
            raise InputError(
                f"{file.label} has no images of the split '{split}'{did_you_mean(split, counts)}; its splits "
                f"are {listed}"
            )
    wanted = set(splits)
    places = [i for i, image in enumerate(file.ids) if wanted.intersection(values.get(image, ()))]
    captions: Any = file.captions
    captions = (
        captions.take(np.array(places, dtype=np.int64))
        if isinstance(captions, Grouped)
        else [captions[i] for i in places]
    )
    return replace(file, ids=[file.ids[i] for i in places], captions=captions)


def length_groups(images: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Divide images into thirds by the mean number of words of their captions."""
    means = {image: float(np.mean([len(text.split()) for text in texts])) for image, texts in images.items()}
    low, high = np.percentile(list(means.values()), [100 / 3, 200 / 3])
    names = f"0 to {low:.1f} words", f"{low:.1f} to {high:.1f} words", f"over {high:.1f} words"
    return {image: (names[int(mean > low) + int(mean > high)],) for image, mean in means.items()}
