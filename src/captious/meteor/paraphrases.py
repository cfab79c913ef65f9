"""The paraphrase table as a compact, memory-mapped index.

METEOR's table lists 5.27 million pairs (phrase, paraphrase) as text. Here every distinct phrase is one row of word
numbers; the rows are sorted, so that all phrases beginning with given words are neighbours and a caption's phrases are
found by narrowing a range of rows word by word. The paraphrases of a phrase are row numbers, in the order of the table,
because that order decides ties in the alignment.

The index is made once for each table and kept in the cache directory. Its name holds the table's checksum, the file
holds those of all its parts: a damaged, foreign or outdated file is never used but made again.
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from array import array
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.cache import cache_directory, derived
from captious.errors import InputError
from captious.io import container
from captious.progress import track
from captious.text.stemmer import java_hash, stem

#: Raised whenever the layout of the file changes.
VERSION = 4

KIND = "METEOR's paraphrases"
_BLOCK = 1 << 22
_CHUNK = 100_000


class Paraphrases(NamedTuple):
    """The opened index. Word number 0 means "no such word" and fills up short rows."""

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
    """``sources[source_offsets[p]:source_offsets[p + 1]]`` are the phrases that have phrase ``p`` as a paraphrase, ascending."""
    sources: NDArray[np.uint32]
    stems: NDArray[np.uint32]
    """The hash of each word's stem."""

    def number_of(self) -> dict[str, int]:
        """The number of each word."""
        listed = self.words.tobytes().decode("utf-8").split("\n")
        return {word: number for number, word in enumerate(listed[:-1], 1)}


class _Numbering(dict[bytes, int]):
    """Numbers things from 0 in the order in which they are first asked for."""

    def __missing__(self, key: bytes) -> int:
        self[key] = number = len(self)
        return number


def open_index(table: Path) -> Paraphrases:
    """The index of a paraphrase table, made first if the cache has no good one."""
    return _open(table, cache_directory())


def checksum_of(table: Path) -> tuple[int, int]:
    """The checksum and the length of a table's content, with which a gzip file ends."""
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
    built = cache(lambda: _build(table, length)._asdict())
    return derived(
        f"meteor-paraphrases-v{VERSION}-{checksum:08x}-{length}.index",
        "METEOR's paraphrase index (100 MB)",
        _load,
        lambda path: container.write(path, KIND, VERSION, {}, built()),
    )


def _load(path: Path) -> Paraphrases | None:
    """Map the file, or nothing if it is not there or not sound. Reading it all for its checksums takes about 0.1 s."""
    arrays = container.open_kept(path, KIND, VERSION)
    if arrays is None or set(arrays) != set(Paraphrases._fields):
        return None
    return Paraphrases(**{name: arrays[name] for name in Paraphrases._fields})


def _build(table: Path, length: int) -> Paraphrases:
    """Read the table: groups of three lines, of which the first, a probability, plays no part in the metric."""
    rows = _Numbering()
    sources, targets = array("I"), array("I")
    try:
        for lines in _groups(table, length):
            sources.extend(map(rows.__getitem__, lines[1::3]))
            targets.extend(map(rows.__getitem__, lines[2::3]))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"the paraphrase table {table} is damaged ({error}); reinstall with pip install --force-reinstall pycocoevalcap"
        ) from error

    words, phrases = _encode(list(rows))
    order = np.lexsort(phrases.T[::-1])
    row_of = np.empty(len(order), np.uint32)
    row_of[order] = np.arange(len(order), dtype=np.uint32)
    source, target = (row_of[np.frombuffer(side, np.uint32)] for side in (sources, targets))
    phrases = phrases[order]
    count = words.count(b"\n") if phrases.size else 0
    return Paraphrases(
        np.frombuffer(words, np.uint8),
        np.searchsorted(phrases[:, 0], np.arange(count + 2)).astype(np.uint32),
        phrases,
        _bounds(source, len(order)),
        target[np.argsort(source, kind="stable")],
        _bounds(target, len(order)),
        source[np.lexsort((source, target))],
        np.array([0, *(java_hash(stem(word)) for word in words.decode("utf-8").split("\n")[:-1])], np.uint32),
    )


def _bounds(rows: NDArray[np.uint32], count: int) -> NDArray[np.uint32]:
    """Where the pairs of each row begin, once they are sorted by it."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.uint32)


def _groups(table: Path, length: int) -> Iterator[list[bytes]]:
    """Blocks of the table's lines, each a whole number of groups of three."""
    rest: list[bytes] = []
    tail = b""
    with gzip.open(table, "rb") as stream:
        for _ in track(range(-(-length // _BLOCK)), "METEOR: indexing the paraphrase table (once)"):
            lines = (tail + stream.read(_BLOCK)).split(b"\n")
            tail = lines.pop()
            lines = rest + lines
            whole = len(lines) - len(lines) % 3
            rest = lines[whole:]
            yield lines[:whole]
        if stream.read(1) or tail or rest:
            raise EOFError("it does not end with a whole group of three lines")


def _encode(phrases: list[bytes]) -> tuple[bytes, NDArray[np.uint16]]:
    """The words (each with a line feed), and the phrases as rows of word numbers."""
    numbers = _Numbering({b"": 0})
    width = max((phrase.count(b" ") for phrase in phrases), default=0) + 1
    encoded = np.zeros((len(phrases), width), np.uint32)
    for start in range(0, len(phrases), _CHUNK):
        # One flat list of words: a list for each phrase would cost more than everything else here.
        part = phrases[start : start + _CHUNK]
        lengths = np.fromiter((phrase.count(b" ") for phrase in part), np.int64, len(part)) + 1
        flat = b" ".join(part).split()
        if len(flat) != lengths.sum():
            raise InputError("the paraphrase table has phrases that are empty or have more than one space between words")
        encoded[start : start + len(part)][np.arange(width) < lengths[:, None]] = list(map(numbers.__getitem__, flat))
    if len(numbers) > 1 << 16:
        raise InputError(f"the paraphrase table has {len(numbers) - 1:,} distinct words; captious can index 65,535")
    return b"".join(word + b"\n" for word in list(numbers)[1:]), encoded.astype(np.uint16)
