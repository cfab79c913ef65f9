"""Ground truth given as concepts: tuples, objects, or scene graphs of Visual Genome, in place of captions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from captious.core.errors import InputError, some
from captious.core.memo import cached_property
from captious.io.content import read_json_or_lines, shown_name
from captious.io.object_files import objects_of
from captious.scene.graphs import SceneGraphs
from captious.scene.sentence_tuples import Tuple
from captious.text.synonyms import Synonyms

_SHAPES = (
    'rows of {"image_id": …, "tuples": [["dog"], ["dog", "brown"], ["dog", "on", "grass"]]}, '
    "objects per image, COCO instances, or scene graphs of Visual Genome"
)


class ConceptTruth:
    """Tuples of each image. Synonyms are merged as in scene graphs of captions."""

    label = "concepts"

    def __init__(self, tuples: Mapping[str, Iterable[Tuple]]) -> None:
        self.tuples = {str(image): tuple(dict.fromkeys(items)) for image, items in tuples.items()}
        for image, items in self.tuples.items():
            if not all(1 <= len(item) <= 3 and all(item) for item in items):
                raise InputError(f"image {image}: a tuple has one to three words; expected {_SHAPES}")
        self._graphs: dict[tuple[str, ...], SceneGraphs] = {}

    @classmethod
    def read(cls, source: ConceptTruth | str | Path | Mapping[str, Iterable[Tuple]]) -> ConceptTruth:
        """Read concepts from a file (JSON or lines of JSON, also gzip), or take them as they are."""
        if isinstance(source, ConceptTruth):
            return source
        if isinstance(source, Mapping):
            return cls(source)
        content = read_json_or_lines(source, f"concepts are {_SHAPES}")
        return cls(_tuples_of(content, shown_name(source)))

    @cached_property
    def digest(self) -> str:
        """Digest of the content, for signatures."""
        rows = json.dumps(sorted((image, items) for image, items in self.tuples.items()))
        return hashlib.sha256(rows.encode()).hexdigest()[:8]

    @cached_property
    def only_objects(self) -> bool:
        """Whether no image has an attribute or a relation, so that those of captions cannot be judged."""
        return all(len(item) == 1 for items in self.tuples.values() for item in items)

    def graphs(self, ids: Sequence[str], synonyms: Synonyms) -> SceneGraphs:
        """Return one graph per image."""
        missing = [image for image in ids if image not in self.tuples]
        if missing:
            raise InputError(f"{len(missing):,} of {len(ids):,} images have no concepts ({some(missing)})")
        key = (synonyms.digest, *ids)
        if key not in self._graphs:
            # One set of images at a time: the others would only fill memory.
            self._graphs = {key: SceneGraphs.from_tuples([self.tuples[image] for image in ids], synonyms)}
        return self._graphs[key]


def _tuples_of(content: Any, where: str) -> dict[str, list[Tuple]]:
    rows = [content] if isinstance(content, dict) and "image_id" in content else content
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        if any("tuples" in row for row in rows):
            return {_image(row, where): _listed(row, where) for row in rows}
        if any(_is_visual_genome(row) for row in rows):
            return {_image(row, where): _visual_genome(row, where) for row in rows}
    objects = objects_of(content, where)
    return {image: [(name.lower(),) for name in sorted(names)] for image, names in objects.items()}


def _image(row: dict[str, Any], where: str) -> str:
    image = row.get("image_id", row.get("id"))
    if not isinstance(image, str | int):
        raise InputError(f"{where}: a row has no image_id: {str(row)[:80]}; concepts are {_SHAPES}")
    return str(image)


def _listed(row: dict[str, Any], where: str) -> list[Tuple]:
    tuples = row.get("tuples")
    if not isinstance(tuples, list) or not all(
        isinstance(item, list) and all(isinstance(word, str) for word in item) for item in tuples
    ):
        raise InputError(f"{where}, image {_image(row, where)}: concepts are {_SHAPES}")
    return [tuple(word.lower() for word in item) for item in tuples]


def _is_visual_genome(row: dict[str, Any]) -> bool:
    lists = [row.get(key) for key in ("objects", "attributes", "relationships")]
    parts = [part for listed in lists if isinstance(listed, list) for part in listed]
    return bool(parts) and all(isinstance(part, dict) for part in parts)


def _visual_genome(row: dict[str, Any], where: str) -> list[Tuple]:
    """Return the tuples of one row of Visual Genome's scene graphs, objects, attributes or relationships."""
    tuples: list[Tuple] = []
    names: dict[Any, str] = {}
    try:
        for part in [*(row.get("objects") or []), *(row.get("attributes") or [])]:
            name = names[part.get("object_id", id(part))] = _name(part)
            tuples.append((name,))
            tuples += [(name, word.strip().lower()) for word in part.get("attributes") or [] if word.strip()]
        for part in row.get("relationships") or []:
            ends = [
                _name(part[end]) if isinstance(part.get(end), dict) else names[part[f"{end}_id"]]
                for end in ("subject", "object")
            ]
            tuples += [(end,) for end in ends]
            predicate = part["predicate"].strip().lower()
            if predicate:
                tuples.append((ends[0], predicate, ends[1]))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(
            f"{where}, image {_image(row, where)}: not a scene graph of Visual Genome ({error!r})"
        ) from None
    return tuples


def _name(part: dict[str, Any]) -> str:
    name: str = part["name"] if "name" in part else part["names"][0]
    return name.strip().lower()
