"""Which words can mean the same: WordNet synsets as METEOR's synonym module looks them up.

Two words are synonyms when their synset sets meet. The set of a word is the union of its own synsets with those of its
base form: the listed bases of an irregular form, else what WordNet's rules of detachment find first.

The lists ship with captious (``data/wordnet``, WordNet 3.0 under its own licence; ``tools/make_synonyms.py`` made them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious import digest
from captious.cache import atomic_write, content_digest, derived
from captious.container import open_kept
from captious.container import write as write_file
from captious.ragged import offsets_of
from captious.text.flat import FlatTable, flat_arrays
from captious.text.meteor_data import MeteorData, find
from captious.text.synset_lookup import REMAINDERS, SINGLE, find_rows, join_rows

#: WordNet's detachment rules (ending, replacement) for nouns, verbs and adjectives, in the order they are tried.
_DETACHMENTS = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip

#: The same by their last letters: most words have none of them.
_BY_LETTER = {letter: tuple(rule for rule in _DETACHMENTS if rule[0].endswith(letter)) for letter in "sndgrt"}

#: The same for kernels: bytes, and where each ending and each replacement begins.
_PARTS = [part.encode() for rule in _DETACHMENTS for part in rule]
_RULES = np.frombuffer(b"".join(_PARTS), np.uint8), offsets_of([len(part) for part in _PARTS])

#: Raised whenever the layout of kept dictionaries changes.
VERSION = 1
KIND = "synonyms"

#: Words whose synsets are remembered.
_REMEMBERED = 100_000
_NONE: frozenset[int] = frozenset()

#: The table that ships with captious.
SHIPPED = Path(__file__).parent.parent / "data" / "wordnet" / "synonyms.npz"


class Synonyms:
    """Synset lookup by word; a phrase is written with ``_`` between its words."""

    label = "wordnet-3.0"

    def __init__(
        self, synsets: Mapping[str, Sequence[int]], bases: Mapping[str, list[str]], digest: str | None = None
    ) -> None:
        """``digest`` is given where the content was named before: by whoever wrote it into a file."""
        self._listed = synsets
        #: The synsets of a word, or nothing; an error for each word that is not there would be slow.
        self._find = synsets.find if isinstance(synsets, _Synsets) else synsets.get
        self._bases = bases
        self._memo: dict[str, frozenset[int]] = {}
        self._digest = digest

    @classmethod
    def load(cls, data_dir: str | Path | None = None) -> Synonyms:
        """The dictionary that ships with captious; or the one in a folder with METEOR's data. Read once."""
        return shipped() if data_dir is None else _of_meteor(find(data_dir))

    @cached_property
    def digest(self) -> str:
        """Names the content."""
        return self._digest if self._digest is not None else self.computed_digest()

    def computed_digest(self) -> str:
        """The same from the content itself."""
        listed = sorted(
            f"{word} {' '.join(sorted(f'{number:08}' for number in numbers))}" for word, numbers in self._listed.items()
        )
        return digest.of_lines([*listed, *sorted(f"{form} {' '.join(bases)}" for form, bases in self._bases.items())])

    def __len__(self) -> int:
        return len(self._listed)

    def __contains__(self, word: str) -> bool:
        """Whether the word itself is listed."""
        return word in self._listed

    def listed(self, word: str) -> frozenset[int]:
        """The synsets of exactly this form."""
        numbers = self._find(word)
        return frozenset(numbers) if numbers is not None else _NONE

    def base(self, word: str) -> str:
        """The base form that WordNet's rules find for a regular form, or nothing."""
        if word.endswith("ss") or len(word) <= 2:
            return word
        for ending, replacement in _BY_LETTER.get(word[-1], ()):
            if word.endswith(ending):
                candidate = word[: -len(ending)] + replacement
                if candidate in self._listed:
                    return candidate
        return ""

    def synsets(self, word: str) -> frozenset[int]:
        """The synsets of a word and of its base forms."""
        known = self._memo.get(word)
        if known is None:
            bases = self._bases[word] if word in self._bases else (self.base(word),)
            known = self.listed(word).union(*map(self.listed, bases))
            if len(self._memo) >= _REMEMBERED:  # phrases without synsets have no end
                self._memo.clear()
            self._memo[word] = known
        return known


    def synsets_of(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The same for many words: those of word ``w`` are ``synsets[offsets[w]:offsets[w + 1]]``, ascending."""
        form = find_rows.pick(500.0 * len(words))
        if form is find_rows.plain or not isinstance(self._listed, _Synsets) or not isinstance(self._bases, _Bases):
            return _ragged([sorted(self.synsets(word)) for word in words])
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        offsets = offsets_of([len(word) for word in encoded])
        rows = np.empty((len(words), 2), np.int64)
        text, room = np.frombuffer(b"".join(encoded), np.uint8), np.empty(int(np.diff(offsets).max(initial=0)) + 8, np.uint8)
        own, bases = self._listed.table, self._bases.table
        tables = [table.array(part) for table in (own, bases) for part in ("keys", "key_ends", "buckets")]
        form(text, offsets, *tables, *_RULES, REMAINDERS, room, rows)
        ends = own.array("value_ends")
        known = rows[rows >= 0]
        counts, synsets = np.empty(len(words), np.int64), np.empty(int(np.sum(ends[known + 1] - ends[known])) // 4, np.int32)
        found = int(join_rows.pick(500.0 * len(words))(rows, own.array("values").view(np.int32), ends, counts, synsets))
        single = np.flatnonzero(rows[:, 0] == SINGLE)
        slow = [sorted(self.synsets(words[w])) for w in single.tolist()]
        # Those of single words are put between the others.
        flat = np.insert(synsets[:found], np.repeat(offsets_of(counts)[single], [len(one) for one in slow]), [number for one in slow for number in one])
        counts[single] = [len(one) for one in slow]
        return offsets_of(counts), flat.astype(np.int32, copy=False)


def _ragged(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    offsets = offsets_of([len(one) for one in lists])
    return offsets, np.fromiter((number for one in lists for number in one), np.int32, int(offsets[-1]))


class _Synsets(Mapping[str, Sequence[int]]):
    """Synsets of words in a flat table."""

    def __init__(self, table: FlatTable) -> None:
        self.table = table

    def find(self, word: str) -> Sequence[int] | None:
        found = self.table.find(word)
        return None if found is None else memoryview(found).cast("i").tolist()

    def __getitem__(self, word: str) -> Sequence[int]:
        numbers = self.find(word)
        if numbers is None:
            raise KeyError(word)
        return numbers

    def __contains__(self, word: object) -> bool:
        return word in self.table

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)


class _Bases(Mapping[str, list[str]]):
    """Base forms of irregular forms in a flat table."""

    def __init__(self, table: FlatTable) -> None:
        self.table = table

    def __getitem__(self, form: str) -> list[str]:
        return self.table[form].decode("utf-8").split()

    def __contains__(self, form: object) -> bool:
        return form in self.table

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)


def pack(synonyms: Synonyms) -> dict[str, NDArray[Any]]:
    """A dictionary as arrays that can be mapped from a file: reading the lists takes longer than scoring some thousand captions."""
    synsets = {word: np.array(synonyms._listed[word], np.int32).tobytes() for word in synonyms._listed}
    bases = {form: " ".join(listed).encode() for form, listed in synonyms._bases.items()}
    tables = {"synsets/": flat_arrays(synsets), "bases/": flat_arrays(bases)}
    arrays = {prefix + part: array for prefix, parts in tables.items() for part, array in parts.items()}
    return {**arrays, "digest": np.frombuffer(synonyms.digest.encode(), np.uint8)}


def unpack(arrays: Mapping[str, NDArray[Any]]) -> Synonyms:
    """The dictionary in such arrays."""
    synsets, bases = _Synsets(FlatTable(arrays, "synsets/")), _Bases(FlatTable(arrays, "bases/"))
    return Synonyms(synsets, bases, arrays["digest"].tobytes().decode())


@lru_cache(maxsize=4)
def _of_meteor(data: MeteorData) -> Synonyms:
    return _kept(data.jar, lambda: read_meteor(data))


def read_meteor(data: MeteorData) -> Synonyms:
    """METEOR's own lists."""
    lines = data.lines("synonym/english.synsets")
    synsets = {word: [int(number) for number in numbers.split()] for word, numbers in zip(lines[::2], lines[1::2])}
    bases: dict[str, list[str]] = {}
    lines = data.lines("synonym/english.exceptions")
    for base, forms in zip(lines[::2], lines[1::2]):
        for form in forms.split():
            bases.setdefault(form, []).append(base)
    return Synonyms(synsets, bases)


def _kept(source: Path, make: Callable[[], Synonyms]) -> Synonyms:
    """A dictionary as it is kept in the cache: made from a file of this content, and checked."""
    arrays = derived(
        f"synonyms-v{VERSION}-{content_digest(source)}.table",
        "a dictionary of synonyms (10 MB)",
        lambda path: open_kept(path, KIND, VERSION),
        lambda path: write_file(path, KIND, VERSION, {}, pack(make())),
    )
    return unpack(arrays)


def write(synonyms: Synonyms, path: Path) -> None:
    """Write the table that :func:`shipped` reads: words in order, how many synsets each has, and the synsets."""
    words = sorted(synonyms._listed)
    numbers = [sorted(synonyms._listed[word]) for word in words]
    forms = sorted(synonyms._bases)
    flat = [number for row in numbers for number in row]
    arrays = {
        "words": _text(words),
        "counts": np.array([len(row) for row in numbers], np.uint8),
        # Synsets by their rank: neighbours in the list of numbers are close together, and compress.
        "synsets": np.diff(np.unique(flat), prepend=0).astype(np.int32),
        "ranks": np.searchsorted(np.unique(flat), flat).astype(np.int32),
        "forms": _text(forms),
        "bases": _text([" ".join(synonyms._bases[form]) for form in forms]),
        "digest": _text([synonyms.computed_digest()]),
    }
    with atomic_write(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def shipped() -> Synonyms:
    """WordNet 3.0 as it ships with captious."""
    return _kept(SHIPPED, read_shipped)


def read_shipped() -> Synonyms:
    """The file that ships, which is compressed."""
    with np.load(SHIPPED, allow_pickle=False) as table:
        words, forms, bases, name = (_lines(table[part]) for part in ("words", "forms", "bases", "digest"))
        numbers = np.cumsum(table["synsets"], dtype=np.int32)[table["ranks"]].tolist()
        ends = np.cumsum(table["counts"], dtype=np.int64).tolist()
    synsets = {word: numbers[start:end] for word, start, end in zip(words, [0, *ends], ends)}
    return Synonyms(synsets, {form: listed.split() for form, listed in zip(forms, bases)}, name[0])


def _text(lines: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode("ascii"), dtype=np.uint8)


def _lines(data: NDArray[Any]) -> list[str]:
    return data.tobytes().decode("ascii").split("\n")
