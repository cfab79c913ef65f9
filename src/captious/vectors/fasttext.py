"""fastText's binary models: vectors of words and, through character n-grams, of any other string."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, printable
from captious.core.progress import track
from captious.vectors.vector_table import Floats, Integers, WordList, WordVectors

MAGIC = 793712314
_VERSION = 12


def is_fasttext(path: Path) -> bool:
    """Return whether a file begins like fastText's binary models."""
    with path.open("rb") as handle:
        start = handle.read(4)
    return len(start) == 4 and struct.unpack("<i", start)[0] == MAGIC


def subwords(word: str, shortest: int, longest: int) -> Iterator[bytes]:
    """Yield the n-grams of ``<word>`` of ``shortest`` to ``longest`` characters, without bare brackets."""
    marked = f"<{word}>"
    for start in range(len(marked)):
        for size in range(max(shortest, 1), longest + 1):
            if start + size > len(marked):
                break
            if size == 1 and (start == 0 or start == len(marked) - 1):
                continue
            yield marked[start : start + size].encode("utf-8", "replace")


def bucket_hash(text: bytes) -> int:
    """Return fastText's variant of the 32-bit FNV-1a hash, which treats bytes as signed."""
    value = 2166136261
    for byte in text:
        # A byte above 127 is negative, and its sign extends over the upper bits.
        value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
    return value


class FastTextRows:
    """Vectors of words: the mean of the word's row and of its n-grams' rows in the memory-mapped model."""

    def __init__(
        self,
        matrix: NDArray[np.float32],
        words: list[str],
        buckets: int,
        shortest: int,
        longest: int,
        source: str,
    ) -> None:
        self._matrix, self._words, self._source = matrix, words, source
        self._buckets, self._shortest, self._longest = buckets, shortest, longest
        self.shape: tuple[int, int] = (len(words), int(matrix.shape[1]))

    def _pieces(self, word: str) -> list[int]:
        if not self._buckets or self._longest < 1 or word == "</s>":
            return []
        return [
            len(self._words) + bucket_hash(p) % self._buckets
            for p in subwords(word, self._shortest, self._longest)
        ]

    def take(self, rows: Integers) -> Floats:
        out: Floats = np.empty((len(rows), self.shape[1]), np.float32)
        for i, row in enumerate(rows.tolist()):
            out[i] = self._mean([row, *self._pieces(self._words[row])], self._words[row])
        return out

    def unknown(self, word: str) -> Floats | None:
        """Return the vector of a word outside the vocabulary: the mean of its n-grams' rows."""
        pieces = self._pieces(word)
        return self._mean(pieces, word) if pieces else None

    def _mean(self, rows: list[int], word: str) -> Floats:
        mean: Floats = self._matrix[rows].mean(axis=0)
        if not np.isfinite(mean).all():
            raise InputError(
                f"{self._source}: the vector of '{printable(word[:60])}' is not finite; the file is damaged"
            )
        return mean


class FastTextVectors(WordVectors):
    """A fastText model. Words outside its vocabulary have a vector, too."""

    def __init__(self, name: str, words: list[str], rows: FastTextRows, digest: str | None = None) -> None:
        super().__init__(name, WordList(words), rows, digest=digest)
        self._model = rows

    def _unknown(self, word: str) -> Floats | None:
        return self._model.unknown(word)


def read(path: Path, name: str, digest: str | None = None) -> FastTextVectors:
    """Read a fastText ``.bin`` model. Its matrix is memory-mapped."""
    with path.open("rb") as handle:
        numbers = _take(handle, "<14i", path, "settings")
        magic, version, dimension = numbers[0], numbers[1], numbers[2]
        buckets, shortest, longest = numbers[10], numbers[11], numbers[12]
        if magic != MAGIC or version != _VERSION:
            raise InputError(
                f"{path}: fastText format version {version}, but only {_VERSION} can be read; "
                "save the model again"
            )
        _take(handle, "<d", path, "settings")
        size, n_words, n_labels, _, pruned = _take(handle, "<3i2q", path, "dictionary")
        if (
            n_labels
            or size != n_words
            or pruned > 0
            or not 1 <= dimension <= 100_000
            or n_words < 1
            or buckets < 0
        ):
            raise InputError(f"{path}: a classifier or pruned fastText model; pass a model of word vectors")
        words = []
        for number in track(range(1, n_words + 1), f"reading {path.name}"):
            words.append(_string(handle, path, number))
            _take(handle, "<qb", path, f"word {number:,}")
        (quantised,) = _take(handle, "<?", path, "matrix")
        if quantised:
            raise InputError(f"{path}: a quantised fastText model (.ftz); pass the full .bin model")
        rows, columns = _take(handle, "<2q", path, "matrix")
        start = handle.tell()
    if columns != dimension or rows not in (n_words, n_words + buckets):
        raise InputError(
            f"{path}: a matrix of {rows:,} × {columns:,} where {n_words + buckets:,} × {dimension} was "
            "expected; "
            "the file is damaged"
        )
    if path.stat().st_size < start + 4 * rows * columns:
        raise InputError(
            f"{path}: cut off inside its matrix of {rows:,} × {columns:,} numbers; "
            "get a fresh copy of the file"
        )
    matrix = np.memmap(path, dtype="<f4", mode="r", offset=start, shape=(rows, columns))
    used = buckets if rows > n_words else 0
    return FastTextVectors(
        name, words, FastTextRows(matrix, words, used, shortest, longest, str(path)), digest
    )


def _take(handle: BinaryIO, layout: str, path: Path, what: str) -> tuple[int, ...]:
    data = handle.read(struct.calcsize(layout))
    try:
        return struct.unpack(layout, data)
    except struct.error:
        raise InputError(f"{path}: cut off in its {what}; get a fresh copy of the file") from None


def _string(handle: BinaryIO, path: Path, number: int) -> str:
    letters = bytearray()
    while (letter := handle.read(1)) != b"\0":
        if not letter or len(letters) > 100_000:
            raise InputError(
                f"{path}: cut off in word {number:,} of its dictionary; get a fresh copy of the file"
            )
        letters += letter
    return letters.decode("utf-8", "replace")
