"""Boxes of objects, drawn over the pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from captious.io.id_matching import plain_id
from captious.io.object_files import read_boxes
from captious.reporting.thumbnails import Thumbnails

#: Boxes of an image that are drawn, the largest first.
SHOWN = 40


def boxes(objects: Any, ids: Sequence[str], thumbnails: Thumbnails | None) -> list[Any] | None:
    """Return for each image width, height (None if unknown) and rows of name, x, y, width, height.

    ``objects`` is the path of the objects' file. None if it has no boxes.
    """
    if not isinstance(objects, str | os.PathLike):
        return None
    by_image = read_boxes(os.fspath(objects))
    if not by_image:
        return None
    plain = {plain_id(image): own for image, own in by_image.items()}
    out: list[Any] = []
    for row, image in enumerate(ids):
        own = by_image.get(image) or plain.get(plain_id(image))
        if own is None or not own.boxes:
            out.append(None)
            continue
        size = own.size or (thumbnails.sizes[row] if thumbnails is not None else None) or (None, None)
        largest = sorted(own.boxes, key=lambda box: -box[3] * box[4])[:SHOWN]
        out.append([*size, [[name, *(round(number, 1) for number in box)] for name, *box in largest]])
    return out
