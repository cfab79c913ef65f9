"""Distilled caption vectors: the sum of the vectors of a caption's words and word pairs.

The table was fitted so that the sum points where the vector of the whole caption by the sentence encoder
all-MiniLM-L6-v2 points (``python -m tools.make_caption_vectors``). Words outside the table are composed of
character n-grams, so that typos and rare words have vectors, too.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as content
from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.vectors.vector_table import (
    Floats,
    Integers,
    PlainRows,
    QuantisedRows,
    VectorRows,
    WordList,
    WordVectors,
    digest_of,
)

FILE = Path(__file__).parent / "caption_vectors.npz"
MAP_FILE = FILE.with_name("caption_map.npz")
NAME = "captions"

#: Lengths of the character n-grams of a word with marks at both ends.
_SHORTEST, _LONGEST = 3, 5
#: Longer words are cut, so that hostile text takes little time.
_MAX_LENGTH = 40


def gram_buckets(word: str, buckets: int) -> list[int]:
    """Return the rows of a word's character n-grams; none for a word without a letter from a to z."""
    if not any("a" <= letter <= "z" for letter in word):
        return []
    marked = f"<{word[:_MAX_LENGTH]}>"
    return [
        zlib.crc32(marked[start : start + size].encode("utf-8", "surrogatepass")) % buckets
        for size in range(_SHORTEST, _LONGEST + 1)
        for start in range(len(marked) - size + 1)
    ]


class SubwordVectors(WordVectors):
    """Word vectors where an unknown word gets the vector of its hyphenated parts or of its n-grams."""

    def __init__(
        self, name: str, words: WordList, rows: VectorRows, grams: VectorRows, source: str = ""
    ) -> None:
        super().__init__(name, words, rows, compounds=True)
        self._grams, self._source = grams, source

    @cached_property
    def digest(self) -> str:
        """Digest of the words, their vectors and those of n-grams, or of what they were computed from."""
        if self._source:
            return self._source
        table = digest_of([self._words.word(row) for row in range(len(self))], self._rows)
        return content.together(table, content.of_arrays(self._grams.take(np.arange(self._grams.shape[0]))))

    @property
    def is_computed(self) -> bool:
        """Whether the vectors were multiplied with a matrix."""
        return bool(self._source)

    def rows_of(self, words: Sequence[str]) -> Integers:
        """Return the row of each word, −1 for words outside the table."""
        return self._words.find(words)

    def _unknown(self, word: str) -> Floats | None:
        composed = super()._unknown(word)
        if composed is not None:
            return composed
        buckets = gram_buckets(word.lower(), self._grams.shape[0])
        if not buckets:
            return None
        mean: Floats = self._grams.take(np.array(buckets, np.int64)).mean(axis=0)
        return mean


class CaptionVectors:
    """Vectors of words, and of pairs of neighbouring words that mean something else together."""

    def __init__(self, words: SubwordVectors, pairs: NDArray[np.int64], rows: VectorRows) -> None:
        self.words = words
        #: Vectors of pairs in the order of ``_codes``.
        order = np.argsort(pairs[:, 0] * len(words) + pairs[:, 1], kind="stable")
        self._codes = (pairs[:, 0] * len(words) + pairs[:, 1])[order]
        self.pair_rows: Floats = rows.take(order)

    @property
    def label(self) -> str:
        """Number of words and pairs, and dimension, for signatures."""
        return f"{len(self.words)}+{len(self._codes)}x{self.words.dimension}"

    @cached_property
    def digest(self) -> str:
        """Digest of all vectors, or of what they were computed from."""
        if self.words.is_computed:
            return self.words.digest
        return content.together(self.words.digest, content.of_arrays(self._codes, self.pair_rows))

    def find_pairs(self, first: Integers, second: Integers) -> Integers:
        """Return the row of each pair of words (both as rows), −1 if it has none."""
        if not len(self._codes):
            return np.full(len(first), -1, np.int64)
        codes = first * len(self.words) + second
        places = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        known = (first >= 0) & (second >= 0) & (self._codes[places] == codes)
        return np.where(known, places, -1)


def from_arrays(
    arrays: dict[str, NDArray[np.generic]], matrix: NDArray[np.floating] | None = None
) -> CaptionVectors:
    """Build the vectors from the arrays of a file, multiplied with a matrix if there is one."""
    listed = arrays["words"].tobytes().decode("utf-8").split("\n")
    codes, scales = arrays["codes"].astype(np.int8), arrays["scales"].astype(np.float32)
    gram_codes, gram_scales = arrays["gram_codes"].astype(np.int8), arrays["gram_scales"].astype(np.float32)
    count = len(listed)

    def rows_of(part: NDArray[np.int8], own_scales: Floats) -> VectorRows:
        rows = QuantisedRows(part, own_scales)
        if matrix is None:
            return rows
        every = rows.take(np.arange(len(part))).astype(np.float64)
        # In double precision, so that the rounded rows are the same on every machine.
        return PlainRows((every @ matrix.astype(np.float64)).astype(np.float32))

    # A digest of products could depend on their last bit.
    source = "" if matrix is None else content.of_arrays(codes, scales, gram_codes, gram_scales, matrix)
    words = SubwordVectors(
        NAME,
        WordList(listed),
        rows_of(codes[:count], scales[:count]),
        rows_of(gram_codes, gram_scales),
        source,
    )
    pairs = arrays["pairs"].astype(np.int64)
    return CaptionVectors(words, pairs, rows_of(codes[count:], scales[count:]))


def read_arrays(path: Path, what: str) -> dict[str, NDArray[np.generic]]:
    """Read the arrays of a file that ships."""
    try:
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in data.files}
    except (OSError, ValueError, BadZipFile) as error:
        raise InputError(f"cannot read {what} {path} ({error}); reinstall captious") from error


@lru_cache(maxsize=1)
def load(path: Path = FILE) -> CaptionVectors:
    """Load the shipped vectors, or others written by the script."""
    arrays = read_arrays(path, "the caption vectors")
    try:
        return from_arrays(arrays)
    except (ValueError, KeyError, IndexError) as error:
        raise InputError(f"cannot read the caption vectors {path} ({error}); reinstall captious") from error


@lru_cache(maxsize=1)
def load_mapped() -> CaptionVectors:
    """Load the shipped vectors, mapped so that captions of one image come nearer to each other.

    ``python -m tools.make_caption_map`` learned the matrix from people's captions.
    """
    arrays = read_arrays(MAP_FILE, "the map of caption vectors")
    if "matrix" not in arrays or arrays["source"].item() != load().digest:
        raise InputError(f"{MAP_FILE} belongs to other caption vectors; reinstall captious")
    return from_arrays(read_arrays(FILE, "the caption vectors"), np.asarray(arrays["matrix"], np.float32))
