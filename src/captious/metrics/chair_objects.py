"""Which objects are in an image."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property

from captious.errors import InputError, did_you_mean, some
from captious.metrics.chair_table import ObjectTable


class ImageObjects:
    """Objects by image id; names are classes or synonyms of the table."""

    label = "objects"

    def __init__(self, objects: Mapping[str, Iterable[str]], where: str = "the objects") -> None:
        self.where = where
        self._objects = {str(image): frozenset(names) for image, names in objects.items()}

    def __len__(self) -> int:
        return len(self._objects)

    def classes(self, ids: Iterable[str], table: ObjectTable) -> list[frozenset[str]]:
        """The classes in each image."""
        wanted = list(ids)
        missing = [image for image in wanted if image not in self._objects]
        if missing:
            raise InputError(
                f"{self.where} does not say what is in image {some(missing)}; give the objects of all images "
                "(an empty list where there are none)"
            )
        known: dict[str, str] = {}
        for name in frozenset().union(*(self._objects[image] for image in wanted)):
            kind = table.class_of(name.lower())
            if kind is None:
                raise InputError(
                    f"{self.where}: the object '{name}' is not in the synonym table{did_you_mean(name, table.objects)}; "
                    "give a table that has it (--chair-synonyms)"
                )
            known[name] = kind
        return [frozenset(known[name] for name in self._objects[image]) for image in wanted]

    @cached_property
    def digest(self) -> str:
        """Names the objects of all images."""
        text = json.dumps(sorted((image, sorted(names)) for image, names in self._objects.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:8]
