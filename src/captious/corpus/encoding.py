"""Captions as numbers: tokenized once, words and n-grams numbered, immutable afterwards.

References are encoded by themselves. Candidates are encoded *over* their references: words and n-grams of the
references keep their numbers, and new ones are numbered from the end of the references'. References never
change, so any number of systems, threads and training steps can share them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.core.container import StoredTexts, compact
from captious.core.memo import Arrays, Memo, Product, cached_property
from captious.core.ragged import IntArray, offsets_of, stretches
from captious.text import tokenizers
from captious.text.ngrams import NgramIndex, NgramTable, TableWriter, is_exact, ngram_positions, pack
from captious.text.vocabulary import Vocabulary, WordTable

S = TypeVar("S", bound=np.generic)

#: Captions tokenized at a time, and tokens whose n-grams are numbered at a time: enough for speed, and little
#: memory compared with the result.
PORTION = 1 << 13
STRETCH = 1 << 17
_TABLE = "table of words"


class Numbered(NamedTuple):
    """N-grams of captions for one n: the table, the number of n-grams, and the index for lookups."""

    table: NgramTable
    #: One more than the largest number in use, including those of the base.
    size: int
    #: Finds the number of an n-gram. None for single words, and for captions encoded over others.
    finder: NgramIndex | None


def _pack_numbered(numbered: Numbered) -> Arrays:
    table, size, index = numbered
    arrays: dict[str, NDArray[Any]] = {
        "number": table.number,
        "count": table.count,
        "offsets": table.offsets,
        "totals": table.totals,
    }
    head = [size, 0, 0, 0]
    if index is not None:
        arrays |= {"keys": index.keys[: index.size], "places": index.places}
        head = [size, index.n, int(index.exact), index.size]
    return {**arrays, "head": np.array(head, np.int64)}


def _unpack_numbered(arrays: Arrays) -> Numbered:
    size, n, exact, _ = (int(value) for value in arrays["head"])
    table = NgramTable(*(arrays[name] for name in ("number", "count", "offsets", "totals")))
    index = None
    if n and "places" in arrays:
        index = NgramIndex.restore(n, bool(exact), arrays["keys"], arrays["places"])
    elif n:
        # Format of version 0.4: keys at their slots of the hash table, and their numbers beside them.
        slots, numbers = np.asarray(arrays["slots"]), np.asarray(arrays["numbers"])
        used = np.flatnonzero(slots)
        index = NgramIndex(n, bool(exact))
        index.encode(slots[used[np.argsort(numbers[used])]])
    return Numbered(table, size, index)


NUMBERED = Product("n-grams", _pack_numbered, _unpack_numbered)


class Encoding:
    """Sequence of captions as tokens: caption i is ``tokens[offsets[i]:offsets[i + 1]]``. Immutable."""

    def __init__(
        self,
        texts: Sequence[str],
        tokens: NDArray[np.int32],
        offsets: IntArray,
        vocabulary: Vocabulary,
        tokenizer: str,
        base: Encoding | None = None,
        memo: Memo | None = None,
    ) -> None:
        self.texts = texts
        self.tokens = tokens
        self.offsets = offsets
        self.vocabulary = vocabulary
        self.tokenizer = tokenizer
        self.base = base
        self.memo = memo if memo is not None else Memo()
        vocabulary.freeze()

    @classmethod
    def of(cls, texts: Sequence[str], tokenizer: str = "ptb", base: Encoding | None = None) -> Encoding:
        """Tokenize and number texts."""
        split = tokenizers.get(tokenizer)
        if tokenizer == "ptb":
            return cls._from_bytes(compact(texts), tokenizer, base)
        vocabulary = Vocabulary(base=base.vocabulary if base is not None else None)
        tokens, counts = [], []
        # A word as text takes ten times the memory of its number, so texts are processed in portions.
        for start in range(0, max(len(texts), 1), PORTION):
            words, numbers = split(texts[start : start + PORTION])
            tokens.append(vocabulary.encode(words))
            counts.append(numbers)
        return cls(
            compact(texts),
            np.concatenate(tokens),
            offsets_of(np.concatenate(counts)),
            vocabulary,
            tokenizer,
            base,
        )

    @classmethod
    def _from_bytes(cls, texts: Sequence[str], tokenizer: str, base: Encoding | None) -> Encoding:
        """Tokenize and number texts in one pass over their bytes."""
        from captious.text.ptb import numbering

        table = WordTable.of([]) if base is None else base._word_table().copy()
        known = table.count
        in_bytes = texts if isinstance(texts, StoredTexts) else StoredTexts.of(texts)
        tokens, counts = numbering.number(*in_bytes.arrays, table)
        vocabulary = Vocabulary(table.words(known), base=None if base is None else base.vocabulary)
        made = cls(texts, tokens, offsets_of(counts), vocabulary, tokenizer, base)
        if base is None:
            made.memo.get(_TABLE, lambda: table)
        return made

    def _word_table(self) -> WordTable:
        """Return the words as bytes, for lookups by loops."""
        return self.memo.get(_TABLE, lambda: WordTable.of(self.vocabulary.words))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def numbered(self, n: int) -> Numbered:
        """Return the n-grams of all captions."""
        return self.memo.product(NUMBERED, (str(n),), lambda: self._number(n))

    def _number(self, n: int) -> Numbered:
        table = TableWriter(np.maximum(np.diff(self.offsets) - (n - 1), 0))
        size = len(self.vocabulary) if n == 1 else 0 if self.base is None else self.base.numbered(n).size
        index = None
        for numbers, so_far, own in self._numbers(n):
            table.add(numbers)
            size, index = so_far, own
        return Numbered(table.table(), size, index)

    def _numbers(self, n: int) -> Iterator[tuple[NDArray[np.int32], int, NgramIndex | None]]:
        """Yield, stretch by stretch, the number of every n-gram, the count of numbers so far, and the index.

        Every call yields the same numbers.
        """
        words = len(self.vocabulary)
        exact = is_exact(n, words)
        own = NgramIndex(n, exact)
        below = self.base.numbered(n) if self.base is not None else None
        for first, last in stretches(self.offsets, STRETCH):
            begin = int(self.offsets[first])
            tokens = self.tokens[begin : int(self.offsets[last])]
            positions, _ = ngram_positions(self.offsets[first : last + 1] - begin, n)
            if n == 1:
                # Words keep their numbers.
                yield np.array(tokens), words, None
                continue
            keys = pack(tokens, n, words)[positions]
            if self.base is None or below is None:
                yield own.encode(keys), own.size, own
                continue
            numbers = np.full(len(keys), -1, dtype=np.int32)
            if below.finder is not None and below.finder.size:
                # Only n-grams of words of the base can be in its index.
                known = tokens < len(self.base.vocabulary)
                inside = np.all([known[positions + k] for k in range(n)], axis=0)
                # The base packed its n-grams for the size of its own vocabulary.
                theirs = (
                    keys
                    if below.finder.exact == exact
                    else pack(tokens, n, len(self.base.vocabulary))[positions]
                )
                numbers[inside] = below.finder.find(theirs[inside])
            new = numbers < 0
            numbers[new] = below.size + own.encode(keys[new])
            yield numbers, below.size + own.size, None

    def first_positions(self, n: int) -> tuple[NDArray[np.int32], IntArray]:
        """Return the ascending numbers of the captions' n-grams, and a token position of each."""
        numbers = np.concatenate([np.zeros(0, np.int32), *(part for part, _, _ in self._numbers(n))])
        distinct, first = np.unique(numbers, return_index=True)
        return distinct, ngram_positions(self.offsets, n)[0][first]

    def per_word(self, key: Hashable, look_up: Callable[[list[str]], NDArray[S]]) -> NDArray[S]:
        """Return an array with a row for each word. Words of the base are looked up once."""

        def make() -> NDArray[S]:
            if self.base is None:
                return look_up(self.vocabulary.words)
            below = self.base.per_word(key, look_up)
            return np.concatenate([below, look_up(self.vocabulary.new)]) if self.vocabulary.new else below

        return self.memo.get(("per word", key), make)

    @cached_property
    def words(self) -> NDArray[np.object_]:
        """Words by number, as an array for indexing."""
        own = np.array(self.vocabulary.new, dtype=object)
        return own if self.base is None else np.concatenate([self.base.words, own])
