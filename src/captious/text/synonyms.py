"""WordNet synsets of words, as METEOR's synonym module looks them up.

Two words are synonyms if they share a synset. The synsets of a word are its own and those of its base form:
the listed bases of an irregular form, else the first that WordNet's rules of detachment find.

The lists ship with captious (``data/wordnet``, WordNet 3.0 under its own licence;
``tools/make_synonyms.py`` made them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.container import Container
from captious.core.container import read as read_file
from captious.core.container import write as write_file
from captious.core.memo import cached_property
from captious.core.ragged import offsets_of
from captious.text.flat_table import FlatTable, flat_arrays
from captious.text.meteor_data import MeteorData, find
from captious.text.synset_lookup import REMAINDERS, SINGLE, find_rows, join_rows

#: WordNet's detachment rules (ending, replacement) for nouns, verbs and adjectives, in the order they are
#: tried.
_DETACHMENTS = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
    ("ies", "y"),
    ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip

#: Rules by their last letter, because few words match any.
_BY_LETTER = {letter: tuple(rule for rule in _DETACHMENTS if rule[0].endswith(letter)) for letter in "sndgrt"}

#: Rules for kernels: bytes, and the start of each ending and each replacement.
_PARTS = [part.encode() for rule in _DETACHMENTS for part in rule]
_RULES = np.frombuffer(b"".join(_PARTS), np.uint8), offsets_of([len(part) for part in _PARTS])

#: Incremented whenever the layout of the file changes.
VERSION = 2
KIND = "synonyms"

#: METEOR's lists of synsets and of irregular forms, in its jar.
LISTS = ("synonym/english.synsets", "synonym/english.exceptions")

#: Number of words whose synsets are cached.
_REMEMBERED = 100_000
_NONE: frozenset[int] = frozenset()

#: Shipped table.
SHIPPED = Path(__file__).parent.parent / "data" / "wordnet" / "synonyms.table"


class Synonyms:
    """Synsets by word. The words of a phrase are joined with ``_``."""

    label = "wordnet-3.0"

    def __init__(self, synsets: FlatTable, bases: FlatTable, digest: str | None = None) -> None:
        """Values of ``synsets`` are 32-bit numbers, those of ``bases`` base forms joined by spaces.

        ``digest`` is the digest of the content if it is known from a file.
        """
        self._listed, self._bases, self._digest = synsets, bases, digest
        self._memo: dict[str, frozenset[int]] = {}

    @classmethod
    def of(cls, synsets: Mapping[str, Sequence[int]], bases: Mapping[str, Sequence[str]]) -> Synonyms:
        """Return a dictionary of synsets by word and base forms by irregular form."""
        numbers = {word: np.array(listed, np.int32).tobytes() for word, listed in synsets.items()}
        forms = {form: " ".join(listed).encode() for form, listed in bases.items()}
        return cls(FlatTable(flat_arrays(numbers)), FlatTable(flat_arrays(forms)))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Synonyms:
        """Return the dictionary with these :attr:`arrays`."""
        synsets, bases = (FlatTable(arrays, prefix) for prefix in _PREFIXES)
        return cls(synsets, bases, arrays["digest"].tobytes().decode())

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of a file. Mapping them into memory is much faster than reading the lists."""
        tables = zip(_PREFIXES, (self._listed, self._bases))
        arrays = {prefix + part: array for prefix, table in tables for part, array in table.arrays.items()}
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
            f"{word} {' '.join(sorted(f'{number:08}' for number in _numbers(value)))}"
            for word, value in self._listed.items()
        )
        return digest.of_lines(
            [*listed, *sorted(f"{form} {bases.decode()}" for form, bases in self._bases.items())]
        )

    def __len__(self) -> int:
        return len(self._listed)

    def __contains__(self, word: str) -> bool:
        """Whether the word itself is listed."""
        return word in self._listed

    def listed(self, word: str) -> frozenset[int]:
        """Return the synsets of exactly this form."""
        value = self._listed.find(word)
        return frozenset(_numbers(value)) if value is not None else _NONE

    def base(self, word: str) -> str:
        """Return the base form of a regular form by WordNet's rules, or an empty text."""
        if word.endswith("ss") or len(word) <= 2:
            return word
        for ending, replacement in _BY_LETTER.get(word[-1], ()):
            if word.endswith(ending):
                candidate = word[: -len(ending)] + replacement
                if candidate in self._listed:
                    return candidate
        return ""

    def synsets(self, word: str) -> frozenset[int]:
        """Return the synsets of a word and of its base forms."""
        synsets = self._memo.get(word)
        if synsets is None:
            irregular = self._bases.find(word)
            bases = irregular.decode().split() if irregular is not None else [self.base(word)]
            # Words without synsets share one empty set.
            synsets = self.listed(word).union(*map(self.listed, bases)) or _NONE
            if len(self._memo) >= _REMEMBERED:  # the number of phrases without synsets is unlimited
                self._memo.clear()
            self._memo[word] = synsets
        return synsets

    def synsets_of(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Look up many words.

        The synsets of word ``w`` are ``synsets[offsets[w]:offsets[w + 1]]``, ascending.
        """
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        offsets = offsets_of([len(word) for word in encoded])
        rows = np.empty((len(words), 2), np.int64)
        text, room = (
            np.frombuffer(b"".join(encoded), np.uint8),
            np.empty(int(np.diff(offsets).max(initial=0)) + 8, np.uint8),
        )
        own, bases = self._listed.arrays, self._bases.arrays
        find_rows(
            text, offsets, own["keys"], own["key_ends"], own["buckets"],
            bases["keys"], bases["key_ends"], bases["buckets"], *_RULES, REMAINDERS, room, rows,
        )  # fmt: skip
        ends = own["value_ends"]
        hits = rows[rows >= 0]
        counts, synsets = (
            np.empty(len(words), np.int64),
            np.empty(int(np.sum(ends[hits + 1] - ends[hits])) // 4, np.int32),
        )
        size = int(join_rows(rows, own["values"].view(np.int32), ends, counts, synsets))
        single = np.flatnonzero(rows[:, 0] == SINGLE)
        slow = [sorted(self.synsets(words[w])) for w in single.tolist()]
        # Insert the synsets of words that were looked up one by one.
        flat = np.insert(
            synsets[:size],
            np.repeat(offsets_of(counts)[single], [len(one) for one in slow]),
            [number for one in slow for number in one],
        )
        counts[single] = [len(one) for one in slow]
        return offsets_of(counts), flat.astype(np.int32, copy=False)


#: Prefixes of the arrays of synsets and of base forms in a file.
_PREFIXES = ("synsets/", "bases/")


def _numbers(value: bytes) -> list[int]:
    return memoryview(value).cast("i").tolist()


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
