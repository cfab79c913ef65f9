"""Document frequencies: in how many images' references an n-gram occurs. CIDEr weighs n-grams by them."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from captious.cache import atomic_write
from captious.corpus import Captions
from captious.errors import InputError
from captious.kernels import kernel
from captious.text.ngrams import ngram_numbers, ngram_positions, pack
from captious.text.vocabulary import Vocabulary

MAX_N = 4
_FORMAT = 1


@kernel
def _count_images(number, offsets, image_of, last, out):  # type: ignore[no-untyped-def]
    """Count each n-gram once per image; captions come image by image, so the last image seen is enough to know."""
    for i in range(offsets.shape[0] - 1):
        image = image_of[i]
        for j in range(offsets[i], offsets[i + 1]):
            if last[number[j]] != image:
                last[number[j]] = image
                out[number[j]] += 1


class DocumentFrequencies(ABC):
    """Where CIDEr's weights come from: the references of the run, or a table made from another corpus."""

    #: Number of images counted.
    images: int

    @abstractmethod
    def counts(self, captions: Captions, n: int) -> NDArray[np.int64]:
        """Images per n-gram, indexed by the numbers of ``captions.ngrams(n)``; 0 for n-grams never seen."""

    @abstractmethod
    def describe(self) -> str:
        """For signatures."""


class ReferenceFrequencies(DocumentFrequencies):
    """Counts over the references of the run."""

    def __init__(self, references: Captions) -> None:
        self.references = references
        self.images = references.n_images

    def counts(self, captions: Captions, n: int) -> NDArray[np.int64]:
        captions.ngrams(n)  # numbers the candidates' n-grams, so that the table below has room for them
        own = self.references.cached(("df", self.references.lexicon.index(n)), lambda: self._count(n))
        size = captions.lexicon.index(n).size
        if len(own) >= size:
            return own
        return np.concatenate([own, np.zeros(size - len(own), dtype=np.int64)])

    def _count(self, n: int) -> NDArray[np.int64]:
        table = self.references.ngrams(n)
        size = self.references.lexicon.index(n).size
        counts = np.zeros(size, dtype=np.int64)
        _count_images.pick(len(table.number) * 3)(
            table.number, table.offsets, self.references.image_of, np.full(size, -1, dtype=np.int64), counts
        )
        return counts

    def describe(self) -> str:
        return f"references({self.images})"


