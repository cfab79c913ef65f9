"""Small copies of pictures inside the page, within a given size. Needs Pillow."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from captious.core.errors import require
from captious.core.progress import track
from captious.core.threads import side_by_side
from captious.io import CaptionWarning

#: Default size of all thumbnails of a page, in megabytes.
MEGABYTES = 20.0
#: Longest sides in pixels, largest first. The page gets the first that fits.
SIDES = (480, 384, 320, 256, 192, 128, 96, 64)
#: Pictures that are tried to estimate the size of all.
_TRIED = 24
_QUALITY = 72
#: Larger pictures are not decoded.
_PIXELS = 80_000_000
#: Tag of EXIF whose values from 5 on mean that width and height are swapped.
_ORIENTATION = 274


class Thumbnails(NamedTuple):
    """Thumbnails as ``data:`` addresses (None without one), and width and height of the pictures."""

    addresses: list[str | None]
    sizes: list[tuple[int, int] | None]
    side: int


def is_available() -> bool:
    """Return whether Pillow is installed."""
    try:
        require("PIL.Image", "pictures", "thumbnails")
    except ImportError:
        return False
    return True


def embed(paths: Sequence[Path | None], megabytes: float = MEGABYTES) -> Thumbnails | None:
    """Return thumbnails of all pictures, as large as the size allows, or None if the smallest are too large.

    Pictures that cannot be read get none, with a warning.
    """
    budget = megabytes * 1e6
    present = [path for path in paths if path is not None]
    step = max(1, len(present) // _TRIED)
    tried = present[::step][:_TRIED]
    sides = list(SIDES)
    while sides:
        side = sides.pop(0)
        sizes = [len(made[0]) for path in tried if (made := _thumbnail(path, side)) is not None]
        if sizes and sum(sizes) / len(sizes) * len(present) * 4 / 3 > budget and sides:
            continue
        made_all = _all(paths, side)
        total = sum(len(made[0]) * 4 / 3 for made in made_all if made is not None)
        if total <= budget:
            return _described(paths, made_all, side)
    return None


def _all(paths: Sequence[Path | None], side: int) -> list[Any]:
    def make(path: Path | None) -> Any:
        return None if path is None else _thumbnail(path, side)

    return list(track(list(side_by_side(make, paths)), "embedding pictures"))


def _described(paths: Sequence[Path | None], made: Sequence[Any], side: int) -> Thumbnails:
    broken = [path for path, one in zip(paths, made) if path is not None and one is None]
    if broken:
        warnings.warn(
            CaptionWarning(
                f"{len(broken):,} picture{'s' if len(broken) != 1 else ''} cannot be read and "
                f"{'are' if len(broken) != 1 else 'is'} not shown (the first is {broken[0].name})"
            ),
            stacklevel=2,
        )
    addresses = [
        None if one is None else f"data:image/{one[1]};base64,{base64.b64encode(one[0]).decode('ascii')}"
        for one in made
    ]
    return Thumbnails(addresses, [None if one is None else one[2] for one in made], side)


def _thumbnail(path: Path, side: int) -> tuple[bytes, str, tuple[int, int]] | None:
    """Return the bytes of a thumbnail, its kind, and the size of the picture. None if it cannot be read."""
    images, ops = (require(f"PIL.{name}", "pictures", "thumbnails") for name in ("Image", "ImageOps"))
    try:
        with images.open(path) as image:
            width, height = image.size
            if width * height > _PIXELS:
                return None
            if image.getexif().get(_ORIENTATION, 1) >= 5:
                width, height = height, width
            # JPEG files are decoded at a fraction of their size.
            image.draft("RGB", (2 * side, 2 * side))
            picture = ops.exif_transpose(image).convert("RGB")
            picture.thumbnail((side, side))
            out = io.BytesIO()
            # The copy has no metadata, such as the place where the picture was taken.
            picture.save(out, "JPEG", quality=_QUALITY, optimize=True)
    except (OSError, ValueError, SyntaxError, images.DecompressionBombError):
        return None
    return out.getvalue(), "jpeg", (width, height)
