"""Reference captions of the images of judgement sets: Flickr8k, Flickr30k, COCO."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from captious.core.errors import InputError
from captious.io.content import decode, read_bytes, read_json
from captious.io.judgements.data_places import Place
from captious.io.judgements.judged_rows import read_rows, table_cells

References = Mapping[str, list[str]]

_NAMES = {
    "flickr8k": ("Flickr8k.token.txt", "captions.jsonl"),
    "flickr30k": ("results_20130124.token", "results.csv", "captions.jsonl"),
    "coco": ("captions_val2014.json", "references.jsonl"),
}
_FOLDERS = {
    "flickr8k": ("flickr8k", "Flickr8k_text"),
    "flickr30k": ("flickr30k",),
    "coco": ("coco", "annotations"),
}


def image_key(image: str) -> str:
    """Return the key of an image: the file name without folders and extension, for COCO the number."""
    stem = image.replace("\\", "/").rpartition("/")[2].partition("#")[0]
    stem = re.sub(r"\.(jpe?g|png)$", "", stem, flags=re.IGNORECASE)
    coco = re.fullmatch(r"(?:coco_(?:train|val|test)20\d\d_)0*(\d+)", stem, flags=re.IGNORECASE)
    return coco[1] if coco else stem


def read_references(place: Place, collection: str) -> dict[str, list[str]]:
    """Return the captions of a collection by image key, from the authors' file or that of captious."""
    # Search its own folder first, because `captions.jsonl` is a common name.
    own = next(
        (Place(place.folder / name) for name in _FOLDERS[collection] if (place.folder / name).is_dir()), place
    )
    path = own.find(_NAMES[collection]) if _belongs(own, collection) else None
    if path is None:
        path = place.need(_NAMES[collection], collection, _FOLDERS[collection])
    return _read(path)


def _belongs(place: Place, collection: str) -> bool:
    """Whether files with common names in this folder can belong to this collection."""
    others = [name for other, names in _FOLDERS.items() if other != collection for name in names]
    return place.folder.name not in others


def caption_ids(path: Path) -> dict[str, str]:
    """Return the captions of a ``.token`` file by caption id (``image.jpg#2``)."""
    text = decode(read_bytes(path), str(path))
    captions_by_key: dict[str, str] = {}
    for line, cells in table_cells(text, path, "\t", csv.QUOTE_NONE):
        if len(cells) != 2 or "#" not in cells[0]:
            raise InputError(
                f"{path}, line {line:,}: expected a caption's id (image.jpg#0), a tab and the caption"
            )
        captions_by_key[cells[0]] = cells[1]
    return captions_by_key


def _read(path: Path) -> dict[str, list[str]]:
    captions_by_key: dict[str, list[str]] = {}
    if ".token" in path.name:
        for name, caption in caption_ids(path).items():
            captions_by_key.setdefault(image_key(name), []).append(caption)
        return captions_by_key
    if path.name.removesuffix(".gz").endswith(".json"):
        try:
            annotations = read_json(path, "expected COCO annotations")["annotations"]
            for row in annotations:
                captions_by_key.setdefault(str(row["image_id"]), []).append(str(row["caption"]))
        except (KeyError, TypeError) as problem:
            raise InputError(
                f"{path}: not COCO annotations with 'annotations' of 'image_id' and 'caption' ({problem})"
            ) from None
        return captions_by_key
    for row in read_rows(path):
        key = image_key(row.name("image", "image_id", "image_name"))
        captions_by_key.setdefault(key, []).extend(row.texts("captions", "references", "caption", "comment"))
    return captions_by_key
