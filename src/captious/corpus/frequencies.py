"""Document frequencies: the number of images whose references have an n-gram. CIDEr's weights use them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.errors import InputError
from captious.core.memo import Memo, Product, cached_property
from captious.corpus import Captions
from captious.corpus.encoding import Encoding
from captious.kernels import kernel
from captious.kernels.types import Int32, Int64, Out
from captious.text.ngrams import pack
from captious.text.vocabulary import Vocabulary

MAX_N = 4

#: Larger counts are not exact as floating-point numbers, and no corpus has that many images.
LARGEST = 2**53
#: Longest n-grams of a table.
_LONGEST = 16


@kernel
def _count_images(number: Int32, offsets: Int64, image_of: Int64, last: Out[Int32], out: Out[Int64]) -> None:
    """Count each n-gram once per image. Captions are ordered by image, so the last image suffices."""
    for i in range(offsets.shape[0] - 1):
        image = image_of[i]
        for j in range(offsets[i], offsets[i + 1]):
            if last[number[j]] != image:
                last[number[j]] = image
                out[number[j]] += 1


class DocumentFrequencies(ABC):
    """Source of CIDEr's weights: the references of the run, or a table computed from another corpus."""

    #: Name in signatures.
    label: str
    #: Number of images counted.
    images: int

    @abstractmethod
    def counts(self, captions: Captions, n: int) -> NDArray[np.int64]:
        """Return the number of images for each row of ``captions.ngrams(n)``, 0 for unknown n-grams."""

    @abstractmethod
    def weights(self, encoding: Encoding, n: int) -> NDArray[np.float64]:
        """Return log(images / max(1, count)) for the n-grams of an encoding, by their numbers.

        N-grams with numbers beyond the end of the array were never seen.
        """

    @property
    def unseen(self) -> float:
        """Weight of n-grams that were never seen."""
        return float(np.log(float(self.images)))

    def _inverse(self, counts: NDArray[np.integer]) -> NDArray[np.float64]:
        # There are far fewer different counts than n-grams to take logarithms of.
        most = int(counts.max(initial=0))
        if most < len(counts):
            weights: NDArray[np.float64] = (
                np.log(float(self.images)) - np.log(np.maximum(1.0, np.arange(most + 1, dtype=np.float64)))
            )[counts]
            return weights
        return np.asarray(np.log(float(self.images)) - np.log(np.maximum(1.0, counts)), dtype=np.float64)

    @property
    @abstractmethod
    def digest(self) -> str:
        """Digest of the content."""

    def check_tokenizer(self, tokenizer: str) -> None:  # noqa: B027 (only tables can differ)
        """Refuse captions that were tokenized differently than the counted ones."""


#: Images per n-gram number, for the captions of all images.
_COUNTS: Product[NDArray[np.int64]] = Product(
    "document frequencies",
    lambda counts: {"counts": counts},
    lambda arrays: arrays["counts"].astype(np.int64, copy=False),
)


class ReferenceFrequencies(DocumentFrequencies):
    """Counts over the references of the run (or over other captions that share their numbering)."""

    def __init__(self, references: Captions, label: str = "references") -> None:
        self.references = references
        self.label = label
        self.images = references.n_images

    @property
    def digest(self) -> str:
        return self.references.digest

    def counts(self, captions: Captions, n: int) -> NDArray[np.int64]:
        own = self.all_counts(n)
        number = captions.ngrams(n).number
        # New n-grams have higher numbers than those of the references.
        return (
            np.where(number < len(own), own[np.minimum(number, len(own) - 1)], 0)
            if len(own)
            else np.zeros_like(number)
        )

    def weights(self, encoding: Encoding, n: int) -> NDArray[np.float64]:
        return self.references.cached(
            ("inverse document frequencies", n), lambda: self._inverse(self.all_counts(n))
        )

    def all_counts(self, n: int) -> NDArray[np.int64]:
        """Return the number of images for each n-gram by its number."""
        return self.references.product(_COUNTS, (str(n),), lambda: self._count(n))

    def _count(self, n: int) -> NDArray[np.int64]:
        table = self.references.ngrams(n)
        size = self.references.encoding.numbered(n).size
        counts = np.zeros(size, dtype=np.int64)
        _count_images(
            table.number, table.offsets, self.references.image_of, np.full(size, -1, dtype=np.int32), counts
        )
        return counts


