"""Merging of the scores of parts of the images. The numbers equal those of scoring all images at once."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from captious.core.errors import InputError, some
from captious.core.ragged import IntArray, offsets_of, runs
from captious.metrics.base import Rows, concatenate
from captious.results.caption_lengths import CaptionLengths
from captious.results.saved_scores import Record, Saved, ScoredCaptions
from captious.results.signatures import Signature

#: Captions per image, the only field of a signature in which parts may differ.
_SIZES = "m"


def merged(
    parts: Sequence[Saved],
    name: str | None = None,
    order: Sequence[str] | None = None,
    *,
    part: bool = False,
) -> Saved:
    """Merge the parts of one system (see :meth:`captious.results.scores.Scores.merge`)."""
    if not parts:
        raise InputError("there is nothing to merge; give the scores of at least one part")
    _check(parts)
    if not part:
        _check_complete(parts)
    rank = _ranks(parts, order)
    joined: dict[tuple[int, ...], Rows] = {}
    records = [_merge(rows, rank, joined) for rows in zip(*(_in_order(part, parts[0]) for part in parts))]
    return Saved(name or parts[0].system, records, _captions(parts, rank), _lengths(parts, rank))


def _lengths(parts: Sequence[Saved], rank: dict[str, int]) -> CaptionLengths | None:
    """Return the lengths of all captions, if every part has them."""
    rows = [(part.captions, part.lengths) for part in parts]
    frames = [
        (own.ids, own.image_offsets) for own, lengths in rows if own is not None and lengths is not None
    ]
    if len(frames) < len(parts):
        return None
    joined = [lengths for _, lengths in rows if lengths is not None]
    picked = _arranged(frames, rank)[2]
    # Parts of one set have the same references.
    means = {lengths.references for lengths in joined}
    words = np.concatenate([lengths.per_caption for lengths in joined])[picked]
    return CaptionLengths(words, means.pop() if len(means) == 1 else math.nan)


def _check(parts: Sequence[Saved]) -> None:
    first = parts[0]
    measures = {record.measure.name for record in first.records}
    for k, part in enumerate(parts[1:], start=2):
        unshared = measures ^ {record.measure.name for record in part.records}
        if unshared:
            raise InputError(
                f"part 1 ({first.system}) and part {k} ({part.system}) were not scored by the same measures: "
                f"{some(sorted(unshared))} in one of them only"
            )
        for a, b in zip(first.records, _in_order(part, first)):
            fields = [row for row in Signature(a.signature).difference(b.signature) if row[0] != _SIZES]
            if fields:
                listed = "; ".join(f"{field}: {here} / {there}" for field, here, there in fields)
                raise InputError(
                    f"{a.measure.name}: part 1 ({first.system}) and part {k} ({part.system}) cannot be "
                    f"merged, they were made differently ({listed})"
                )
    seen: dict[str, int] = {}
    for k, part in enumerate(parts, start=1):
        ids = _ids(part)
        repeated = [image for image in ids if image in seen]
        if repeated:
            raise InputError(
                f"parts {seen[repeated[0]]} and {k} ({part.system}) share images: {some(repeated)}; each "
                "image must be in one part"
            )
        seen.update(dict.fromkeys(ids, k))


def _check_complete(parts: Sequence[Saved]) -> None:
    """Refuse parts that together lack images of the references."""
    fields = [Signature(record.signature).fields for record in parts[0].records]
    # Rows of shards are groups of images. Their own run checked the images.
    if any("groups" in field for field in fields):
        return
    expected = next((int(field["refs"].partition("x")[0]) for field in fields if "refs" in field), 0)
    images = len(dict.fromkeys(itertools.chain.from_iterable(map(_ids, parts))))
    if images < expected:
        raise InputError(
            f"the parts have {images:,} of the {expected:,} images of the references; give the scores of all "
            "parts, or merge these alone: --part (part=True)"
        )


def _ids(part: Saved) -> dict[str, None]:
    """Return all images of the measures of a part."""
    ids = part.captions.ids if part.captions is not None else ()
    return dict.fromkeys(itertools.chain(ids, *(record.ids for record in part.records)))


def _in_order(part: Saved, first: Saved) -> list[Record]:
    """Return the records of a part in the order of the first part."""
    by_name = {record.measure.name: record for record in part.records}
    return [by_name[record.measure.name] for record in first.records]


def _ranks(parts: Sequence[Saved], order: Sequence[str] | None) -> dict[str, int]:
    """Return the position of each image in the merged result."""
    ids = [image for part in parts for image in _ids(part)]
    if order is not None:
        rank = {str(image): k for k, image in enumerate(order)}
        missing = [image for image in ids if image not in rank]
        if missing:
            raise InputError(f"the order lacks images that were scored: {some(missing)}")
        return rank
    placed: dict[str, int] = {}
    for part in parts:
        if part.captions is not None and part.captions.places is not None:
            placed.update(zip(part.captions.ids, part.captions.places.tolist()))
    orders = {part.captions.order if part.captions is not None else None for part in parts}
    if len(orders) == 1 and len(placed) == len(ids):
        return placed
    return {image: k for k, image in enumerate(sorted(ids, key=_natural))}


def _natural(image: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sort key that orders numbers inside text by value: 9 before 10."""
    pieces = re.findall(r"[0-9]+|[^0-9]+", image)
    return [(0, int(piece), "") if piece[0] in "0123456789" else (1, 0, piece) for piece in pieces], image


