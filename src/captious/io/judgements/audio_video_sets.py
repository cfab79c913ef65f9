"""Judgements of captions of sounds and videos: AudioCaps-Eval, Clotho-Eval and MSVD-Eval."""

from __future__ import annotations

import re
from collections.abc import Iterator

from captious.core.errors import InputError
from captious.io.caption_files import show
from captious.io.content import is_number
from captious.io.judgements.judged_rows import Row, read_rows
from captious.io.judgements.judged_sets import CaptionPairs, Protocol, RatedCaptions
from captious.io.judgements.set_files import Place, image_key

_PAIR = re.compile(r"(HC|HI|HM|MM)(_\d+)?")
_INSIDE = ("audio", "fense")
_MSVD = ("msvd_eval.jsonl", "msvd-eval.jsonl")
_MSVD_INSIDE = ("video", "msvd")


def _names(sounds: str) -> tuple[str, ...]:
    return (f"{sounds}_eval.jsonl", f"{sounds}_eval.json")


def holds_audiocaps(place: Place) -> bool:
    """Whether the folder has AudioCaps-Eval."""
    return place.holds(_names("audiocaps"), _INSIDE)


def holds_clotho(place: Place) -> bool:
    """Whether the folder has Clotho-Eval."""
    return place.holds(_names("clotho"), _INSIDE)


def holds_msvd(place: Place) -> bool:
    """Whether the folder has MSVD-Eval."""
    return place.holds(_MSVD, _MSVD_INSIDE)


def audiocaps(place: Place) -> CaptionPairs:
    """Return AudioCaps-Eval (Zhou et al. 2022): pairs of captions of sounds with four votes each."""
    return _pairs(place, "audiocaps", "AudioCaps-Eval")


def clotho(place: Place) -> CaptionPairs:
    """Return Clotho-Eval (Zhou et al. 2022): pairs of captions of sounds with four votes each."""
    return _pairs(place, "clotho", "Clotho-Eval")


def _pairs(place: Place, sounds: str, name: str) -> CaptionPairs:
    rows = read_rows(place.need(_names(sounds), "fense", _INSIDE))
    pairs = [(row, *pair) for row in rows for pair in _pairs_of(row)]
    if not pairs:
        raise InputError(f"{name}: no row has a pair ('HC', 'HI', 'HM' or 'MM_1')")
    return CaptionPairs(
        name=name,
        images=[row.name("raw_name", "audio_id") for row, *_ in pairs],
        first=[first for _, _, first, _, _ in pairs],
        second=[second for _, _, _, second, _ in pairs],
        references=[row.texts("references") for row, *_ in pairs],
        votes=[votes for *_, votes in pairs],
        categories=[category for _, category, *_ in pairs],
        protocol=Protocol("accuracy", own="remove", votes="pairs"),
    )


def _pairs_of(row: Row) -> Iterator[tuple[str, str, str, list[int]]]:
    """Yield category, captions and votes. The other fields of a pair name the captions' authors."""
    for key, value in row.values.items():
        match = _PAIR.fullmatch(key)
        if match is None or value is None:
            continue
        if (
            not isinstance(value, list)
            or len(value) not in (5, 6)
            or not all(isinstance(text, str) for text in value[:2])
            or not isinstance(value[-1], list)
            or not value[-1]
            or not all(is_number(vote) and vote in (1, -1, 0) for vote in value[-1])
        ):
            raise InputError(
                f"{row.where}: '{key}' is [caption, caption, author, author, votes of 1, -1 or 0], found "
                f"{show(value, 80)}"
            )
        yield match[1], value[0], value[1], [int(vote) for vote in value[-1]]


def msvd(place: Place) -> RatedCaptions:
    """Return MSVD-Eval (Tong et al. 2024): captions of videos, rated by two people; the mean of aspects."""
    rows = read_rows(place.need(_MSVD, "msvd-eval", _MSVD_INSIDE))
    return RatedCaptions(
        name="MSVD-Eval",
        images=[image_key(row.name("video")) for row in rows],
        captions=[row.text("caption") for row in rows],
        references=[row.texts("references") for row in rows],
        ratings=[_totals(row) for row in rows],
        protocol=Protocol("tau-b", judges="mean", own="keep"),
    )


def _totals(row: Row) -> list[float]:
    """Return the last number of each rater, the mean of the aspects."""
    raters = row.get("scores")
    if not isinstance(raters, list) or not all(
        isinstance(one, list) and one and all(map(is_number, one)) for one in raters
    ) or not raters:  # fmt: skip
        raise InputError(f"{row.where}: 'scores' is a list of numbers per rater, found {show(raters, 80)}")
    return [float(one[-1]) for one in raters]
