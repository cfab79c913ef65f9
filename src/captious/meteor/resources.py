"""METEOR's word lists and tables, opened once for each place they are in."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from captious import container, digest
from captious.cache import content_digest, derived
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
        lists = _lists(data)
        self.normaliser = Normaliser(lists["prefixes"])
        self.function_words = frozenset(lists["function"])
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
    return digest.together(*_lists(data)["digests"], *map(str, checksum_of(data.paraphrases)))


_MEMBERS = ("nonbreaking/english.prefixes", "function/english.words", "synonym/english.synsets", "synonym/english.exceptions")
_KIND, _VERSION = "METEOR's lists", 1


@lru_cache(maxsize=4)
def _lists(data: meteor_data.MeteorData) -> dict[str, list[str]]:
    """The small lists, and the digests of all; kept, because to open the archive and to read the large ones takes longer than to
    score a few hundred captions."""

    def make(path: Path) -> None:
        digests = [digest.of_lines(["\n".join(data.lines(name))]) for name in _MEMBERS]
        texts = {"prefixes": data.lines(_MEMBERS[0]), "function": data.lines(_MEMBERS[1]), "digests": digests}
        arrays = {name: np.frombuffer("\n".join(lines).encode(), np.uint8) for name, lines in texts.items()}
        container.write(path, _KIND, _VERSION, {}, arrays)

    arrays = derived(
        f"meteor-lists-v{_VERSION}-{content_digest(data.jar)}.table", "METEOR's lists", lambda path: container.open_kept(path, _KIND, _VERSION), make
    )
    return {name: array.tobytes().decode().split("\n") if len(array) else [] for name, array in arrays.items()}


@lru_cache(maxsize=2)
def _open(data: meteor_data.MeteorData) -> Resources:
    return Resources(data)
