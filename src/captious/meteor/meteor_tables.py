"""METEOR's word lists and tables, opened once per folder."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from captious.core import digests as digest
from captious.core.cache_files import PARAPHRASES
from captious.core.memo import cached_property
from captious.meteor.normalise import Normaliser
from captious.meteor.paraphrases import Paraphrases, checksum_of, open_index
from captious.text import meteor_data
from captious.text.synonyms import LISTS, Synonyms, is_shipped, shipped_lists


class MeteorTables:
    """Name and digest of METEOR's data, which is not opened."""

    label = "meteor-1.5"

    def __init__(self, data: meteor_data.MeteorData) -> None:
        self._data = data

    @property
    def digest(self) -> str:
        """Digest of the content of all tables."""
        return _digest(self._data)


class Resources:
    """Word lists, synonyms and paraphrases of METEOR."""

    def __init__(self, data: meteor_data.MeteorData) -> None:
        self.normaliser = Normaliser(list(data.lines(_PREFIXES)))
        self.function_words = frozenset(data.lines(_FUNCTION_WORDS))
        self.synonyms = Synonyms.load(data.jar.parent)
        self.paraphrases: Paraphrases = open_index(data.paraphrases)
        #: Digests of the tables. Prepared files store numbers that are valid for these tables only.
        self.phrases_digest = "-".join(map(str, (PARAPHRASES.version, *checksum_of(data.paraphrases))))
        self.words_digest = digest.together(
            self.synonyms.digest, digest.of_lines(sorted(self.function_words)), self.phrases_digest
        )

    @cached_property
    def paraphrase_words(self) -> dict[str, int]:
        """Number of each word in the paraphrase table."""
        return self.paraphrases.number_of()

    @classmethod
    def open(cls, data_dir: str | Path | None = None) -> Resources:
        """Open the data in a folder, or that of the installed package."""
        return _open(meteor_data.find(data_dir))


_PREFIXES, _FUNCTION_WORDS = "nonbreaking/english.prefixes", "function/english.words"


@lru_cache(maxsize=4)
def _digest(data: meteor_data.MeteorData) -> str:
    """Return the digest of all tables. Archives store checksums of the large ones, so these are not read."""
    lists = [
        shipped_lists()[name]["digest"] if is_shipped(data, name) else data.digest(name)
        for name in (_PREFIXES, _FUNCTION_WORDS, *LISTS)
    ]
    return digest.together(*lists, *map(str, checksum_of(data.paraphrases)))


@lru_cache(maxsize=2)
def _open(data: meteor_data.MeteorData) -> Resources:
    return Resources(data)
