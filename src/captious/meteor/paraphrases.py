"""The paraphrase table as a compact, memory-mapped index.

METEOR's table lists 5.27 million pairs (phrase, paraphrase) as text. Here every distinct phrase is one row of word
numbers; the rows are sorted, so that all phrases beginning with given words are neighbours and a caption's phrases are
found by narrowing a range of rows word by word. The paraphrases of a phrase are row numbers, in the order of the table,
because that order decides ties in the alignment.

The index is made once for each table and kept in the cache directory. Its name holds the table's checksum, the file
holds its own: a damaged, foreign or outdated file is never used but made again.
"""

from __future__ import annotations

import gzip
import json
import mmap
import os
import struct
import zlib
from array import array
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.cache import atomic_write, cache_directory, lock
from captious.errors import InputError
from captious.progress import track

#: Raised whenever the layout of the file changes.
VERSION = 1

_MAGIC = b"captious paraphrases\n"
_ALIGNMENT = 64
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
def _open(table: Path, folder: Path) -> Paraphrases:
    checksum, length = checksum_of(table)
    path = folder / f"meteor-paraphrases-v{VERSION}-{checksum:08x}-{length}.index"
    index = _load(path)
    if index is not None:
        return index
    try:
        with lock(path.with_suffix(".lock")):
            # Another process may have made it while this one waited.
            index = _load(path)
            if index is None:
                arrays = _build(table, length)
                with atomic_write(path) as temporary:
                    _save(temporary, arrays)
                index = _load(path)
    except OSError as error:
        raise InputError(
            f"cannot write METEOR's paraphrase index to {path}: {error.strerror or error}; "
            "set CAPTIOUS_CACHE to a directory with 100 MB of space"
        ) from error
    if index is None:
        raise InputError(f"METEOR's paraphrase index {path} is damaged just after being written; check the disk")
    return index


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
    source = row_of[np.frombuffer(sources, np.uint32)]
    phrases = phrases[order]
    count = words.count(b"\n") if phrases.size else 0
    return Paraphrases(
        np.frombuffer(words, np.uint8),
        np.searchsorted(phrases[:, 0], np.arange(count + 2)).astype(np.uint32),
        phrases,
        np.concatenate([[0], np.cumsum(np.bincount(source, minlength=len(order)))]).astype(np.uint32),
        row_of[np.frombuffer(targets, np.uint32)][np.argsort(source, kind="stable")],
    )


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


def _save(path: Path, index: Paraphrases) -> None:
    described: list[tuple[str, str, tuple[int, ...], int]] = []
    blocks: list[bytes] = []
    position = checksum = 0
    for name, values in index._asdict().items():
        data = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
        described.append((name, data.dtype.str, data.shape, position))
        raw = data.tobytes()
        raw += bytes(-len(raw) % _ALIGNMENT)
        checksum = zlib.crc32(raw, checksum)
        position += len(raw)
        blocks.append(raw)
    header = json.dumps({"arrays": described, "size": position, "crc32": checksum}).encode() + b"\n"
    header = _MAGIC + header.rjust(-(-(len(header) + len(_MAGIC)) // _ALIGNMENT) * _ALIGNMENT - len(_MAGIC))
    with path.open("wb") as stream:
        stream.write(header)
        stream.writelines(blocks)
        stream.flush()
        os.fsync(stream.fileno())


def _load(path: Path) -> Paraphrases | None:
    """Map the file, or nothing if it is not there or not sound. Reading it all for its checksum takes about 0.1 s."""
    try:
        with path.open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                return None
            header: dict[str, Any] = json.loads(stream.readline(1 << 16))
            start = stream.tell()
            checksum = size = 0
            while block := stream.read(1 << 20):
                checksum = zlib.crc32(block, checksum)
                size += len(block)
            if (size, checksum) != (header["size"], header["crc32"]):
                return None
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        arrays = {
            name: np.frombuffer(mapped, dtype, int(np.prod(shape)), start + offset).reshape(shape)
            for name, dtype, shape, offset in header["arrays"]
        }
        return Paraphrases(**arrays)
    except (OSError, ValueError, KeyError, TypeError):
        return None
