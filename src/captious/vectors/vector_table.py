"""Tables of word vectors, independent of their source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as content
from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.core.ragged import offsets_of

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

#: Rows processed at a time, which bounds the memory for tables of millions of words.
_CHUNK = 65_536
#: Tables of at most this many numbers are cached in normalised form after the first search for neighbours.
_MAX_CACHED = 32_000_000


class VectorRows(Protocol):
    """Vectors by row number."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, dimension."""
        ...

    def take(self, rows: Integers) -> Floats:
        """Return some rows as 32-bit floats."""
        ...


class WordIndex(Protocol):
    """Mapping between words and row numbers."""

    def find(self, words: Sequence[str]) -> Integers:
        """Return the row of each word, −1 for unknown words."""
        ...

    def word(self, row: int) -> str:
        """Return the word of a row."""
        ...

    def __len__(self) -> int: ...


class PlainRows:
    """Rows of an array in memory or in a memory-mapped file."""

    def __init__(self, array: NDArray[np.floating]) -> None:
        self._array = array
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))

    def take(self, rows: Integers) -> Floats:
        return np.asarray(self._array[rows], dtype=np.float32)


class QuantisedRows:
    """Rows of 8-bit integers with one scale each."""

    def __init__(self, codes: NDArray[np.int8], scales: Floats) -> None:
        self._codes, self._scales = codes, scales
        self.shape: tuple[int, int] = (int(codes.shape[0]), int(codes.shape[1]))

    def take(self, rows: Integers) -> Floats:
        taken: Floats = self._codes[rows].astype(np.float32)
        taken *= self._scales[rows][:, None]
        return taken


