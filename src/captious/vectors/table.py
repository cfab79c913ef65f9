"""Word vectors as one interface, wherever they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from captious import digest as content
from captious.errors import InputError

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

#: Rows compared at a time when looking for neighbours: bounds the memory of a search through millions of words.
_CHUNK = 65_536
#: Tables of at most this many numbers are kept, normalised, after the first search for neighbours.
_KEEP = 32_000_000


class Rows(Protocol):
    """Vectors by row number."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, dimension."""
        ...

    def take(self, rows: Integers) -> Floats:
        """Those rows as 32-bit floats."""
        ...


class Words(Protocol):
    """Words by row number, and back."""

    def find(self, words: Sequence[str]) -> Integers:
        """The row of each word, −1 where there is none."""
        ...

    def word(self, row: int) -> str: ...

    def __len__(self) -> int: ...


class PlainRows:
    """An array (in memory or mapped from a file)."""

    def __init__(self, array: NDArray[np.floating]) -> None:
        self._array = array
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))

    def take(self, rows: Integers) -> Floats:
        return np.asarray(self._array[rows], dtype=np.float32)


class QuantisedRows:
    """Eight-bit rows with one scale each."""

    def __init__(self, codes: NDArray[np.int8], scales: Floats) -> None:
        self._codes, self._scales = codes, scales
        self.shape: tuple[int, int] = (int(codes.shape[0]), int(codes.shape[1]))

    def take(self, rows: Integers) -> Floats:
        taken: Floats = self._codes[rows].astype(np.float32)
        taken *= self._scales[rows][:, None]
        return taken


class WordList:
    """Words in memory, found through a dictionary. Of equal words the first counts."""

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
    """A 64-bit hash that is the same on every machine and in every run."""
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")


class MappedWords:
    """Words in a file: sorted hashes, so that nothing but the words asked for is ever read."""

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
        """What to store for these words."""
        listed = list(words)
        offsets = np.zeros(len(listed) + 1, np.int64)
        np.cumsum([len(word) for word in listed], out=offsets[1:])
        hashes = np.fromiter(map(word_hash, listed), np.uint64, len(listed))
        # A stable order puts the first of equal words first, which is the one that counts.
        order = np.argsort(hashes, kind="stable")
        text = np.frombuffer(b"".join(listed), np.uint8)
        return {"text": text, "offsets": offsets, "hashes": hashes[order], "order": order}

    def _bytes(self, row: int) -> bytes:
        return self._text[self._offsets[row] : self._offsets[row + 1]].tobytes()

    def find(self, words: Sequence[str]) -> Integers:
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        wanted = np.fromiter(map(word_hash, encoded), np.uint64, len(words))
        places = np.searchsorted(self._hashes, wanted)
        found = np.full(len(words), -1, np.int64)
        for i, place in enumerate(places.tolist()):
            while place < len(self._hashes) and self._hashes[place] == wanted[i]:
                row = int(self._order[place])
                if self._bytes(row) == encoded[i]:
                    found[i] = row
                    break
                place += 1
        return found

    def word(self, row: int) -> str:
        return self._bytes(row).decode("utf-8", "replace")

    def __len__(self) -> int:
        return len(self._offsets) - 1


class WordVectors:
    """A table of word vectors.

    A word that is not in the table has no vector. With ``compounds`` it is tried again in lower case, and a
    hyphenated word gets the mean of its parts if all of them are there; what is then still unknown has no vector.
    """

    def __init__(
        self, name: str, words: Words, rows: Rows, *, compounds: bool = False, digest: str | None = None
    ) -> None:
        if len(words) != rows.shape[0]:
            raise InputError(f"{name}: {len(words):,} words but {rows.shape[0]:,} vectors")
        self.name = name
        self.dimension = int(rows.shape[1])
        self._words, self._rows, self._compounds = words, rows, compounds
        self._unit: Floats | None = None
        self._digest = digest

    @classmethod
    def from_mapping(cls, vectors: Mapping[str, Sequence[float] | NDArray[np.floating]], name: str = "dict") -> WordVectors:
        """Vectors from any ``{word: vector}``."""
        if not vectors:
            raise InputError(f"{name}: no word vectors were given")
        words = list(vectors)
        dimension = len(vectors[words[0]])
        array = np.empty((len(words), dimension), np.float32)
        for row, word in enumerate(words):
            try:
                array[row] = np.asarray(vectors[word], np.float32)
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"{name}: the vector of '{word}' is not {dimension} numbers, as that of '{words[0]}' is"
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
        """For the signatures of metrics: which table, how large."""
        return f"{self.name}({len(self)}x{self.dimension})"

    @cached_property
    def digest(self) -> str:
        """Names the words and their vectors, whatever their order."""
        if self._digest is not None:
            return self._digest
        words = [self._words.word(row) for row in range(len(self))]
        order = np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)
        return content.together(content.of_lines(sorted(words)), content.of_arrays(self._rows.take(order)))

    def lookup(self, words: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """A vector for each word (zeros where there is none), and which words have one."""
        rows = self._words.find(words)
        found = rows >= 0
        vectors: Floats = np.zeros((len(words), self.dimension), np.float32)
        vectors[found] = self._rows.take(rows[found])
        for i in np.flatnonzero(~found).tolist():
            vector = self._unknown(words[i])
            if vector is not None:
                vectors[i], found[i] = vector, True
        return vectors, found

    def _unknown(self, word: str) -> Floats | None:
        """A vector for a word outside the table, if there is a way to make one."""
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
        """The k words most similar to a word (cosine), most similar first; nothing for an unknown word."""
        vector, found = self.lookup([word])
        norm = float(np.linalg.norm(vector[0]))
        if not found[0] or norm == 0.0 or k < 1:
            return []
        query = vector[0] / np.float32(norm)
        total = len(self)
        if total * self.dimension <= _KEEP:
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
