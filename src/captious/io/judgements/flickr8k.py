"""Flickr8k (Hodosh et al. 2013): three experts' ratings 1 to 4, and the share of a crowd that said yes."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from captious.core.errors import InputError
from captious.io.content import decode, read_bytes
from captious.io.judgements.data_places import Place
from captious.io.judgements.judged_rows import number, read_rows, table_cells
from captious.io.judgements.judged_sets import Protocol, RatedCaptions
from captious.io.judgements.reference_captions import caption_ids, image_key, read_references

_INSIDE = ("flickr8k", "Flickr8k_text")


@dataclass(frozen=True)
class _Rated:
    image: str
    caption: str
    ratings: list[float]
    own: bool


def holds(place: Place) -> bool:
    """Whether the folder has judgements of Flickr8k."""
    return place.holds(("ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt", "crowdflower.jsonl"), _INSIDE)


def expert(place: Place) -> RatedCaptions:
    """5,664 captions × 3 experts: own references left out, one row for each expert, tau-c (as in the
    SPICE paper)."""
    path = place.find(("ExpertAnnotations.txt",), _INSIDE)
    if path is not None:
        rows = _authors(place, path.name, ratings=slice(2, 5))
    else:
        path = place.need(("expert.jsonl",), "flickr8k", _INSIDE)
        rows = [
            _Rated(r.text("image"), r.text("caption"), r.numbers("scores"), r.flag("own_reference"))
            for r in read_rows(path)
        ]
    return _set("Flickr8k-Expert", place, rows, Protocol("tau-c", judges="each", own="drop"))


def crowd(place: Place) -> RatedCaptions:
    """47,109 captions with the share of yes votes: own references left out, tau-b."""
    return _crowd("Flickr8k-CF", place, "drop")


def crowd_all(place: Place) -> RatedCaptions:
    """All 47,830 captions: one that is among its image's references is taken out of these instead."""
    return _crowd("Flickr8k-CF-all", place, "remove")


def _crowd(name: str, place: Place, own: str) -> RatedCaptions:
    path = place.find(("CrowdFlowerAnnotations.txt",), _INSIDE)
    if path is not None:
        rows = _authors(place, path.name, ratings=slice(2, 3))
    else:
        path = place.need(("crowdflower.jsonl",), "flickr8k", _INSIDE)
        rows = [
            _Rated(r.text("image"), r.text("caption"), r.numbers("frac_yes"), r.flag("own_reference"))
            for r in read_rows(path)
        ]
    return _set(name, place, rows, Protocol("tau-b", judges="each", own=own))


def _authors(place: Place, name: str, ratings: slice) -> list[_Rated]:
    """Rows of the authors' files: image, caption id and ratings, separated by tabs."""
    path = place.need((name,), "flickr8k", _INSIDE)
    captions = caption_ids(place.need(("Flickr8k.token.txt",), "flickr8k", _INSIDE))
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


def _set(name: str, place: Place, rows: list[_Rated], protocol: Protocol) -> RatedCaptions:
    references = read_references(place, "flickr8k")
    known = [row for row in rows if image_key(row.image) in references]
    return RatedCaptions(
        name=name,
        images=[image_key(row.image) for row in known],
        captions=[row.caption for row in known],
        references=[references[image_key(row.image)] for row in known],
        ratings=[row.ratings for row in known],
        own=[row.own for row in known],
        protocol=protocol,
        left_out=len(rows) - len(known),
    )
