"""How unusual the tuples of a caption are among those that its image offers (Wang et al. 2020).

The uniqueness of a caption tells where its tuples lie between the most common choice (0) and the most unusual
choice (1) of as many tuples from those of the candidate and the references. It is 1 if there is no choice.
Frequencies come from the references, or from a table of another corpus (:class:`ConceptTable`).
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.core.ragged import IntArray, offsets_of
from captious.core.writing import atomic_write
from captious.corpus import Captions
from captious.corpus.corpus import distinct_runs
from captious.io import pickled
from captious.io.content import check_lines, decode, is_number, loads, read_bytes, read_raw, shown_name
from captious.kernels import kernel
from captious.kernels.types import Float64, Int64, Out
from captious.parser import Parser
from captious.scene.graphs import reference_graphs
from captious.scene.sentence_tuples import Tuple, TupleTable
from captious.text.synonyms import Synonyms
from captious.text.vocabulary import Vocabulary

_FORMAT = "captious-concepts"
_VERSION = 1
_HOW = "build a table from reference captions with: captious concepts build REFS -o FILE"


class ConceptTable:
    """Tuples, and the number of images whose references have them.

    Names of merged synonyms are joined by ``/``.
    """

    label = "table"

    def __init__(self, images: int, counts: dict[Tuple, int], *, joined: bool = False) -> None:
        if images < 1:
            raise InputError("a table of concepts needs at least one image")
        impossible = next((item for item, count in counts.items() if not 0 < count <= images), None)
        if impossible is not None:
            raise InputError(
                f"the concept {impossible} has a count of {counts[impossible]} of {images} images"
            )
        self.images = images
        self.counts = counts
        #: Whether the words of a concept are joined by spaces, so that the tuple has one element.
        self.joined = joined

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
        return 1.0 - self.counts.get(self._key(item), 0) / self.images

    def _key(self, item: Tuple) -> Tuple:
        return (" ".join(item),) if self.joined else item

    def counts_of(self, tuples: TupleTable) -> IntArray:
        """Count the images that have each tuple."""
        return np.array([self.counts.get(self._key(item), 0) for item in tuples.tuples()], np.int64)

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
        header: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "images": self.images}
        header |= {"concepts": len(self.counts), **({"joined": True} if self.joined else {})}
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
            return cls(images, counts, joined=header.get("joined") is True)
        except InputError as error:
            raise InputError(f"{path}: {error}; {_HOW}") from None


FloatArray = NDArray[np.float64]


class JoinedConcepts:
    """Uniqueness of concepts whose words are joined by spaces, as Wang et al. (2020) publish them."""

    label = "dictionary"

    def __init__(self, uniqueness: dict[str, float]) -> None:
        self.by_name = uniqueness
        #: Counts are shares of one image, so that they can be fractions.
        self.images = 1

    def counts_of(self, tuples: TupleTable) -> FloatArray:
        """Return the share of images that have each tuple."""
        return np.array([1.0 - self.by_name.get(" ".join(item), 1.0) for item in tuples.tuples()], np.float64)

    @cached_property
    def digest(self) -> str:
        """Digest of the content, for signatures."""
        import hashlib

        text = "\n".join(f"{name}\t{value!r}" for name, value in sorted(self.by_name.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @classmethod
    def load(cls, path: str | Path, images: int | None = None) -> JoinedConcepts:
        """Read a pickled dictionary of uniqueness or, with the number of images, of counts.

        The pickle is checked first, so that nothing in it is executed.
        """
        name = shown_name(path)
        content = pickled.load(read_raw(path), name, _HOW)
        if not isinstance(content, dict) or not content:
            raise InputError(
                f"{name}: a pickled {type(content).__name__}, not a dictionary of concepts; {_HOW}"
            )
        table: dict[str, float] = {}
        for key, value in content.items():
            joined = " ".join(key) if isinstance(key, tuple) else key
            if not isinstance(joined, str) or not is_number(value) or value < 0:
                raise InputError(
                    f"{name}: {str(key)[:60]!r} → {str(value)[:40]} is not a concept with a number"
                )
            table[joined] = float(value)
        largest = max(table.values())
        if largest > 1.0:
            if images is None:
                raise InputError(
                    f"{name} has counts (up to {largest:,.0f}), and the number of images is not in the file; "
                    f"convert it with: captious concepts import {name} --images N -o FILE"
                )
            if largest > images:
                raise InputError(f"{name}: a concept has {largest:,.0f} of {images:,} images")
            table = {key: 1.0 - value / images for key, value in table.items()}
        return cls(table)


def import_concepts(source: str | Path, output: str | Path, images: int | None) -> ConceptTable:
    """Write a pickled dictionary of counts as a table. Words of a concept stay joined by spaces.

    The table then finds a concept by its words, however they are divided into a tuple.
    """
    name = shown_name(source)
    joined = JoinedConcepts.load(source, images)
    if images is None:
        raise InputError(
            f"{name} has values up to 1, which are uniqueness; pass it as it is: --concepts {name}"
        )
    counts = {(key,): round((1.0 - value) * images) for key, value in joined.by_name.items()}
    table = ConceptTable(images, {item: count for item, count in counts.items() if count}, joined=True)
    if not table.counts:
        raise InputError(f"{name}: no concept occurs in an image; {_HOW}")
    table.save(output)
    return table


def is_pickle(content: bytes) -> bool:
    """Return whether a file begins like a pickled dictionary."""
    return content[:1] == b"\x80" or content[:2] in (b"(d", b"}q", b"cc", b"cn", b"c_")


def read_concepts(path: str | Path) -> ConceptTable | JoinedConcepts:
    """Read a table of concepts, or the dictionary of uniqueness that Wang et al. (2020) publish."""
    if Path(path).is_file() and is_pickle(read_raw(path)[:2]):
        return JoinedConcepts.load(path)
    return ConceptTable.load(path)


class Frequencies(Protocol):
    """Numbers of images that have each tuple."""

    @property
    def images(self) -> int: ...

    def counts_of(self, tuples: TupleTable) -> IntArray | FloatArray: ...


class TupleFrequencies:
    """Numbers of images that have each tuple, counted over the references' scene graphs."""

    def __init__(self, graphs: TupleTable) -> None:
        self.images = len(graphs.offsets) - 1
        self._names = Vocabulary(graphs.names)
        # Three numbers may not fit into 64 bits, so a pair of them is replaced by its place among all pairs.
        pairs = self._joined(graphs.rows[:, 0], graphs.rows[:, 1])
        self._pairs = _distinct(pairs)
        keys = self._joined(np.searchsorted(self._pairs, pairs), graphs.rows[:, 2])
        self._keys = _distinct(keys)
        key_of = np.searchsorted(self._keys, keys)
        image = np.repeat(np.arange(self.images, dtype=np.int64), np.diff(graphs.offsets))
        # An image counts once for a tuple.
        once = _distinct(image * len(self._keys) + key_of) % max(len(self._keys), 1)
        self._counts = np.bincount(once, minlength=len(self._keys))

    def _joined(self, first: NDArray[Any], second: NDArray[np.int32]) -> IntArray:
        joined: IntArray = first.astype(np.int64) * (len(self._names) + 1) + second + 1
        return joined

    def counts_of(self, tuples: TupleTable) -> IntArray:
        """Count the images that have each tuple."""
        numbers = self._names.find(tuples.names)
        # Unknown names become −2. The last element stands for places that a tuple does not have.
        items = np.append(np.where(numbers < 0, -2, numbers), -1)[tuples.rows]
        rows = np.flatnonzero((items > -2).all(axis=1))
        pairs, is_listed = _places(self._pairs, self._joined(items[rows, 0], items[rows, 1]))
        rows = rows[is_listed]
        keys, is_listed = _places(self._keys, self._joined(pairs[is_listed], items[rows, 2]))
        counts = np.zeros(len(items), np.int64)
        counts[rows[is_listed]] = self._counts[keys[is_listed]]
        return counts


