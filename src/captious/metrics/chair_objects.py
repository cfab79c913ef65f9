"""Which objects are in an image."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain

import numpy as np

from captious.errors import InputError, did_you_mean, some
from captious.io.align import plain_id
from captious.metrics.chair_table import ObjectTable
from captious.ragged import IntArray, offsets_of


class ImageObjects:
    """Objects by image id; names are classes or synonyms of the table."""

    label = "objects"

    def __init__(self, objects: Mapping[str, Iterable[str]], where: str = "the objects") -> None:
        self.where = where
        self._objects = {str(image): frozenset(names) for image, names in objects.items()}

    def __len__(self) -> int:
        return len(self._objects)

    def kinds(self, ids: Iterable[str], table: ObjectTable) -> tuple[IntArray, IntArray]:
        """Where each image's objects start, and their classes by the table's numbers."""
        wanted = list(ids)
        if not all(image in self._objects for image in wanted):
            # The objects may go by the number of the image where the captions name its file, or the other way round.
            plain = {plain_id(image): image for image in self._objects}
            if len(plain) == len(self._objects):
                wanted = [image if image in self._objects else plain.get(plain_id(image), image) for image in wanted]
        missing = [image for image in wanted if image not in self._objects]
        if missing:
            raise InputError(
                f"{self.where} does not say what is in image {some(missing)}; give the objects of all images "
                "(an empty list where there are none)"
            )
        known: dict[str, int] = {}
        number = {kind: place for place, kind in enumerate(table.kinds)}
        own = [self._objects[image] for image in wanted]
        for name in frozenset().union(*own):
            kind = table.class_of(name.lower())
            if kind is None:
                raise InputError(
                    f"{self.where}: the object '{name}' is not in the synonym table{did_you_mean(name, table.objects)}; "
                    "give a table that has it (--chair-synonyms)"
                )
            known[name] = number[kind]
        flat = list(map(known.__getitem__, chain.from_iterable(own)))
        return offsets_of(list(map(len, own))), np.array(flat, dtype=np.int64)

    @cached_property
    def digest(self) -> str:
        """Names the objects of all images."""
        text = json.dumps(sorted((image, sorted(names)) for image, names in self._objects.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:8]
