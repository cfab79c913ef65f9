"""METEOR's word lists and tables, opened once per folder.

The paraphrase table lists 5.27 million pairs (phrase, paraphrase) as text. Its index (:class:`Paraphrases`)
has one row of word numbers for every distinct phrase. The rows are sorted, so that all phrases beginning with
given words are neighbours and a caption's phrases are found by narrowing a range of rows word by word. The
paraphrases of a phrase are row numbers, in the order of the table, because that order decides ties in the
alignment.

The index is built once for each table and stored in the cache folder. Its name has the table's checksum, and
the file has the checksums of all its parts. A damaged, foreign or outdated file is built again.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.cache import PARAPHRASES, cache_directory, derived
from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.io import saved_files as container
from captious.meteor.normalise import Normaliser
from captious.meteor.paraphrase_index import build
from captious.text import meteor_data
from captious.text.synonyms import LISTS, Synonyms, is_shipped, shipped_lists


class Paraphrases(NamedTuple):
    """The opened index. Word number 0 means "no such word" and pads short rows."""

    words: NDArray[np.uint8]
    """The words, each followed by a line feed; the first has number 1."""
    first: NDArray[np.uint32]
    """``first[w]:first[w + 1]`` are the rows whose first word is ``w``."""
    phrases: NDArray[np.uint16]
    """Word numbers of each phrase, one row per phrase, rows in ascending order."""
    offsets: NDArray[np.uint32]
    """``targets[offsets[p]:offsets[p + 1]]`` are the paraphrases of phrase ``p``."""
    targets: NDArray[np.uint32]
    source_offsets: NDArray[np.uint32]
    """``sources[source_offsets[p]:source_offsets[p + 1]]``: phrases that ``p`` paraphrases, ascending."""
    sources: NDArray[np.uint32]
    stems: NDArray[np.uint32]
    """The hash of each word's stem."""

    def number_of(self) -> dict[str, int]:
        """Return the number of each word."""
        listed = self.words.tobytes().decode("utf-8").split("\n")
        return {word: number for number, word in enumerate(listed[:-1], 1)}


def open_index(table: Path) -> Paraphrases:
    """Open the index of a paraphrase table; build it if the cache has no sound one."""
    return _open_index(table, cache_directory())


def checksum_of(table: Path) -> tuple[int, int]:
    """Return the checksum and the length of a table's content, which are at the end of its gzip file."""
    try:
        with table.open("rb") as stream:
            stream.seek(-8, os.SEEK_END)
            checksum, length = struct.unpack("<II", stream.read(8))
    except OSError as error:
        raise InputError(f"cannot read the paraphrase table {table}: {error}") from error
    return checksum, length


@lru_cache(maxsize=4)
def _open_index(table: Path, _folder: Path | None) -> Paraphrases:
    checksum, length = checksum_of(table)
    built = cache(lambda: build(table, length))
    return derived(
        PARAPHRASES,
        f"{checksum:08x}-{length:x}",
        "METEOR's paraphrase index (100 MB)",
        _load,
        lambda path: container.write_kept(path, PARAPHRASES, built()),
    )


def _load(path: Path) -> Paraphrases | None:
    """Map the file, or return None if it is missing or damaged. The check takes 0.1 s."""
    arrays = container.open_kept(path, PARAPHRASES, _is_sound)
    return None if arrays is None else Paraphrases(**arrays)


_TYPES = {"words": "u1", "phrases": "u2"}


def _is_sound(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Tell whether all numbers in an index are in range, which kernels do not check."""
    if set(arrays) != set(Paraphrases._fields) or any(
        array.dtype != _TYPES.get(name, "u4") for name, array in arrays.items()
    ):
        return False
    index = Paraphrases(**arrays)
    if (
        index.phrases.ndim != 2
        or index.phrases.shape[1] < 1
        or any(array.ndim != 1 for name, array in arrays.items() if name != "phrases")
    ):
        return False
    words, rows = int(np.count_nonzero(index.words == ord("\n"))), len(index.phrases)
    return (
        len(index.stems) == words + 1
        and index.phrases.max(initial=0) <= words
        and _divides(index.first, words + 1, rows)
        and all(
            _divides(offsets, rows, len(values)) and values.max(initial=0) < max(rows, 1)
            for offsets, values in ((index.offsets, index.targets), (index.source_offsets, index.sources))
        )
    )


def _divides(offsets: NDArray[np.uint32], parts: int, length: int) -> bool:
    """Tell whether offsets divide a length into this number of parts."""
    return len(offsets) == parts + 1 and offsets[-1] == length and bool(np.all(offsets[:-1] <= offsets[1:]))


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
