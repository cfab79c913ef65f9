"""Match references and predictions by image id, or report why they do not belong together."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from captious.core.container import Grouped
from captious.core.errors import InputError, some
from captious.io.caption_files import BY_PLACE, CaptionFile, CaptionWarning, show


class Aligned(NamedTuple):
    """Images in the order of the references, with references and candidates."""

    ids: list[str]
    references: Sequence[Sequence[str]]
    candidates: Sequence[Sequence[str]]
    #: Number of reference images without a prediction, left out with ``subset=True``.
    left_out: int


def align(references: CaptionFile, predictions: CaptionFile, subset: bool = False) -> Aligned:
    """Match two caption files by image id.

    Every reference image needs a prediction and every prediction a reference image; with `subset` the
    common ones are taken. Files in the wrong role are refused.
    """
    _check_roles(references, predictions)
    _check_places(references, predictions)
    if predictions.ids == references.ids:
        return Aligned(references.ids, references.captions, predictions.captions, 0)
    predictions = _renamed(references, predictions)
    predicted = {image: i for i, image in enumerate(predictions.ids)}
    common = [image in predicted for image in references.ids]
    n_common = sum(common)
    missing = len(references) - n_common
    unknown = len(predictions) - n_common
    if not n_common:
        raise InputError(_nothing_in_common(references, predictions))
    if not subset and (missing or unknown):
        raise InputError(_mismatch(references, predictions, missing, unknown))
    if unknown:
        warnings.warn(
            CaptionWarning(
                f"{predictions.label}: {unknown:,} predicted images are not among the references "
                f"and were left out ({references.label})"
            ),
            stacklevel=2,
        )
    if not missing:
        ids, texts = references.ids, references.captions
    else:
        ids = [image for image, kept in zip(references.ids, common) if kept]
        # One at a time, because captions of a prepared file are read on access.
        texts = [references.captions[i] for i, kept in enumerate(common) if kept]
    return Aligned(ids, texts, _picked(predictions.captions, [predicted[image] for image in ids]), missing)


def _picked(captions: Sequence[Sequence[str]], places: list[int]) -> Sequence[Sequence[str]]:
    if isinstance(captions, Grouped):
        return captions.take(np.array(places, dtype=np.int64))
    return [captions[i] for i in places]


#: File names of COCO: the name of the set, then the image id with leading zeros.
_COCO_FILE = re.compile(r"COCO_[a-z]+\d{4}_0*(\d+)")
_ENDINGS = (
    ".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff",
    ".wav", ".flac", ".mp3", ".ogg", ".mp4", ".avi", ".mkv", ".webm",
)  # fmt: skip


def plain_id(image: str) -> str:
    """Return an id without folder, extension and leading zeros: 42 for
    ``val2014/COCO_val2014_000000000042.jpg``.
    """
    name = re.split(r"[/\\\\]", image)[-1]
    for ending in _ENDINGS:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
            break
    match = _COCO_FILE.fullmatch(name)
    if match:
        return match[1]
    return name.lstrip("0") or "0" if name.isascii() and name.isdecimal() else name


def _renamed(
    references: CaptionFile, predictions: CaptionFile, rule: Callable[[str], str] = plain_id
) -> CaptionFile:
    """Rename the predictions to the ids of the references if one side has file names, the other numbers."""
    if set(references.ids).issuperset(predictions.ids):
        return predictions
    plain = {rule(image): image for image in references.ids}
    own = [rule(image) for image in predictions.ids]
    # Do not rename if two images would get one id.
    if len(plain) < len(references.ids) or len(set(own)) < len(own):
        return predictions
    renamed = [plain.get(name, image) for name, image in zip(own, predictions.ids)]
    return replace(predictions, ids=renamed)


def _check_places(references: CaptionFile, predictions: CaptionFile) -> None:
    """Check that lists without ids are matched only with each other."""
    by_place = [file.format == BY_PLACE for file in (references, predictions)]
    if not any(by_place):
        return
    if not all(by_place):
        raise InputError(
            f"{(references if by_place[0] else predictions).label} is a list of captions without ids, "
            "and the other side has ids; give both as lists in the same order, or both with ids: {id: "
            "caption}"
        )
    if len(references) != len(predictions):
        raise InputError(
            f"{len(references):,} images have references and {len(predictions):,} have predictions; "
            "two lists without ids must be of the same length, in the same order"
        )


def _check_roles(references: CaptionFile, predictions: CaptionFile) -> None:
    both_files = references.path and predictions.path and references.ids == predictions.ids
    if both_files and all(list(a) == list(b) for a, b in zip(references.captions, predictions.captions)):
        raise InputError(
            f"{references.label} and {predictions.label} hold the same captions: the references would be "
            "scored "
            "against themselves; give the references first, then the predictions"
        )
    if predictions.several_stated or not predictions.several:
        return
    single = all(len(captions) == 1 for captions in references.captions)
    most = sum(len(captions) > 1 for captions in predictions.captions) * 2 > len(predictions)
    if single and most and len(references) > 1:
        raise InputError(
            f"{references.label} has one caption per image and {predictions.label} has several: they look "
            "swapped. "
            "Give the references first, then the predictions; if there is only one reference per image "
            "and several predictions, say so (--allow-several, several=True)"
        )


def _mismatch(references: CaptionFile, predictions: CaptionFile, missing: int, unknown: int) -> str:
    parts = []
    if missing:
        predicted = set(predictions.ids)
        which = some(show(image) for image in references.ids if image not in predicted)
        parts.append(
            f"{predictions.label} has no prediction for {missing:,} of the {len(references):,} images "
            f"of {references.label}: {which}"
        )
    if unknown:
        known = set(references.ids)
        which = some(show(image) for image in predictions.ids if image not in known)
        parts.append(
            f"{unknown:,} of the {len(predictions):,} images of {predictions.label} are unknown "
            f"to the references ({references.label}): {which}"
        )
    n_common = len(references) - missing
    return (
        "; ".join(parts)
        + f". To score the {n_common:,} common {'image' if n_common == 1 else 'images'} only: --subset "
        "(subset=True)"
    )


def _nothing_in_common(references: CaptionFile, predictions: CaptionFile) -> str:
    message = (
        f"{references.label} and {predictions.label} have no image in common: the references are for images "
        "such as "
        f"{some(map(show, references.ids[:3]))}, the predictions for images such as "
        f"{some(map(show, predictions.ids[:3]))}"
    )
    # Usually one side has file names (COCO_val2014_000000000042.jpg) and the other numbers.
    numbers = {_last_number(image) for image in references.ids} - {""}
    if numbers & {_last_number(image) for image in predictions.ids}:
        message += "; the numbers in them agree, so write the ids the same way in both files"
    return message


def _number_id(image: str) -> str:
    """Return the last number of an id, or the whole id if it has none."""
    return _last_number(image) or image


#: Rules by which ids of two files are compared, by the names that task files use.
ID_RULES: dict[str, Callable[[str], str]] = {"plain": plain_id, "number": _number_id}


def rename_ids(references: CaptionFile, predictions: CaptionFile, rule: str) -> CaptionFile:
    """Give predictions the ids of the references by a rule of :data:`ID_RULES`.

    Nothing is renamed if two images of one side would get one id.
    """
    return _renamed(references, predictions, ID_RULES[rule])


def _last_number(image: str) -> str:
    numbers = re.findall(r"\d+", image)
    return numbers[-1].lstrip("0") or "0" if numbers else ""
