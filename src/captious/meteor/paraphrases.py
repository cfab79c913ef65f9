"""The paraphrase table as a compact, memory-mapped index.

METEOR's table lists 5.27 million pairs (phrase, paraphrase) as text. Here every distinct phrase is one row of
word numbers; the rows are sorted, so that all phrases beginning with given words are neighbours and a
caption's phrases are found by narrowing a range of rows word by word. The paraphrases of a phrase are row
numbers, in the order of the table, because that order decides ties in the alignment.

The index is built once for each table, in about 2 s, and stored in the cache folder. Its name has the table's
checksum, and the file has the checksums of all its parts. A damaged, foreign or outdated file is built again.
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

from captious.core.cache import cache_directory, derived
from captious.core.cache_files import PARAPHRASES
from captious.core.errors import InputError
from captious.io import saved_files as container
from captious.meteor.paraphrase_index import build


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
    return _open(table, cache_directory())


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
def _open(table: Path, _folder: Path | None) -> Paraphrases:
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