def _merge(rows: Sequence[Record], rank: dict[str, int], joined: dict[tuple[int, ...], Rows]) -> Record:
    """Merge one measure. Measures that share their statistics in every part still share them afterwards."""
    ids, offsets, picked = _arranged([(row.ids, row.image_offsets) for row in rows], rank)
    key = tuple(id(row.statistics) for row in rows)
    if key not in joined:
        try:
            joined[key] = concatenate([row.statistics for row in rows])[picked]
        except ValueError as error:
            raise InputError(
                f"{rows[0].measure.name}: the tables of the parts do not fit together ({error})"
            ) from error
    return Record(rows[0].measure, joined[key], ids, offsets, _signature(rows), math.nan)


def _arranged(
    frames: Sequence[tuple[tuple[str, ...], IntArray]], rank: dict[str, int]
) -> tuple[tuple[str, ...], IntArray, IntArray]:
    """Return ids and offsets of all images in order, and the indices of their rows in the joined parts."""
    ids = [image for names, _ in frames for image in names]
    counts = np.concatenate([np.diff(offsets) for _, offsets in frames])
    images = np.argsort(np.fromiter((rank[image] for image in ids), np.int64, len(ids)), kind="stable")
    picked, offsets = runs(offsets_of(counts), images)
    return tuple(ids[i] for i in images.tolist()), offsets, picked


def _signature(rows: Sequence[Record]) -> str:
    """Return the signature of the parts, with the range of captions per image over all of them."""
    first = Signature(rows[0].signature)
    if _SIZES not in first.fields:
        return first
    bounds = [int(bound) for row in rows for bound in Signature(row.signature).fields[_SIZES].split("-")]
    low, high = min(bounds), max(bounds)
    return Signature.of(first.name, {**first.fields, _SIZES: str(high) if low == high else f"{low}-{high}"})


def _captions(parts: Sequence[Saved], rank: dict[str, int]) -> ScoredCaptions | None:
    captions = [part.captions for part in parts if part.captions is not None]
    if len(captions) < len(parts):
        return None
    ids, offsets, picked = _arranged([(part.ids, part.image_offsets) for part in captions], rank)
    texts = None
    if all(part.texts is not None for part in captions):
        flat = list(itertools.chain.from_iterable(part.texts or () for part in captions))
        texts = [flat[i] for i in picked.tolist()]
    places = order = None
    if len({part.order for part in captions}) == 1 and all(part.places is not None for part in captions):
        order = captions[0].order
        place_of = dict(_placed(captions))
        places = np.fromiter((place_of[image] for image in ids), np.int64, len(ids))
    return ScoredCaptions(ids, offsets, texts, places, order)


def _placed(captions: Sequence[ScoredCaptions]) -> Iterator[tuple[str, int]]:
    for part in captions:
        if part.places is not None:
            yield from zip(part.ids, part.places.tolist())
