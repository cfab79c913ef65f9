"""How many images of a reference corpus have each tuple: what SPICE-U measures uniqueness by."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from captious.cache import atomic_write
from captious.errors import InputError
from captious.io.content import decode, read_bytes
from captious.scene.rules import Tuple

_FORMAT = "captious-concepts"
_VERSION = 1
_HOW = "'captious concepts build REFS -o FILE' makes a table from reference captions"


class ConceptTable:
    """Tuples (with the names of merged synonyms joined by ``/``) and in how many images' references they are."""

    label = "table"

    def __init__(self, images: int, counts: dict[Tuple, int]) -> None:
        if images < 1:
            raise InputError("a table of concepts needs at least one image")
        wrong = next((item for item, count in counts.items() if not 0 < count <= images), None)
        if wrong is not None:
            raise InputError(f"the concept {wrong} is said to be in {counts[wrong]} of {images} images")
        self.images = images
        self.counts = counts

    @classmethod
    def of(cls, images: Iterable[Iterable[Tuple]]) -> ConceptTable:
        """Count over images, each given by its tuples."""
        counts: Counter[Tuple] = Counter()
        number = 0
        for tuples in images:
            counts.update(set(tuples))
            number += 1
        return cls(number, dict(counts))

    def uniqueness(self, item: Tuple) -> float:
        """The share of images without it: 1 for what was never seen."""
        return 1.0 - self.counts.get(item, 0) / self.images

    @cached_property
    def digest(self) -> str:
        """A short name for the content, for signatures."""
        import hashlib

        text = "\n".join(f"{count}\t" + "\t".join(item) for item, count in sorted(self.counts.items()))
        return hashlib.sha256(f"{self.images}\n{text}".encode()).hexdigest()[:8]

    def save(self, path: str | Path) -> None:
        """Write the table: a line that says what it is, then count and tuple separated by tabs; compressed with gzip."""
        header = {"format": _FORMAT, "version": _VERSION, "images": self.images, "concepts": len(self.counts)}
        lines = [json.dumps(header)]
        lines += ["\t".join((str(count), *item)) for item, count in sorted(self.counts.items())]
        with atomic_write(path) as temporary:
            temporary.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 6, mtime=0))

    @classmethod
    def load(cls, path: str | Path) -> ConceptTable:
        """Read a table, and check it."""
        lines = decode(read_bytes(Path(path)), str(path)).split("\n")
        try:
            header = json.loads(lines[0])
            images, number = int(header["images"]), int(header["concepts"])
            known = header["format"] == _FORMAT
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise InputError(f"{path} is not a table of concepts; {_HOW}")
        if header.get("version") != _VERSION:
            raise InputError(f"{path} is a table of concepts of version {header.get('version')}, this reads {_VERSION}; {_HOW}")
        counts: dict[Tuple, int] = {}
        for line, text in enumerate(lines[1:], start=2):
            if not text:
                continue
            count, *item = text.split("\t")
            if not count.isdecimal() or not 1 <= len(item) <= 3:
                raise InputError(f"{path}, line {line}: expected a count and one to three words, found {text[:80]!r}")
            counts[tuple(item)] = int(count)
        if len(counts) != number:
            raise InputError(f"{path}: {number} concepts were announced and {len(counts)} found: the file is damaged; {_HOW}")
        try:
            return cls(images, counts)
        except InputError as error:
            raise InputError(f"{path}: {error}; {_HOW}") from None
