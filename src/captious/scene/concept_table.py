"""Numbers of images of a reference corpus that have each tuple. SPICE-U measures uniqueness by them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.core.writing import atomic_write
from captious.corpus import Captions
from captious.io.content import check_lines, decode, loads, read_bytes, shown_name
from captious.parser import Parser
from captious.scene.build import reference_graphs
from captious.scene.tuple_table import Tuple, TupleTable
from captious.text.synonyms import Synonyms

_FORMAT = "captious-concepts"
_VERSION = 1
_HOW = "build a table from reference captions with: captious concepts build REFS -o FILE"


class ConceptTable:
    """Tuples, and the number of images whose references have them.

    Names of merged synonyms are joined by ``/``.
    """

    label = "table"

    def __init__(self, images: int, counts: dict[Tuple, int]) -> None:
        if images < 1:
            raise InputError("a table of concepts needs at least one image")
        impossible = next((item for item, count in counts.items() if not 0 < count <= images), None)
        if impossible is not None:
            raise InputError(
                f"the concept {impossible} has a count of {counts[impossible]} of {images} images"
            )
        self.images = images
        self.counts = counts

    @classmethod
    def of(cls, images: Iterable[Iterable[Tuple]]) -> ConceptTable:
        """Count the images that have each tuple; an image is an iterable of its tuples."""
        counts: Counter[Tuple] = Counter()
        number = 0
        for tuples in images:
            counts.update(set(tuples))
            number += 1
        return cls(number, dict(counts))

    @classmethod
    def build(cls, references: Captions, parser: Parser, synonyms: Synonyms) -> ConceptTable:
        """Count the images whose references have each tuple."""
        return cls.of(graph.tuples for graph in reference_graphs(references, parser, synonyms))

    def most_frequent(self, number: int) -> list[tuple[Tuple, int]]:
        """Return the tuples that most images have, with the number of images."""
        return sorted(self.counts.items(), key=lambda entry: (-entry[1], entry[0]))[:number]

    def uniqueness(self, item: Tuple) -> float:
        """Share of images without the tuple: 1 for an unknown one."""
        return 1.0 - self.counts.get(item, 0) / self.images

    def counts_of(self, tuples: TupleTable) -> IntArray:
        """Count the images that have each tuple."""
        return np.array([self.counts.get(item, 0) for item in tuples.tuples()], np.int64)

    @cached_property
    def digest(self) -> str:
        """Digest of the content, for signatures."""
        import hashlib

        text = "\n".join(f"{count}\t" + "\t".join(item) for item, count in sorted(self.counts.items()))
        return hashlib.sha256(f"{self.images}\n{text}".encode()).hexdigest()[:8]

    def save(self, path: str | Path) -> None:
        """Write the table, compressed with gzip.

        The first line is a header in JSON. Each other line has a count and the words of a tuple, separated by
        tabs.
        """
        header = {"format": _FORMAT, "version": _VERSION, "images": self.images, "concepts": len(self.counts)}
        lines = [json.dumps(header)]
        lines += ["\t".join((str(count), *item)) for item, count in sorted(self.counts.items())]
        with atomic_write(path) as temporary:
            temporary.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 6, mtime=0))

    @classmethod
    def load(cls, path: str | Path) -> ConceptTable:
        """Read and check a table."""
        name = shown_name(path)
        lines = decode(read_bytes(path), name).split("\n")
        check_lines(lines, name)
        try:
            header = loads(lines[0], name)
            images, number = int(header["images"]), int(header["concepts"])
            is_table = header["format"] == _FORMAT
        except (ValueError, KeyError, TypeError):
            is_table = False
        if not is_table:
            raise InputError(f"{path} is not a table of concepts; {_HOW}")
        if header.get("version") != _VERSION:
            raise InputError(
                f"{path} is a table of concepts of version {header.get('version')}, but this captious reads "
                f"version {_VERSION}; {_HOW}"
            )
        counts: dict[Tuple, int] = {}
        for line, text in enumerate(lines[1:], start=2):
            if not text:
                continue
            count, *item = text.split("\t")
            if not count.isdecimal() or len(count) > 15 or not 1 <= len(item) <= 3:
                raise InputError(
                    f"{path}, line {line}: expected a count and one to three words, found {text[:80]!r}"
                )
            if tuple(item) in counts:
                raise InputError(f"{path}, line {line}: {', '.join(item)!r} is listed twice; {_HOW}")
            counts[tuple(item)] = int(count)
        if len(counts) != number:
            raise InputError(
                f"{path} is damaged: its header announces {number} concepts, but it has {len(counts)}; {_HOW}"
            )
        try:
            return cls(images, counts)
        except InputError as error:
            raise InputError(f"{path}: {error}; {_HOW}") from None
