"""n-grams with modified Kneser–Ney smoothing, interpolated (Chen & Goodman 1999), as arrays.

An n-gram is known by the n-gram before its last word and that word: its key is ``context · |V| + word``, and its number is the place
of the key among the sorted keys of its order. Looking up all n-grams of a corpus is one binary search for each order.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError
from captious.io import CaptionWarning
from captious.ragged import IntArray
from captious.rerank.models.base import BEGIN, UNKNOWN, Floats, Vocabulary, WordModel

#: Discounts of n-grams seen once, twice, and more often, where a corpus is too small or too odd to tell them.
FALLBACK = (0.5, 1.0, 1.5)


class Order(NamedTuple):
    """The n-grams of one length: sorted keys, log P of the last word after the others, and the weight of what is shorter
    when this n-gram is the context (log)."""

    keys: NDArray[np.int64]
    log: Floats
    backoff: Floats

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of n-grams, −1 for those that are not there (keys below 0 are never there)."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found: NDArray[np.int64] = np.where((keys >= 0) & (self.keys[place] == keys), place, -1)
        return found


class NGram(WordModel):
    """An n-gram model with backoff, counted here or read from an ARPA file."""

    kind = "ngram"

    def __init__(self, vocabulary: Vocabulary, orders: Sequence[Order], tokenizer: str = "ptb", made: Mapping[str, Any] | None = None) -> None:
        self.vocabulary, self.orders, self.tokenizer, self.made = vocabulary, list(orders), tokenizer, dict(made or {})
        size = len(vocabulary)
        first = self.orders[0] if self.orders else None
        if first is None or not np.array_equal(first.keys, np.arange(size)):
            raise InputError("an n-gram model starts with all words of its vocabulary")
        for below, order in zip(self.orders, self.orders[1:]):
            sorted_keys = bool((np.diff(order.keys) > 0).all()) and (not len(order.keys) or (order.keys[0] >= 0 and order.keys[-1] < len(below.keys) * size))
            if not sorted_keys:
                raise InputError("the n-grams of a language model are not in order: the file is damaged")
        for order in self.orders:
            # Words that nothing is known of have log P = −∞ (the beginning); a weight may be 0, which is −∞ too.
            if len(order.log) != len(order.keys) or len(order.backoff) != len(order.keys) or np.isnan(order.log).any() or np.isnan(order.backoff).any():
                raise InputError("the n-grams of a language model lack probabilities: the file is damaged")

    @property
    def order(self) -> int:
        return len(self.orders)

    @classmethod
    def learn(cls, captions: Sequence[Sequence[str]], order: int = 3, least: int = 1, tokenizer: str = "ptb") -> NGram:
        """Count the n-grams of captions up to ``order``, and smooth."""
        if order < 1:
            raise InputError(f"n-grams have a length of 1 or more, not {order}")
        vocabulary = Vocabulary.learn(captions, least)
        numbers, offsets = vocabulary.encode(captions)
        flat, starts = _with_begin(numbers, offsets)
        counts = _count(flat, starts, order, len(vocabulary))
        return cls(vocabulary, _smooth(counts, len(vocabulary)), tokenizer, {"order": order})

    def score_numbers(self, numbers: NDArray[np.int64], offsets: IntArray) -> Floats:
        flat, _ = _with_begin(numbers, offsets)
        size = len(self.vocabulary)
        total = self.orders[0].log[flat]
        at = flat  # the number of the longest n-gram of the last order that ends at each place
        for n in range(2, self.order + 1):
            context = np.concatenate([[-1], at[:-1]])
            # Nothing reaches over the beginning of a caption.
            context[flat == BEGIN] = -1
            found = self.orders[n - 1].find(np.where(context >= 0, context * size + flat, -1))
            weight = np.where(context >= 0, self.orders[n - 2].backoff[context], 0.0)
            total = np.where(found >= 0, self.orders[n - 1].log[found] if len(self.orders[n - 1].log) else 0.0, total + weight)
            at = found
        scored: Floats = total[flat != BEGIN]
        return scored

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is kept of it."""
        return {f"{name}.{n}": array for n, order in enumerate(self.orders, 1) for name, array in order._asdict().items()}