def _distinct(values: IntArray) -> IntArray:
    """Return the distinct values in ascending order.

    `np.unique` does the same, but takes ten times as long in newer versions of NumPy.
    """
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def _places(listed: IntArray, wanted: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return the places of values in an ascending list, and which values the list has."""
    places = np.searchsorted(listed, wanted)
    inside = places < len(listed)
    inside[inside] = listed[places[inside]] == wanted[inside]
    return places, inside


def uniqueness(
    candidates: TupleTable, references: TupleTable, image_of: IntArray, frequencies: Frequencies
) -> FloatArray:
    """Return the uniqueness of every candidate, among its tuples and those of its image's references."""
    needed, places = np.unique(image_of, return_inverse=True)
    references = references.take(needed)
    names = Vocabulary(references.names)
    ours = np.append(names.encode(candidates.names), np.int32(-1))[candidates.rows]
    rows = np.concatenate([ours, references.rows])
    first, tuple_of = distinct_runs((rows + 1).reshape(-1), np.arange(0, rows.size + 1, 3, dtype=np.int64))
    distinct = TupleTable(names.words, rows[first], np.array([0, len(first)]))
    values: FloatArray = 1.0 - frequencies.counts_of(distinct) / frequencies.images
    # From here on a tuple is its rank among all tuples, the most common first.
    order = np.argsort(values, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ranks = place[tuple_of]
    result = np.empty(len(candidates.offsets) - 1)
    between(
        *_sets(ranks[: len(ours)], candidates.offsets),
        *_sets(ranks[len(ours) :], references.offsets),
        places.reshape(-1),
        values[order],
        result,
    )
    return result


def _sets(ranks: IntArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct ranks of each run in ascending order, and the offsets of the runs."""
    size, count = int(ranks.max(initial=0)) + 1, len(offsets) - 1
    keys = _distinct(np.repeat(np.arange(count, dtype=np.int64), np.diff(offsets)) * size + ranks)
    return keys % size, offsets_of(np.bincount(keys // size, minlength=count))


@kernel
def between(
    ours: Int64,
    bounds: Int64,
    theirs: Int64,
    their_bounds: Int64,
    image_of: Int64,
    values: Float64,
    result: Out[Float64],
) -> None:
    """Place the sum of our tuples' values between the least and the greatest sum of as many of all tuples.

    Values ascend with the ranks of the tuples, so both lists are in order. Sums start with the least value.
    """
    for c in range(bounds.shape[0] - 1):
        first, last = bounds[c], bounds[c + 1]
        start, end = their_bounds[image_of[c]], their_bounds[image_of[c] + 1]
        number = last - first
        total = number
        a = first
        for b in range(start, end):
            while a < last and ours[a] < theirs[b]:
                a += 1
            if a == last or ours[a] != theirs[b]:
                total += 1
        own, least, most = 0.0, 0.0, 0.0
        a, b = first, start
        for k in range(total):
            if a < last and (b == end or ours[a] <= theirs[b]):
                value = values[ours[a]]
                own += value
                if b < end and ours[a] == theirs[b]:
                    b += 1
                a += 1
            else:
                value = values[theirs[b]]
                b += 1
            if k < number:
                least += value
            if k >= total - number:
                most += value
        # Rounding must not lead below 0 or above 1.
        result[c] = min(1.0, max(0.0, (own - least) / (most - least))) if most > least else 1.0
