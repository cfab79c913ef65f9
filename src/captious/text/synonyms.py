"""Which words can mean the same: WordNet synsets as METEOR's synonym module looks them up.

Two words are synonyms when their synset sets meet. The set of a word is the union of its own synsets with those of its
base form: the listed bases of an irregular form, else what WordNet's rules of detachment find first.

The lists ship with captious (``data/wordnet``, WordNet 3.0 under its own licence; ``tools/make_synonyms.py`` made them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious import digest
from captious.cache import atomic_write
from captious.text.meteor_data import MeteorData, find

#: WordNet's detachment rules (ending, replacement) for nouns, verbs and adjectives, in the order they are tried.
_DETACHMENTS = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip

#: Words whose synsets are remembered.
_REMEMBERED = 100_000
_NONE: frozenset[int] = frozenset()

#: The table that ships with captious.
SHIPPED = Path(__file__).parent.parent / "data" / "wordnet" / "synonyms.npz"


class Synonyms:
    """Synset lookup by word; a phrase is written with ``_`` between its words."""

    label = "wordnet-3.0"

    def __init__(
        self, synsets: Mapping[str, Sequence[int]], bases: dict[str, list[str]], digest: str | None = None
    ) -> None:
        """``digest`` is given where the content was named before: by whoever wrote it into a file."""
        self._listed = synsets
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
        return frozenset(self._listed[word]) if word in self._listed else _NONE

    def base(self, word: str) -> str:
        """The base form that WordNet's rules find for a regular form, or nothing."""
        if word.endswith("ss") or len(word) <= 2:
            return word
        for ending, replacement in _DETACHMENTS:
            if word.endswith(ending):
                candidate = word[: -len(ending)] + replacement
                if candidate in self._listed:
                    return candidate
        return ""

    def synsets(self, word: str) -> frozenset[int]:
        """The synsets of a word and of its base forms."""
        known = self._memo.get(word)
        if known is None:
            bases = self._bases.get(word)
            known = self.listed(word).union(*map(self.listed, bases if bases is not None else (self.base(word),)))
            if len(self._memo) >= _REMEMBERED:  # phrases without synsets have no end
                self._memo.clear()
            self._memo[word] = known
        return known


class _Written(Mapping[str, Sequence[int]]):
    """Synsets of words as METEOR lists them: text, of which a corpus asks for little."""

    def __init__(self, lines: dict[str, str]) -> None:
        self._lines = lines

    def __getitem__(self, word: str) -> Sequence[int]:
        return [int(number) for number in self._lines[word].split()]

    def __contains__(self, word: object) -> bool:
        return word in self._lines

    def __iter__(self) -> Any:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


class _Packed(Mapping[str, Sequence[int]]):
    """Synsets of words in two arrays."""

    def __init__(self, words: list[str], counts: NDArray[Any], numbers: NDArray[Any]) -> None:
        self._row = {word: row for row, word in enumerate(words)}
        self._ends = np.cumsum(counts, dtype=np.int64)
        self._counts = counts
        self._numbers = numbers

    def __getitem__(self, word: str) -> Sequence[int]:
        row = self._row[word]
        end = int(self._ends[row])
        numbers: list[int] = self._numbers[end - int(self._counts[row]) : end].tolist()
        return numbers

    def __contains__(self, word: object) -> bool:
        return word in self._row

    def __iter__(self) -> Any:
        return iter(self._row)

    def __len__(self) -> int:
        return len(self._row)


@lru_cache(maxsize=4)
def _of_meteor(data: MeteorData) -> Synonyms:
    lines = data.lines("synonym/english.synsets")
    synsets = dict(zip(lines[::2], lines[1::2]))
    bases: dict[str, list[str]] = {}
    lines = data.lines("synonym/english.exceptions")
    for base, forms in zip(lines[::2], lines[1::2]):
        for form in forms.split():
            bases.setdefault(form, []).append(base)
    return Synonyms(_Written(synsets), bases)


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
    with np.load(SHIPPED, allow_pickle=False) as table:
        words, forms, bases, name = (_lines(table[part]) for part in ("words", "forms", "bases", "digest"))
        numbers = np.cumsum(table["synsets"], dtype=np.int32)[table["ranks"]]
        synsets = _Packed(words, table["counts"], numbers)
    return Synonyms(synsets, {form: listed.split() for form, listed in zip(forms, bases)}, name[0])


def _text(lines: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode("ascii"), dtype=np.uint8)


def _lines(data: NDArray[Any]) -> list[str]:
    return data.tobytes().decode("ascii").split("\n")
