"""METEOR's word lists and tables, opened once for each place they are in."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path

from captious import digest
from captious.meteor.normalise import Normaliser
from captious.meteor.paraphrases import Paraphrases, checksum_of, open_index
from captious.text import meteor_data
from captious.text.synonyms import Synonyms


class Tables:
    """METEOR's data by name and content, without opening it."""

    label = "meteor-1.5"

    def __init__(self, data: meteor_data.MeteorData) -> None:
        self._data = data

    @property
    def digest(self) -> str:
        """Names all tables by their content."""
        return _digest(self._data)


class Resources:
    """Everything METEOR looks words up in."""

    def __init__(self, data: meteor_data.MeteorData) -> None:
        self.normaliser = Normaliser(data.lines("nonbreaking/english.prefixes"))
        self.function_words = frozenset(data.lines("function/english.words"))
        self.synonyms = Synonyms.load(data.jar.parent)
        self.paraphrases: Paraphrases = open_index(data.paraphrases)
        #: Name what words and phrases are looked up in.
        self.phrases_digest = "-".join(map(str, checksum_of(data.paraphrases)))
        self.words_digest = digest.together(self.synonyms.digest, digest.of_lines(sorted(self.function_words)), self.phrases_digest)

    @cached_property
    def paraphrase_words(self) -> dict[str, int]:
        """The numbers of words in the paraphrase table."""
        return self.paraphrases.number_of()

    @classmethod
    def open(cls, data_dir: str | Path | None = None) -> Resources:
        """The resources in a directory, or in the installed package (see :func:`captious.text.meteor_data.find`)."""
        return _open(meteor_data.find(data_dir))


@lru_cache(maxsize=4)
def _digest(data: meteor_data.MeteorData) -> str:
    """The digest of all tables; for the large one that is the checksum it ends with, so nothing is opened."""
    lists = ("nonbreaking/english.prefixes", "function/english.words", "synonym/english.synsets", "synonym/english.exceptions")
    small = [digest.of_lines(["\n".join(data.lines(name))]) for name in lists]
    return digest.together(*small, *map(str, checksum_of(data.paraphrases)))


@lru_cache(maxsize=2)
def _open(data: meteor_data.MeteorData) -> Resources:
    return Resources(data)
