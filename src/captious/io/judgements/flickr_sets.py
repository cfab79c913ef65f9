"""Rated captions of Flickr images: Flickr8k (Hodosh et al. 2013), and COMPOSITE (Aditya et al. 2015)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from captious.core.errors import InputError
from captious.io.content import decode, read_bytes
from captious.io.judgements.judged_rows import number, read_rows, table_cells
from captious.io.judgements.judged_sets import Protocol, RatedCaptions
from captious.io.judgements.set_files import Place, caption_ids, image_key, read_references

_FLICKR8K_INSIDE = ("flickr8k", "Flickr8k_text")


@dataclass(frozen=True)
class _Rated:
    image: str
    caption: str
    ratings: list[float]
    own: bool


def holds_flickr8k(place: Place) -> bool:
    """Whether the folder has judgements of Flickr8k."""
    return place.holds(
        ("ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt", "crowdflower.jsonl"), _FLICKR8K_INSIDE
    )


def expert(place: Place) -> RatedCaptions:
    """Return 5,664 captions with the ratings (1 to 4) of 3 experts; tau-c, as in the SPICE paper.

    Captions that are references of their image are left out, and each rating is a row.
    """
    rows = _flickr8k(place, "ExpertAnnotations.txt", slice(2, 5), "expert.jsonl", "scores")
    return _rated("Flickr8k-Expert", place, rows, Protocol("tau-c", judges="each", own="drop"))


def crowd(place: Place) -> RatedCaptions:
    """Return 47,109 captions with their share of yes votes, without own references; tau-b."""
    return _crowd("Flickr8k-CF", place, "drop")


def crowd_all(place: Place) -> RatedCaptions:
    """Return all 47,830 captions. A caption among its image's references is removed from these instead."""
    return _crowd("Flickr8k-CF-all", place, "remove")


def _crowd(name: str, place: Place, own: str) -> RatedCaptions:
    rows = _flickr8k(place, "CrowdFlowerAnnotations.txt", slice(2, 3), "crowdflower.jsonl", "frac_yes")
    return _rated(name, place, rows, Protocol("tau-b", judges="each", own=own))


def _flickr8k(place: Place, name: str, ratings: slice, ours: str, field: str) -> list[_Rated]:
    """Read the authors' file (image, caption id and ratings, separated by tabs), or else our own."""
    if place.find((name,), _FLICKR8K_INSIDE) is None:
        return [
            _Rated(r.text("image"), r.text("caption"), r.numbers(field), r.flag("own_reference"))
            for r in read_rows(place.need((ours,), "flickr8k", _FLICKR8K_INSIDE))
        ]
    path = place.need((name,), "flickr8k", _FLICKR8K_INSIDE)
    captions = caption_ids(place.need(("Flickr8k.token.txt",), "flickr8k", _FLICKR8K_INSIDE))
    rows = []
    for line, cells in table_cells(decode(read_bytes(path), str(path)), path, "\t", csv.QUOTE_NONE):
        where = f"{path}, line {line:,}"
        if len(cells) < 5:
            raise InputError(f"{where}: {len(cells)} fields instead of 5 (image, caption id, three numbers)")
        if cells[1] not in captions:
            raise InputError(f"{where}: caption {cells[1]} is not in Flickr8k.token.txt")
        own = image_key(cells[1]) == image_key(cells[0])
        rows.append(_Rated(cells[0], captions[cells[1]], [number(c, where) for c in cells[ratings]], own))
    return rows


def _rated(name: str, place: Place, rows: list[_Rated], protocol: Protocol) -> RatedCaptions:
    references = read_references(place, "flickr8k")
    usable = [row for row in rows if image_key(row.image) in references]
    return RatedCaptions(
        name=name,
        images=[image_key(row.image) for row in usable],
        captions=[row.caption for row in usable],
        references=[references[image_key(row.image)] for row in usable],
        ratings=[row.ratings for row in usable],
        own=[row.own for row in usable],
        protocol=protocol,
        left_out=len(rows) - len(usable),
    )


_COMPOSITE_INSIDE = ("composite", "AMT_eval")
_COLLECTION = {"8k": "flickr8k", "30k": "flickr30k", "coco": "coco"}
_COMPOSITE_FILES = tuple(f"{part}_correctness.csv" for part in _COLLECTION)

#: Subset, image, caption and rating.
_Rating = tuple[str, str, str, float]


def holds_composite(place: Place) -> bool:
    """Whether the folder has COMPOSITE."""
    own = place.subfolder("composite")
    return place.holds((*_COMPOSITE_FILES, "composite*.jsonl"), _COMPOSITE_INSIDE) or (
        own.folder.name == "composite" and own.holds(("*.jsonl",))
    )


def composite(place: Place) -> RatedCaptions:
    """Return captions of Flickr8k, Flickr30k and COCO images with their correctness from 1 to 5; tau-c.

    A caption among its image's references is removed from these.
    """
    paths = [
        path for name in _COMPOSITE_FILES if (path := place.find((name,), _COMPOSITE_INSIDE)) is not None
    ]
    if paths:
        ratings = [rating for path in paths for rating in _composite_ratings(path)]
    else:
        path = place.subfolder("composite").need(
            ("composite*.jsonl", "*.jsonl", *_COMPOSITE_FILES), "composite"
        )
        ratings = [
            (_part(r.text("subset"), r.where), r.name("image"), r.text("caption"), r.number("score"))
            for r in read_rows(path)
        ]
    references = {
        part: read_references(place, _COLLECTION[part]) for part in dict.fromkeys(r[0] for r in ratings)
    }
    usable = [r for r in ratings if image_key(r[1]) in references[r[0]]]
    return RatedCaptions(
        name="COMPOSITE",
        images=[f"{part}/{image_key(image)}" for part, image, _, _ in usable],
        captions=[caption for _, _, caption, _ in usable],
        references=[references[part][image_key(image)] for part, image, _, _ in usable],
        ratings=[[rating] for *_, rating in usable],
        protocol=Protocol("tau-c", own="remove"),
        left_out=len(ratings) - len(usable),
    )


def _part(name: str, where: str) -> str:
    if name not in _COLLECTION:
        raise InputError(f"{where}: the subset is one of {', '.join(_COLLECTION)}, not '{name}'")
    return name


def _composite_ratings(path: Path) -> Iterator[_Rating]:
    """Read the authors' files.

    One column holds the image's address, three or four captions and as many ratings, separated by
    semicolons. The notes at the end of the published files are skipped.
    """
    part = path.name.partition("_")[0]
    rows = table_cells(decode(read_bytes(path), str(path)), path, ",")
    next(rows, None)
    count = 0
    for line, cells in rows:
        cell = next((c for c in cells if re.search(r"https?://[^;]*;", c)), None)
        if cell is None:
            continue
        fields = re.split(r"https?://", cell, maxsplit=1)[1].rstrip("; ").split(";")
        image, rest = fields[0], fields[1:]
        captions = len(rest) // 2
        if len(rest) % 2 or captions not in (3, 4):
            raise InputError(
                f"{path}, line {line:,}: expected an address, three or four captions and as many ratings "
                "separated by "
                f"semicolons, found {len(rest)} fields after the address"
            )
        for caption, rating in zip(rest[:captions], rest[captions:]):
            count += 1
            yield (
                part,
                image_key(image),
                caption,
                number(rating.strip(), f"{path}, line {line:,}: the rating"),
            )
    if not count:
        raise InputError(f"{path}: no line with an image's address, captions and ratings")
