"""COMPOSITE (Aditya et al. 2015): captions of Flickr8k, Flickr30k and COCO images, each with its
correctness from 1 to 5."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from captious.core.errors import InputError
from captious.io.content import decode, read_bytes
from captious.io.judgements.data_places import Place
from captious.io.judgements.judged_rows import number, read_rows, table_cells
from captious.io.judgements.judged_sets import Protocol, RatedCaptions
from captious.io.judgements.reference_captions import image_key, read_references

_INSIDE = ("composite", "AMT_eval")
_COLLECTION = {"8k": "flickr8k", "30k": "flickr30k", "coco": "coco"}
_NAMES = tuple(f"{part}_correctness.csv" for part in _COLLECTION)

Rating = tuple[str, str, str, float]


def holds(place: Place) -> bool:
    """Whether the folder has COMPOSITE."""
    own = Place(place.folder / "composite") if (place.folder / "composite").is_dir() else place
    return place.holds((*_NAMES, "composite*.jsonl"), _INSIDE) or (
        own.folder.name == "composite" and own.holds(("*.jsonl",))
    )


def load(place: Place) -> RatedCaptions:
    """Every rated caption with its image's references, itself taken out of them; tau-c."""
    found = [path for name in _NAMES if (path := place.find((name,), _INSIDE)) is not None]
    if found:
        ratings = [rating for path in found for rating in _authors(path)]
    else:
        own = Place(place.folder / "composite") if (place.folder / "composite").is_dir() else place
        path = own.need(("composite*.jsonl", "*.jsonl", *_NAMES), "composite")
        ratings = [
            (_part(r.text("subset"), r.where), r.name("image"), r.text("caption"), r.number("score"))
            for r in read_rows(path)
        ]
    references = {
        part: read_references(place, _COLLECTION[part]) for part in dict.fromkeys(r[0] for r in ratings)
    }
    known = [r for r in ratings if image_key(r[1]) in references[r[0]]]
    return RatedCaptions(
        name="COMPOSITE",
        images=[f"{part}/{image_key(image)}" for part, image, _, _ in known],
        captions=[caption for _, _, caption, _ in known],
        references=[references[part][image_key(image)] for part, image, _, _ in known],
        ratings=[[rating] for *_, rating in known],
        protocol=Protocol("tau-c", own="remove"),
        left_out=len(ratings) - len(known),
    )


def _part(name: str, where: str) -> str:
    if name not in _COLLECTION:
        raise InputError(f"{where}: the subset is one of {', '.join(_COLLECTION)}, not '{name}'")
    return name


def _authors(path: Path) -> Iterator[Rating]:
    """The workers' answers: a column holds the image's address, three or four captions and as many
    ratings, separated by semicolons. The last lines of the published files are notes and are passed
    over."""
    part = path.name.partition("_")[0]
    rows = table_cells(decode(read_bytes(path), str(path)), path, ",")
    next(rows, None)
    count = 0
    for line, cells in rows:
        cell = next((c for c in cells if re.search(r"https?://[^;]*;", c)), None)
        if cell is None:
            continue
        fields = re.split(r"https?://", cell, maxsplit=1)[1].rstrip("; ").split(";")
        image, given = fields[0], fields[1:]
        captions = len(given) // 2
        if len(given) % 2 or captions not in (3, 4):
            raise InputError(
                f"{path}, line {line:,}: expected an address, three or four captions and as many ratings "
                "separated by "
                f"semicolons, found {len(given)} fields after the address"
            )
        for caption, rating in zip(given[:captions], given[captions:]):
            count += 1
            yield (
                part,
                image_key(image),
                caption,
                number(rating.strip(), f"{path}, line {line:,}: the rating"),
            )
    if not count:
        raise InputError(f"{path}: no line with an image's address, captions and ratings")
