"""Which rows of a batch can be scored, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.limits import LINE
from captious.io.align import plain_id
from captious.io.caption_files import kind, show
from captious.scale.shard_reading import Bad, Rows


class Checked(NamedTuple):
    """The rows that can be scored: their places in the batch, images and captions; and the bad ones with the
    reason.
    """

    rows: NDArray[np.int64]
    ids: list[str]
    captions: list[str]
    #: Row number in the shard, from 0, and what is wrong.
    bad: list[tuple[int, str]]


class Images:
    """Return the images that have references, by any form of their ids; all if references are not needed."""

    def __init__(self, places: Mapping[str, int] | None) -> None:
        self.places = places
        self._plain: dict[str, str] | None = None

    def known(self, image: str) -> str | None:
        """The id that the references use, or nothing."""
        if self.places is None or image in self.places:
            return image
        if self._plain is None:
            plain = {plain_id(name): name for name in self.places}
            # Two images that would become one are better left apart.
            self._plain = plain if len(plain) == len(self.places) else {}
        return self._plain.get(plain_id(image))


def checked(batch: Rows, images: Images) -> Checked:
    """Sort the rows of a batch. An image without references is a bad row, where references are needed."""
    captions = batch.captions
    limit = LINE.value()
    texts = set(map(type, captions)) == {str} and max(map(len, captions)) <= limit and _is_text(captions)
    if batch.ids is None and images.places is None:
        ids: list[Any] = [str(batch.start + i) for i in range(len(captions))]
    else:
        ids = batch.ids if batch.ids is not None else [None] * len(captions)
    kinds = set(map(type, ids))
    if texts and kinds <= {int} | {str}:
        named = list(map(str, ids)) if kinds == {int} else [str(image).strip() for image in ids]
        if "" not in named and (images.places is None or all(map(images.places.__contains__, named))):
            return Checked(np.arange(len(captions), dtype=np.int64), named, captions, [])
    rows: list[int] = []
    found = Checked(np.zeros(0, np.int64), [], [], [])
    for row, (image, caption) in enumerate(zip(ids, captions)):
        name = _id(image)
        known = images.known(name) if name is not None else None
        why = _wrong_caption(caption, limit)
        if why is None and name is None:
            why = f"the image id is {kind(image)}"
        elif why is None and known is None:
            why = f"image {show(name)} has no references"
        if why is not None:
            found.bad.append((batch.start + row, why))
            continue
        rows.append(row)
        found.ids.append(str(known))
        found.captions.append(caption)
    return found._replace(rows=np.array(rows, dtype=np.int64))


def _id(image: Any) -> str | None:
    """42, "42", 42.0 and NumPy's 42 are all the image "42"."""
    if isinstance(image, str):
        return image.strip() or None if _is_text([image]) else None
    if isinstance(image, Integral) and not isinstance(image, bool):
        return str(int(image))
    if isinstance(image, Real) and not isinstance(image, bool) and float(image).is_integer():
        return str(int(float(image)))
    return None


def _wrong_caption(caption: Any, limit: int) -> str | None:
    if isinstance(caption, Bad):
        return caption.why
    if not isinstance(caption, str):
        return f"the caption is {kind(caption)}; captions are text"
    if len(caption) > limit:
        return f"the caption has more than {limit:,} characters"
    return None if _is_text([caption]) else "the caption holds half a character (a lone surrogate)"


def _is_text(texts: list[str]) -> bool:
    """Whether texts can be written at all: half a surrogate pair cannot."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True
