"""Concepts: words or phrases that mean the same thing in one scene."""

from __future__ import annotations

from functools import lru_cache

from captious.text.synonyms import Synonyms


class Concept:
    """A set of words (or phrases) and the WordNet synsets they have between them."""

    __slots__ = ("synsets", "words")

    def __init__(self, word: str, synonyms: Synonyms) -> None:
        self.words: tuple[str, ...] = (word,)
        self.synsets: frozenset[int] = synonyms.synsets(word.replace(" ", "_"))

    @classmethod
    def joined(cls, words: tuple[str, ...], synonyms: Synonyms) -> Concept:
        """A concept of several words that joined it one after the other."""
        concept = cls(words[0], synonyms)
        concept.words = words
        for word in words[1:]:
            concept.synsets |= synonyms.synsets(word.replace(" ", "_"))
        return concept

    def __repr__(self) -> str:
        return f"Concept({self.name!r})"

    @property
    def name(self) -> str:
        """The words joined by ``/``, in the order in which the reference implementation prints them."""
        return joined_name(self.words)

    def similar(self, other: Concept) -> bool:
        """Whether the two share a synset or a word."""
        if not self.synsets.isdisjoint(other.synsets):
            return True
        # Mostly one word beside one or two: looking is quicker than building sets.
        words = other.words
        return any(word in words for word in self.words) if len(self.words) > 1 else self.words[0] in words

    def similarity(self, other: Concept) -> float:
        """1 for a shared word, else the Jaccard index of the synsets."""
        if not set(self.words).isdisjoint(other.words):
            return 1.0
        shared = len(self.synsets & other.synsets)
        return shared / (len(self.synsets) + len(other.synsets) - shared) if shared else 0.0

    def absorb(self, other: Concept) -> None:
        """Take over the other's words and synsets."""
        self.words += tuple(word for word in other.words if word not in self.words)
        self.synsets |= other.synsets


def joined_name(words: tuple[str, ...]) -> str:
    """The name of a concept of these words."""
    return words[0] if len(words) == 1 else "/".join(sorted(words, key=_bucket))


@lru_cache(maxsize=1 << 16)
def _bucket(word: str) -> int:
    """The place of a word in a Java hash set of up to twelve strings, whose order the reference prints."""
    value = 0
    for unit in memoryview(word.encode("utf-16-le")).cast("H"):
        value = (31 * value + unit) & 0xFFFFFFFF
    return (value ^ (value >> 16)) & 15