class WordList:
    """Words in memory, indexed by a dictionary. Of equal words the first one counts."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._row: dict[str, int] = {}
        for row, word in enumerate(words):
            self._row.setdefault(word, row)

    def find(self, words: Sequence[str]) -> Integers:
        row = self._row
        return np.fromiter((row.get(word, -1) for word in words), np.int64, len(words))

    def word(self, row: int) -> str:
        return self._words[row]

    def __len__(self) -> int:
        return len(self._words)


def word_hash(word: bytes) -> int:
    """Return a 64-bit hash that is the same on every machine and in every run."""
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")


class MappedWords:
    """Words in a memory-mapped file, indexed by sorted hashes. Only the words that are looked up are read."""

    def __init__(
        self,
        text: NDArray[np.uint8],
        offsets: Integers,
        hashes: NDArray[np.uint64],
        order: Integers,
    ) -> None:
        self._text, self._offsets, self._hashes, self._order = text, offsets, hashes, order

    @staticmethod
    def arrays(words: Iterable[bytes]) -> dict[str, NDArray[np.generic]]:
        """Return the arrays to store for these words."""
        listed = list(words)
        offsets = offsets_of([len(word) for word in listed])
        hashes = np.fromiter(map(word_hash, listed), np.uint64, len(listed))
        # A stable order, since the first of equal words counts.
        order = np.argsort(hashes, kind="stable")
        text = np.frombuffer(b"".join(listed), np.uint8)
        return {"text": text, "offsets": offsets, "hashes": hashes[order], "order": order}

    def _bytes(self, row: int) -> bytes:
        return self._text[self._offsets[row] : self._offsets[row + 1]].tobytes()

    def find(self, words: Sequence[str]) -> Integers:
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        wanted = np.fromiter(map(word_hash, encoded), np.uint64, len(words))
        places = np.searchsorted(self._hashes, wanted)
        rows = np.full(len(words), -1, np.int64)
        for i, place in enumerate(places.tolist()):
            while place < len(self._hashes) and self._hashes[place] == wanted[i]:
                row = int(self._order[place])
                if self._bytes(row) == encoded[i]:
                    rows[i] = row
                    break
                place += 1
        return rows

    def word(self, row: int) -> str:
        return self._bytes(row).decode("utf-8", "replace")

    def __len__(self) -> int:
        return len(self._offsets) - 1


def digest_of(words: Sequence[str], rows: VectorRows) -> str:
    """Return the digest of words and vectors, independent of their order.

    Of equal words the first one counts.
    """
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(word, row)
    listed = sorted(first)
    order = np.array([first[word] for word in listed], np.int64)
    blocks = [content.of_arrays(rows.take(order[at : at + _CHUNK])) for at in range(0, len(order), _CHUNK)]
    return content.together(content.of_lines(listed), *blocks)


class WordVectors:
    """A table of word vectors.

    With ``compounds``, a word that is not in the table is looked up in lower case, and a hyphenated word gets
    the mean vector of its parts if the table has all of them.
    """

    def __init__(
        self,
        name: str,
        words: WordIndex,
        rows: VectorRows,
        *,
        compounds: bool = False,
        digest: str | None = None,
    ) -> None:
        if len(words) != rows.shape[0]:
            raise InputError(
                f"{name}: {len(words):,} words but {rows.shape[0]:,} vectors; each word needs one"
            )
        self.name = name
        self.dimension = int(rows.shape[1])
        self._words, self._rows, self._compounds = words, rows, compounds
        self._unit: Floats | None = None
        self._digest = digest

    @classmethod
    def from_mapping(
        cls, vectors: Mapping[str, Sequence[float] | NDArray[np.floating]], name: str = "dict"
    ) -> WordVectors:
        """Build a table from a mapping of words to vectors."""
        if not vectors:
            raise InputError(f"{name}: no word vectors; pass at least one word with its vector")
        words = list(vectors)
        dimension = len(vectors[words[0]])
        array = np.empty((len(words), dimension), np.float32)
        for row, word in enumerate(words):
            try:
                array[row] = np.asarray(vectors[word], np.float32)
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"{name}: the vector of '{word}' is not {dimension} numbers like that of '{words[0]}'"
                ) from error
        if not np.isfinite(array).all():
            bad = words[int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])]
            raise InputError(f"{name}: the vector of '{bad}' has values that are not finite numbers")
        return cls(name, WordList(words), PlainRows(array))

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self._words.find([word])[0] >= 0)

    def __repr__(self) -> str:
        return f"WordVectors({self.name!r}, {len(self):,} words, {self.dimension} dimensions)"

    @property
    def label(self) -> str:
        """Size of the table, for signatures. It has no name, since signatures do not depend on the source."""
        return f"{len(self)}x{self.dimension}"

    @cached_property
    def digest(self) -> str:
        """Digest of the words and vectors, independent of their order."""
        if self._digest is None:
            self._digest = digest_of([self._words.word(row) for row in range(len(self))], self._rows)
        # The treatment of unknown words affects scores, too.
        return content.together(self._digest, "compounds") if self._compounds else self._digest

    def lookup(self, words: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return a vector for each word (zeros if it has none), and which words have one."""
        rows = self._words.find(words)
        has_vector = rows >= 0
        vectors: Floats = np.zeros((len(words), self.dimension), np.float32)
        vectors[has_vector] = self._rows.take(rows[has_vector])
        for i in np.flatnonzero(~has_vector).tolist():
            vector = self._unknown(words[i])
            if vector is not None:
                vectors[i], has_vector[i] = vector, True
        return vectors, has_vector

    def _unknown(self, word: str) -> Floats | None:
        """Return a vector for a word outside the table, None if it cannot be composed."""
        if not self._compounds:
            return None
        parts = [part for part in word.lower().split("-") if part]
        if not parts or len(parts) > 8 or parts == [word]:
            return None
        rows = self._words.find(parts)
        if (rows < 0).any():
            return None
        mean: Floats = self._rows.take(rows).mean(axis=0)
        return mean

    def nearest(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """Return the k words with the highest cosine, the most similar first; none for an unknown word."""
        vector, has_vector = self.lookup([word])
        norm = float(np.linalg.norm(vector[0]))
        if not has_vector[0] or norm == 0.0 or k < 1:
            return []
        query = vector[0] / np.float32(norm)
        total = len(self)
        if total * self.dimension <= _MAX_CACHED:
            if self._unit is None:
                self._unit = _unit_rows(self._rows.take(np.arange(total)))
            cosines = self._unit @ query
        else:
            chunks = (np.arange(start, min(start + _CHUNK, total)) for start in range(0, total, _CHUNK))
            cosines = np.concatenate([_unit_rows(self._rows.take(rows)) @ query for rows in chunks])
        own = int(self._words.find([word])[0])
        if own >= 0:
            cosines[own] = -np.inf
        k = min(k, total - 1)
        if k < 1:
            return []
        best = np.argpartition(-cosines, k - 1)[:k]
        best = best[np.argsort(-cosines[best], kind="stable")]
        return [(self._words.word(int(row)), float(cosines[row])) for row in best]


def _unit_rows(rows: Floats) -> Floats:
    unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-12))
    return unit