def _with_begin(numbers: NDArray[np.int64], offsets: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Captions with the beginning before each, and for every place where its caption starts."""
    flat = np.insert(numbers, offsets[:-1], BEGIN)
    starts = offsets[:-1] + np.arange(len(offsets) - 1)
    return flat, np.repeat(starts, np.diff(offsets) + 1)


class _Counted(NamedTuple):
    """n-grams of one order: keys, how often each is there, and the numbers of its context (without its last word) and of its
    suffix (without its first)."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    context: NDArray[np.int64]
    suffix: NDArray[np.int64]
    first: NDArray[np.int64]


def _count(flat: NDArray[np.int64], starts: NDArray[np.int64], order: int, size: int) -> list[_Counted]:
    nothing = np.zeros(size, np.int64)
    counted = [_Counted(np.arange(size), np.bincount(flat, minlength=size), nothing, nothing, np.arange(size))]
    at, place = flat, np.arange(len(flat))
    for n in range(2, order + 1):
        whole = place[place - (n - 1) >= starts[place]]
        keys, where, inverse, counts = np.unique(at[whole - 1] * size + flat[whole], return_index=True, return_inverse=True, return_counts=True)
        ends = whole[where]
        counted.append(_Counted(keys, counts, at[ends - 1], at[ends], flat[ends - (n - 1)]))
        at = np.full(len(flat), -1, np.int64)
        at[whole] = inverse
    return counted


def _smooth(counted: Sequence[_Counted], size: int) -> list[Order]:
    orders: list[Order] = []
    predicted = size - 1  # every word but the beginning
    below = np.full(1, -np.log(predicted))
    for n, grams in enumerate(counted, 1):
        adjusted = _adjusted(grams, counted[n] if n < len(counted) else None)
        if n == 1:
            adjusted[BEGIN] = 0
        discounts = _discounts(adjusted, n)
        kind = np.minimum(adjusted, 3)
        contexts = len(counted[n - 2].keys) if n > 1 else 1
        context = grams.context if n > 1 else np.zeros(size, np.int64)
        total = np.bincount(context, adjusted, contexts)
        taken = np.bincount(context, discounts[kind], contexts)
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(total > 0, taken / total, 1.0)
            share = (adjusted - discounts[kind]) / total[context]
        shorter = np.exp(below[grams.suffix] if n > 1 else below[np.zeros(size, np.int64)])
        with np.errstate(divide="ignore"):
            log = np.log(share + rest[context] * shorter)
            weights = np.log(rest)
        if n == 1:
            log[BEGIN] = -np.inf
        else:
            orders[-1] = orders[-1]._replace(backoff=weights)
        orders.append(Order(grams.keys, log, np.zeros(len(grams.keys))))
        below = log
    return orders


def _adjusted(grams: _Counted, longer: _Counted | None) -> NDArray[np.int64]:
    """How often an n-gram counts: as often as it is there in the highest order and at the beginning of captions, else once for
    each different word before it."""
    if longer is None:
        own: NDArray[np.int64] = grams.counts.copy()
        return own
    different = np.bincount(longer.suffix, minlength=len(grams.keys)).astype(np.int64)
    adjusted: NDArray[np.int64] = np.where(grams.first == BEGIN, grams.counts, different)
    return adjusted


def _discounts(adjusted: NDArray[np.int64], n: int) -> Floats:
    """What is taken from n-grams that count 0, 1, 2, 3 or more."""
    seen = np.bincount(np.minimum(adjusted, 5), minlength=6)[1:5].astype(np.float64)
    if (seen > 0).all():
        share = seen[0] / (seen[0] + 2 * seen[1])
        found = np.array([k - (k + 1) * share * seen[k] / seen[k - 1] for k in (1, 2, 3)])
        if (found >= 0).all() and (found <= np.array([1.0, 2.0, 3.0])).all():
            return np.array([0.0, *found])
    warnings.warn(
        CaptionWarning(f"too few {n}-grams are there once, twice, three and four times to tell their discounts; {FALLBACK} are used"), stacklevel=6
    )
    return np.array([0.0, *FALLBACK])


__all__ = ["FALLBACK", "UNKNOWN", "NGram", "Order"]
