"""Which words can mean the same: WordNet synsets as METEOR's synonym module looks them up.

Two words are synonyms when their synset sets meet. The set of a word is the union of its own synsets with those of its
base form: the listed bases of an irregular form, else what WordNet's rules of detachment find first.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path

from captious import digest
from captious.text.meteor_data import MeteorData, find

#: WordNet's detachment rules (ending, replacement) for nouns, verbs and adjectives, in the order they are tried.
_DETACHMENTS = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip

_NONE: frozenset[int] = frozenset()

#: Words whose synsets are remembered; captions may bring any number of new ones.
_KEPT = 200_000


class Synonyms:
    """Synset lookup by word; a phrase is written with ``_`` between its words."""

    label = "wordnet-3.0"

    def __init__(self, synsets: dict[str, str], bases: dict[str, list[str]]) -> None:
        # The numbers of a word stay text until somebody asks for that word: a corpus uses few of the 147,306.
        self._listed = synsets
        self._bases = bases
        self._memo: dict[str, frozenset[int]] = {}

    @classmethod
    def load(cls, data_dir: str | Path | None = None) -> Synonyms:
        """The dictionary in METEOR's data (found as in :func:`captious.text.meteor_data.find`), read once."""
        return _load(find(data_dir))

    @cached_property
    def digest(self) -> str:
        """Names the content."""
        listed = sorted(f"{word} {' '.join(sorted(numbers.split()))}" for word, numbers in self._listed.items())
        return digest.of_lines([*listed, *sorted(f"{form} {' '.join(bases)}" for form, bases in self._bases.items())])

    def __contains__(self, word: str) -> bool:
        """Whether the word itself is listed."""
        return word in self._listed

    def listed(self, word: str) -> frozenset[int]:
        """The synsets of exactly this form."""
        numbers = self._listed.get(word)
        return frozenset(map(int, numbers.split())) if numbers else _NONE

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
            if len(self._memo) < _KEPT:
                self._memo[word] = known
        return known


@lru_cache(maxsize=4)
def _load(data: MeteorData) -> Synonyms:
    lines = data.lines("synonym/english.synsets")
    synsets = dict(zip(lines[::2], lines[1::2]))
    bases: dict[str, list[str]] = {}
    lines = data.lines("synonym/english.exceptions")
    for base, forms in zip(lines[::2], lines[1::2]):
        for form in forms.split():
            bases.setdefault(form, []).append(base)
    return Synonyms(synsets, bases)
