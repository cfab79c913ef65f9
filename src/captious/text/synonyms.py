"""WordNet synsets of words, as METEOR's synonym module looks them up.

Two words are synonyms if they share a synset. The synsets of a word are its own and those of its base form:
the listed bases of an irregular form, else the first that WordNet's rules of detachment find.

The lists ship with captious (``data/wordnet``, WordNet 3.0 under its own licence;
``tools/make_synonyms.py`` made them).
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.container import Container, StoredTexts
from captious.core.container import read as read_file
from captious.core.container import write as write_file
from captious.core.memo import cached_property
from captious.core.ragged import offsets_of
from captious.kernels import inner, kernel
from captious.kernels.types import Int32, Int64, Int64x2, Out, UInt8, UInt32
from captious.text.hashing import equal_bytes
from captious.text.meteor_data import MeteorData, find

#: WordNet's detachment rules (ending, replacement) for nouns, verbs and adjectives, in the order they are
#: tried.
_DETACHMENTS = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
    ("ies", "y"),
    ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip

#: The rules as bytes, and the start of each ending and each replacement.
_PARTS = [part.encode() for rule in _DETACHMENTS for part in rule]
_RULES = np.frombuffer(b"".join(_PARTS), np.uint8), offsets_of([len(part) for part in _PARTS])

#: Incremented whenever the layout of the file changes.
VERSION = 2
KIND = "synonyms"

#: METEOR's lists of synsets and of irregular forms, in its jar.
LISTS = ("synonym/english.synsets", "synonym/english.exceptions")

#: Shipped table.
SHIPPED = Path(__file__).parent.parent / "data" / "wordnet" / "synonyms.table"


def _remainders() -> NDArray[np.int64]:
    """Return the table of the CRC-32 checksum."""
    table = np.arange(256, dtype=np.int64)
    for _ in range(8):
        table = np.where(table & 1, 0xEDB88320 ^ (table >> 1), table >> 1)
    return table


_REMAINDERS = _remainders()


class FlatTable(NamedTuple):
    """Large mapping from texts to bytes in five arrays, which can be mapped from a file.

    Entry i has the key ``keys[key_ends[i]:key_ends[i + 1]]``, and its value likewise. Entries are sorted by
    bucket, which the CRC-32 checksum of the key selects: bucket b has ``buckets[b]:buckets[b + 1]``.
    """

    keys: UInt8
    key_ends: UInt32
    values: UInt8
    value_ends: UInt32
    buckets: UInt32

    @classmethod
    def of(cls, table: Mapping[str, bytes]) -> FlatTable:
        """Return the table with these entries."""
        keys, values = [key.encode("utf-8", "surrogatepass") for key in table], list(table.values())
        size = 1 << max(len(keys), 1).bit_length()
        bucket = np.fromiter(map(zlib.crc32, keys), np.int64, len(keys)) & (size - 1)
        order = np.argsort(bucket, kind="stable").tolist()
        keys, values = [keys[i] for i in order], [values[i] for i in order]
        return cls(
            np.frombuffer(b"".join(keys), np.uint8),
            _ends(keys),
            np.frombuffer(b"".join(values), np.uint8),
            _ends(values),
            offsets_of(np.bincount(bucket, minlength=size)).astype(np.uint32),
        )

    def items(self) -> Iterator[tuple[str, bytes]]:
        """Yield keys and values."""
        keys = (part.decode("utf-8", "surrogatepass") for part in _parts(self.keys, self.key_ends))
        return zip(keys, _parts(self.values, self.value_ends))


def _ends(parts: Sequence[bytes]) -> NDArray[np.uint32]:
    return offsets_of([len(part) for part in parts]).astype(np.uint32)


def _parts(joined: NDArray[np.uint8], ends: NDArray[np.uint32]) -> Iterator[bytes]:
    data = joined.tobytes()
    return (data[a:b] for a, b in itertools.pairwise(ends.tolist()))


@inner
def _row_of(text: UInt8, begin: int, end: int, table: FlatTable, remainders: Int64) -> int:
    """Return the entry of a table with a text as its key, or −1."""
    state = 0xFFFFFFFF
    for k in range(begin, end):
        state = remainders[(state ^ np.int64(text[k])) & 0xFF] ^ (state >> 8)
    bucket = (state ^ 0xFFFFFFFF) & (len(table.buckets) - 2)
    for row in range(np.int64(table.buckets[bucket]), np.int64(table.buckets[bucket + 1])):
        first = np.int64(table.key_ends[row])
        size = np.int64(table.key_ends[row + 1]) - first
        if size == end - begin and equal_bytes(table.keys, first, text, begin, size):
            return row
    return -1


@kernel
def _find_rows(
    text: UInt8,
    offsets: Int64,
    synsets: FlatTable,
    bases: FlatTable,
    rules: UInt8,
    rule_ends: Int64,
    remainders: Int64,
    form: Out[UInt8],
    rows: Out[Int64x2],
) -> None:
    """Find the rows of each word and of its base forms in the table of synsets, −1 if there are none.

    ``rules`` are pairs of an ending and its replacement, in the order in which they are tried. ``form`` is
    room for a word.
    """
    for w in range(len(offsets) - 1):
        begin, end = offsets[w], offsets[w + 1]
        rows[w, :] = -1
        rows[w, 0] = _row_of(text, begin, end, synsets, remainders)
        irregular = _row_of(text, begin, end, bases, remainders)
        if irregular >= 0:
            # Base forms are joined by spaces.
            count = 0
            first = last = np.int64(bases.value_ends[irregular])
            while last < np.int64(bases.value_ends[irregular + 1]):
                first = last
                while last < np.int64(bases.value_ends[irregular + 1]) and bases.values[last] != 32:
                    last += 1
                count += 1
                rows[w, count] = _row_of(bases.values, first, last, synsets, remainders)
                last += 1
            continue
        letters = 0
        for k in range(begin, end):
            form[k - begin] = text[k]
            # All bytes but the continuation bytes of UTF-8.
            letters += 1 if text[k] & 0xC0 != 0x80 else 0
        # Words in -ss, and those of two letters, are their own base form.
        if letters <= 2 or (text[end - 1] == 115 and text[end - 2] == 115):
            continue
        for rule in range(0, len(rule_ends) - 1, 2):
            ending, replacement, stop = rule_ends[rule], rule_ends[rule + 1], rule_ends[rule + 2]
            cut = end - begin - (replacement - ending)
            if cut < 0 or not equal_bytes(text, begin + cut, rules, ending, replacement - ending):
                continue
            for k in range(replacement, stop):
                form[cut + k - replacement] = rules[k]
            rows[w, 1] = _row_of(form, 0, cut + stop - replacement, synsets, remainders)
            for k in range(cut, end - begin):
                form[k] = text[begin + k]
            if rows[w, 1] >= 0:
                break


@kernel
def _join_rows(
    rows: Int64x2, values: Int32, value_ends: UInt32, counts: Out[Int64], synsets: Out[Int32]
) -> int:
    """Write the synsets of all rows of each word, ascending and without repeats. Return their number.

    ``counts`` receives the number of each word.
    """
    n = 0
    for w in range(len(rows)):
        begin = n
        for side in range(rows.shape[1]):
            row = rows[w, side]
            if row < 0:
                continue
            for place in range(np.int64(value_ends[row]) // 4, np.int64(value_ends[row + 1]) // 4):
                value = values[place]
                at = n
                while at > begin and synsets[at - 1] > value:
                    at -= 1
                if at > begin and synsets[at - 1] == value:
                    continue
                for k in range(n, at, -1):
                    synsets[k] = synsets[k - 1]
                synsets[at] = value
                n += 1
        counts[w] = n - begin
    return n


class Synonyms:
    """Synsets by word. The words of a phrase are joined with ``_``."""

    label = "wordnet-3.0"

    def __init__(self, synsets: FlatTable, bases: FlatTable, digest: str | None = None) -> None:
        """Values of ``synsets`` are 32-bit numbers, those of ``bases`` base forms joined by spaces.

        ``digest`` is the digest of the content if it is known from a file.
        """
        self._synsets, self._bases, self._digest = synsets, bases, digest

    @classmethod
    def of(cls, synsets: Mapping[str, Sequence[int]], bases: Mapping[str, Sequence[str]]) -> Synonyms:
        """Return a dictionary of synsets by word and base forms by irregular form."""
        numbers = {word: np.array(listed, np.int32).tobytes() for word, listed in synsets.items()}
        forms = {form: " ".join(listed).encode() for form, listed in bases.items()}
        return cls(FlatTable.of(numbers), FlatTable.of(forms))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Synonyms:
        """Return the dictionary with these :attr:`arrays`."""
        synsets, bases = (
            FlatTable(*(np.ascontiguousarray(arrays[prefix + part]) for part in FlatTable._fields))
            for prefix in _PREFIXES
        )
        return cls(synsets, bases, arrays["digest"].tobytes().decode())

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of a file. Mapping them into memory is much faster than reading the lists."""
        tables = zip(_PREFIXES, (self._synsets, self._bases))
        arrays = {prefix + part: array for prefix, table in tables for part, array in table._asdict().items()}
        return {**arrays, "digest": np.frombuffer(self.digest.encode(), np.uint8)}

    @classmethod
    def load(cls, data_dir: str | Path | None = None) -> Synonyms:
        """Return the shipped dictionary, or that of a folder with METEOR's data. It is read once."""
        return shipped() if data_dir is None else _of_meteor(find(data_dir))

    @cached_property
    def digest(self) -> str:
        """Digest of the content."""
        return self._digest if self._digest is not None else self.computed_digest()

    def computed_digest(self) -> str:
        """Compute the digest from the content."""
        listed = sorted(
            f"{word} {' '.join(sorted(f'{number:08}' for number in memoryview(value).cast('i')))}"
            for word, value in self._synsets.items()
        )
        return digest.of_lines(
            [*listed, *sorted(f"{form} {bases.decode()}" for form, bases in self._bases.items())]
        )

    def __len__(self) -> int:
        return len(self._synsets.key_ends) - 1

    @cached_property
    def _most_bases(self) -> int:
        """Largest number of base forms that an irregular form can have."""
        spaces = np.append(0, np.cumsum(self._bases.values == ord(" ")))[self._bases.value_ends]
        return 1 + int(np.diff(spaces).max(initial=0))

    def synset_sets(self, words: Sequence[str]) -> list[frozenset[int]]:
        """Return the synsets of each word and of its base forms."""
        offsets, synsets = self.synsets_of(words)
        numbers = synsets.tolist()
        return [frozenset(numbers[a:b]) for a, b in itertools.pairwise(offsets.tolist())]

    def synsets(self, word: str) -> frozenset[int]:
        """Return the synsets of a word and of its base forms."""
        return self.synset_sets([word])[0]

    def synsets_of(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Look up many words.

        The synsets of word ``w`` are ``synsets[offsets[w]:offsets[w + 1]]``, ascending.
        """
        text, offsets = StoredTexts.of(words).arrays
        form = np.empty(int(np.diff(offsets).max(initial=0)) + 8, np.uint8)
        rows = np.empty((len(words), 1 + self._most_bases), np.int64)
        _find_rows(text, offsets, self._synsets, self._bases, *_RULES, _REMAINDERS, form, rows)
        ends, hits = self._synsets.value_ends, rows[rows >= 0]
        synsets = np.empty(int(np.sum(ends[hits + 1] - ends[hits])) // 4, np.int32)
        counts = np.empty(len(words), np.int64)
        size = int(_join_rows(rows, self._synsets.values.view(np.int32), ends, counts, synsets))
        return offsets_of(counts), synsets[:size]


#: Prefixes of the arrays of synsets and of base forms in a file.
_PREFIXES = ("synsets/", "bases/")


@lru_cache(maxsize=4)
def _of_meteor(data: MeteorData) -> Synonyms:
    """Return the dictionary of METEOR's lists: the shipped one if it was built from the same lists."""
    if all(is_shipped(data, member) for member in LISTS):
        return shipped()
    return read_meteor(data)


def is_shipped(data: MeteorData, member: str) -> bool:
    """Whether the shipped table was built from a list with this content."""
    listed = shipped_lists().get(member)
    return listed is not None and listed["checksum"] == data.checksum(member)


def read_meteor(data: MeteorData) -> Synonyms:
    """Read METEOR's own lists."""
    lines = data.lines(LISTS[0])
    synsets = {
        word: [int(number) for number in numbers.split()] for word, numbers in zip(lines[::2], lines[1::2])
    }
    bases: dict[str, list[str]] = {}
    lines = data.lines(LISTS[1])
    for base, forms in zip(lines[::2], lines[1::2]):
        for form in forms.split():
            bases.setdefault(form, []).append(base)
    return Synonyms.of(synsets, bases)


def write(data: MeteorData, path: Path) -> None:
    """Write the table that :func:`shipped` opens, from METEOR's lists."""
    lists = {member: {"checksum": data.checksum(member), "digest": data.digest(member)} for member in LISTS}
    write_file(path, KIND, VERSION, {"lists": lists}, read_meteor(data).arrays)


@lru_cache(maxsize=1)
def shipped() -> Synonyms:
    """Return the shipped WordNet 3.0, mapped into memory."""
    return Synonyms.from_arrays(_shipped_file().arrays)


def shipped_lists() -> dict[str, dict[str, str]]:
    """Return the checksum and digest of each of METEOR's lists that the shipped table was built from."""
    lists: dict[str, dict[str, str]] = _shipped_file().meta["lists"]
    return lists


@lru_cache(maxsize=1)
def _shipped_file() -> Container:
    opened = read_file(SHIPPED, KIND, VERSION, "reinstall captious")
    # It is part of the package, and a test verifies it.
    opened.arrays.trust()
    return opened