class FrequencyTable(DocumentFrequencies):
    """Table of counts: columns of word numbers and a count for each n-gram."""

    label: ClassVar[str] = "table"  # type: ignore[misc]

    def __init__(
        self,
        words: Sequence[str],
        grams: Mapping[int, NDArray[np.int32]],
        counts: Mapping[int, NDArray[np.int64]],
        images: int,
        tokenizer: str = "ptb",
    ) -> None:
        self.grams, self.table = _checked(words, grams, counts, images)
        self.vocabulary = Vocabulary(words)
        self.vocabulary.freeze()
        self.images = images
        self.tokenizer = tokenizer
        self._memo = Memo()

    @classmethod
    def build(cls, references: Captions, max_n: int = MAX_N) -> FrequencyTable:
        """Count the n-grams of reference captions."""
        source = ReferenceFrequencies(references)
        tokens = references.encoding.tokens
        grams, counts = {}, {}
        for n in range(1, max_n + 1):
            known, position = references.encoding.first_positions(n)
            present, rows = np.unique(references.ngrams(n).number, return_index=True)
            where = position[np.searchsorted(known, present)]
            grams[n] = np.stack([tokens[where + k] for k in range(n)], axis=1).astype(np.int32)
            counts[n] = source.counts(references, n)[rows]
        return cls(references.vocabulary.words, grams, counts, references.n_images, references.tokenizer)

    @classmethod
    def from_counts(
        cls, counts: Iterable[tuple[Sequence[str], float]], images: int, tokenizer: str = "ptb"
    ) -> FrequencyTable:
        """Create a table from (n-gram as words, number of images) pairs."""
        vocabulary = Vocabulary()
        rows: dict[int, list[Sequence[str]]] = {}
        numbers: dict[int, list[float]] = {}
        for gram, count in counts:
            if not 0 <= count <= LARGEST or count != round(count):
                raise InputError(
                    f"the count of {' '.join(gram)[:80]!r} is {count}; counts must be whole numbers of images"
                )
            rows.setdefault(len(gram), []).append(gram)
            numbers.setdefault(len(gram), []).append(count)
        if not rows:
            raise InputError("the table of document frequencies is empty")
        grams = {
            n: vocabulary.encode([word for gram in listed for word in gram]).reshape(-1, n)
            for n, listed in rows.items()
        }
        whole = {n: np.asarray(column).astype(np.int64) for n, column in numbers.items()}
        return cls(vocabulary.words, grams, whole, images, tokenizer)

    def counts(self, captions: Captions, n: int) -> NDArray[np.int64]:
        number = captions.ngrams(n).number
        known, counts = captions.encoding.memo.get(
            ("df table", self, n), lambda: self._look_up(captions.encoding, n)
        )
        return counts[np.searchsorted(known, number)] if len(known) else np.zeros(len(number), dtype=np.int64)

    def weights(self, encoding: Encoding, n: int) -> NDArray[np.float64]:
        def make() -> NDArray[np.float64]:
            known, counts = encoding.memo.get(("df table", self, n), lambda: self._look_up(encoding, n))
            every = np.zeros(encoding.numbered(n).size, dtype=np.int64)
            every[known] = counts
            return self._inverse(every)

        return encoding.memo.get(("inverse document frequencies", self, n), make)

    def check_tokenizer(self, tokenizer: str) -> None:
        # Captions that are already tokenized ("none") may match any tokenizer.
        if tokenizer != self.tokenizer and "none" not in (tokenizer, self.tokenizer):
            raise InputError(
                f"the table of document frequencies was made with the tokenizer '{self.tokenizer}' and the "
                f"captions are tokenized with '{tokenizer}'; make a table with "
                f"'captious df build REFS -o FILE --tokenizer {tokenizer}'"
            )

    def _sorted(self, n: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        def sort() -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            keys = pack(self.grams[n].ravel().astype(np.int32), n, len(self.vocabulary))[::n]
            order = np.argsort(keys)
            return keys[order], self.table[n][order]

        return self._memo.get(("sorted", n), sort)

    def _look_up(self, encoding: Encoding, n: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ascending numbers of an encoding's n-grams, and their counts in this table."""
        numbers, position = encoding.first_positions(n)
        if n not in self.table or not len(self.table[n]) or not len(numbers):
            return numbers, np.zeros(len(numbers), dtype=np.int64)
        keys, counts = self._sorted(n)
        tokens = encoding.per_word(self, self.vocabulary.find)[encoding.tokens]
        wanted = pack(tokens, n, len(self.vocabulary))[position]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        # A word that the table lacks makes the n-gram unknown, whatever its key.
        known = np.all(np.stack([tokens[position + k] for k in range(n)]) >= 0, axis=0)
        return numbers, np.where(known & (keys[place] == wanted), counts[place], 0)

    @cached_property
    def digest(self) -> str:
        """Digest of the n-grams and their counts, in any order of words and rows."""
        names = digest.keys_of(self.vocabulary.words)
        total = np.uint64(0)
        with np.errstate(over="ignore"):
            for n in sorted(self.table):
                keys = np.full(len(self.table[n]), n, dtype=np.uint64)
                for column in [
                    *(names[self.grams[n][:, k]] for k in range(n)),
                    self.table[n].astype(np.uint64),
                ]:
                    keys = (keys ^ column) * np.uint64(0x9E3779B97F4A7C15)
                    keys ^= keys >> np.uint64(29)
                total += keys.sum(dtype=np.uint64)
        return digest.of_lines([f"{int(total):016x}", str(self.images), self.tokenizer])


def _checked(
    words: Sequence[str],
    grams: Mapping[int, NDArray[np.integer]],
    counts: Mapping[int, NDArray[np.integer]],
    images: int,
) -> tuple[dict[int, NDArray[np.int32]], dict[int, NDArray[np.int64]]]:
    """Check the columns of a table and return them as they are stored."""
    if not 1 <= images <= LARGEST:
        raise InputError(f"a table of {images:,} images is impossible")
    if any("\n" in word for word in words):
        raise InputError(f"the word {next(w for w in words if chr(10) in w)[:40]!r} has a line break in it")
    if len(set(words)) < len(words):
        raise InputError("a word is listed twice in the vocabulary")
    for n in grams:
        rows, column = np.asarray(grams[n]), np.asarray(counts.get(n, ()))
        if (
            not 1 <= n <= _LONGEST
            or rows.shape != (len(column), n)
            or column.ndim != 1
            or {rows.dtype.kind, column.dtype.kind} - set("iu")
        ):
            raise InputError(f"its {n}-grams are damaged: {rows.shape} words for {column.shape} counts")
        if rows.size and not (rows.min() >= 0 and rows.max() < len(words)):
            raise InputError(f"its {n}-grams are damaged: they have words that are not in its vocabulary")
        if column.size and (column.min() < 0 or column.max() > images):
            wrong = int(column.max()) if column.max() > images else int(column.min())
            raise InputError(f"a count of {wrong:,} images is not possible in a table of {images:,} images")
        keys = np.sort(pack(rows.ravel().astype(np.int32), n, len(words))[::n]) if n <= MAX_N else rows[:0, 0]
        if np.any(keys[1:] == keys[:-1]):
            raise InputError(f"one of its {n}-grams is listed twice")
    return (
        {n: np.asarray(rows).astype(np.int32, copy=False) for n, rows in grams.items()},
        {n: np.asarray(counts[n]).astype(np.int64, copy=False) for n in grams},
    )