class FrequencyTable(DocumentFrequencies):
    """Counts that were made once and kept: columns of word numbers and a count for each n-gram."""

    def __init__(
        self, words: Sequence[str], grams: Mapping[int, NDArray[np.int32]], counts: Mapping[int, NDArray[np.int64]],
        images: int, tokenizer: str = "ptb",
    ) -> None:  # fmt: skip
        largest = max((int(column.max(initial=0)) for column in counts.values()), default=0)
        if images < max(1, largest):
            raise InputError(f"a table of {images} images cannot count an n-gram in {largest} of them")
        self.vocabulary = Vocabulary(words)
        self.grams = dict(grams)
        self.table = dict(counts)
        self.images = images
        self.tokenizer = tokenizer
        self._sorted: dict[int, tuple[NDArray[np.uint64], NDArray[np.int64]]] = {}

    @classmethod
    def build(cls, references: Captions, max_n: int = MAX_N) -> FrequencyTable:
        """Count the n-grams of reference captions."""
        source = ReferenceFrequencies(references)
        grams, counts = {}, {}
        for n in range(1, max_n + 1):
            positions, _ = ngram_positions(references.token_offsets, n)
            size = len(references.vocabulary)
            numbers = ngram_numbers(references.tokens, positions, n, references.lexicon.index(n), size)
            present, first = np.unique(numbers, return_index=True)
            where = positions[first]
            grams[n] = np.stack([references.tokens[where + k] for k in range(n)], axis=1).astype(np.int32)
            counts[n] = source.counts(references, n)[present]
        words = references.vocabulary.words
        return cls(words, grams, counts, references.n_images, references.tokenizer)

    @classmethod
    def from_counts(
        cls, counts: Iterable[tuple[Sequence[str], float]], images: int, tokenizer: str = "ptb"
    ) -> FrequencyTable:
        """A table from (n-gram as words, number of images) pairs."""
        vocabulary = Vocabulary()
        rows: dict[int, list[Sequence[str]]] = {}
        numbers: dict[int, list[float]] = {}
        for gram, count in counts:
            rows.setdefault(len(gram), []).append(gram)
            numbers.setdefault(len(gram), []).append(count)
        if not rows:
            raise InputError("the table of document frequencies is empty")
        grams = {
            n: vocabulary.encode([word for gram in listed for word in gram]).reshape(-1, n)
            for n, listed in rows.items()
        }
        whole = {n: np.rint(np.asarray(column)).astype(np.int64) for n, column in numbers.items()}
        return cls(vocabulary.words, grams, whole, images, tokenizer)

    def counts(self, captions: Captions, n: int) -> NDArray[np.int64]:
        return captions.cached(("df table", self, captions.lexicon.index(n)), lambda: self._look_up(captions, n))

    def _look_up(self, captions: Captions, n: int) -> NDArray[np.int64]:
        captions.ngrams(n)
        out = np.zeros(captions.lexicon.index(n).size, dtype=np.int64)
        if n not in self.table:
            return out
        if n not in self._sorted:
            flat = self.grams[n].ravel().astype(np.int32)
            keys = pack(flat, n, len(self.vocabulary))[::n]
            order = np.argsort(keys)
            self._sorted[n] = keys[order], self.table[n][order]
        keys, counts = self._sorted[n]
        return out if not len(keys) else self._fill(captions, n, keys, counts, out)

    def _fill(
        self, captions: Captions, n: int, keys: NDArray[np.uint64], counts: NDArray[np.int64], out: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        translation = self.vocabulary.find(captions.vocabulary.words)
        positions, _ = ngram_positions(captions.token_offsets, n)
        numbers = ngram_numbers(
            captions.tokens, positions, n, captions.lexicon.index(n), len(captions.vocabulary)
        )
        _, first = np.unique(numbers, return_index=True)
        positions, numbers = positions[first], numbers[first]
        tokens = translation[captions.tokens]
        wanted = pack(tokens, n, len(self.vocabulary))[positions]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        # A word the table does not know makes the n-gram unknown, whatever its key.
        known = np.all(np.stack([tokens[positions + k] for k in range(n)]) >= 0, axis=0)
        hit = known & (keys[place] == wanted)
        out[numbers[hit]] = counts[place[hit]]
        return out

    def describe(self) -> str:
        return f"table({self.images},{self.checksum})"

    @cached_property
    def checksum(self) -> str:
        """A short name of the contents."""
        crc = zlib.crc32("\n".join(self.vocabulary.words).encode())
        for n in sorted(self.table):
            crc = zlib.crc32(self.grams[n].tobytes(), crc)
            crc = zlib.crc32(self.table[n].tobytes(), crc)
        return f"{crc:08x}"

    def save(self, path: str | Path) -> None:
        """Write the table (a NumPy archive; nothing in it is executable)."""
        arrays: dict[str, NDArray[np.generic]] = {
            "format": np.array([_FORMAT, self.images, *sorted(self.table)], dtype=np.int64),
            "words": np.frombuffer("\n".join(self.vocabulary.words).encode(), dtype=np.uint8),
            "tokenizer": np.frombuffer(self.tokenizer.encode(), dtype=np.uint8),
        }
        for n in self.table:
            arrays[f"grams_{n}"] = self.grams[n]
            arrays[f"counts_{n}"] = self.table[n].astype(np.int32)
        with atomic_write(path) as temporary, temporary.open("wb") as handle:
            np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | Path) -> FrequencyTable:
        """Read a table written by :meth:`save`."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                version, images, *orders = archive["format"].tolist()
                if version != _FORMAT:
                    raise InputError(f"{path}: document frequencies of format {version}; this version reads {_FORMAT}")
                words = archive["words"].tobytes().decode().split("\n")
                tokenizer = archive["tokenizer"].tobytes().decode()
                grams = {n: archive[f"grams_{n}"].astype(np.int32) for n in orders}
                counts = {n: archive[f"counts_{n}"].astype(np.int64) for n in orders}
        except (OSError, ValueError, KeyError, zlib.error, EOFError, BadZipFile) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{path}: not a table of document frequencies ({error}); make one with 'captious df build'"
            ) from error
        return cls(words, grams, counts, images, tokenizer)
