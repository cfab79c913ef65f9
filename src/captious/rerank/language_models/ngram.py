"""Unigram models, and n-gram models with modified Kneser–Ney smoothing (Chen & Goodman 1999), as arrays.

An n-gram is identified by its context (the n-gram without its last word) and its last word. Its key is
``context · |V| + word``, and its index is the position of the key among the sorted keys of its order. Looking
up all n-grams of a corpus takes one binary search per order.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.io import CaptionWarning
from captious.rerank.language_models.language_model import BEGIN, UNKNOWN, Floats, ModelVocabulary, WordModel


class Unigram(WordModel):
    """Relative frequencies of words and ends. Unknown words count at least once: P(s) is never 0."""

    kind = "unigram"

    def __init__(
        self,
        vocabulary: ModelVocabulary,
        counts: Floats,
        tokenizer: str = "ptb",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        counts = np.asarray(counts, np.float64)
        if (
            counts.shape != (len(vocabulary),)
            or not np.isfinite(counts).all()
            or (np.delete(counts, BEGIN) <= 0).any()
        ):
            raise InputError(
                "a unigram model needs a positive count for each of its words; the file is damaged"
            )
        self.vocabulary, self.counts, self.tokenizer, self.provenance = (
            vocabulary,
            counts,
            tokenizer,
            dict(provenance or {}),
        )
        weights = counts.copy()
        weights[BEGIN] = 0.0
        with np.errstate(divide="ignore"):
            self.log = np.log(weights / weights.sum())

    @classmethod
    def learn(cls, captions: Sequence[Sequence[str]], least: int = 1, tokenizer: str = "ptb") -> Unigram:
        """Count the tokens of captions. Words that occur fewer than ``least`` times are unknown."""
        vocabulary = ModelVocabulary.learn(captions, least)
        numbers, _ = vocabulary.encode(captions)
        counts = np.bincount(numbers, minlength=len(vocabulary)).astype(np.float64)
        counts[UNKNOWN] = max(counts[UNKNOWN], 1.0)
        return cls(vocabulary, counts, tokenizer)

    def score_numbers(self, numbers: NDArray[np.int64], offsets: IntArray) -> Floats:
        log_p: Floats = self.log[numbers]
        return log_p

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save."""
        return {"counts": self.counts}


#: Default discounts of n-grams seen once, twice, and more often, for corpora too small to estimate them.
FALLBACK = (0.5, 1.0, 1.5)


class NGramOrder(NamedTuple):
    """The n-grams of one length.

    ``keys`` are sorted, ``log`` is log P of the last word, ``backoff`` the log weight of the shorter n-gram
    where this one is the context.
    """

    keys: NDArray[np.int64]
    log: Floats
    backoff: Floats

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of n-grams, or −1 for unknown ones (and for negative keys)."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        position = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        indices: NDArray[np.int64] = np.where((keys >= 0) & (self.keys[position] == keys), position, -1)
        return indices


class NGram(WordModel):
    """n-gram model with backoff, counted from captions or read from an ARPA file."""

    kind = "ngram"

    def __init__(
        self,
        vocabulary: ModelVocabulary,
        orders: Sequence[NGramOrder],
        tokenizer: str = "ptb",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabulary, self.orders, self.tokenizer, self.provenance = (
            vocabulary,
            list(orders),
            tokenizer,
            dict(provenance or {}),
        )
        size = len(vocabulary)
        first = self.orders[0] if self.orders else None
        if first is None or not np.array_equal(first.keys, np.arange(size)):
            raise InputError(
                "the 1-grams of an n-gram model must be all words of its vocabulary; the file is damaged"
            )
        for below, order in zip(self.orders, self.orders[1:]):
            sorted_keys = bool((np.diff(order.keys) > 0).all()) and (
                not len(order.keys) or (order.keys[0] >= 0 and order.keys[-1] < len(below.keys) * size)
            )
            if not sorted_keys:
                raise InputError("the n-grams of a language model are not sorted; the file is damaged")
        for order in self.orders:
            # −∞ is valid: the begin token has log P = −∞, and a backoff weight of 0 has log −∞.
            if (
                len(order.log) != len(order.keys)
                or len(order.backoff) != len(order.keys)
                or np.isnan(order.log).any()
                or np.isnan(order.backoff).any()
            ):
                raise InputError("the n-grams of a language model lack probabilities; the file is damaged")

    @property
    def order(self) -> int:
        return len(self.orders)

    @classmethod
    def learn(
        cls, captions: Sequence[Sequence[str]], order: int = 3, least: int = 1, tokenizer: str = "ptb"
    ) -> NGram:
        """Count the n-grams of captions up to ``order``, and smooth them."""
        if order < 1:
            raise InputError(f"the order of an n-gram model must be 1 or more, not {order}")
        vocabulary = ModelVocabulary.learn(captions, least)
        numbers, offsets = vocabulary.encode(captions)
        flat, starts = _with_begin(numbers, offsets)
        counts = _count(flat, starts, order, len(vocabulary))
        return cls(vocabulary, _smooth(counts, len(vocabulary)), tokenizer, {"order": order})

    def score_numbers(self, numbers: NDArray[np.int64], offsets: IntArray) -> Floats:
        flat, _ = _with_begin(numbers, offsets)
        size = len(self.vocabulary)
        total = self.orders[0].log[flat]
        ending_here = flat  # index of the n-gram of the previous order that ends at each position
        for n in range(2, self.order + 1):
            context = np.concatenate([[-1], ending_here[:-1]])
            # No n-gram crosses the beginning of a caption.
            context[flat == BEGIN] = -1
            indices = self.orders[n - 1].find(np.where(context >= 0, context * size + flat, -1))
            weight = np.where(context >= 0, self.orders[n - 2].backoff[context], 0.0)
            total = np.where(
                indices >= 0,
                self.orders[n - 1].log[indices] if len(self.orders[n - 1].log) else 0.0,
                total + weight,
            )
            ending_here = indices
        scored: Floats = total[flat != BEGIN]
        return scored

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save."""
        return {
            f"{name}.{n}": array
            for n, order in enumerate(self.orders, 1)
            for name, array in order._asdict().items()
        }


def _with_begin(numbers: NDArray[np.int64], offsets: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Insert the begin token before each caption; also return each position's caption start."""
    flat = np.insert(numbers, offsets[:-1], BEGIN)
    starts = offsets[:-1] + np.arange(len(offsets) - 1)
    return flat, np.repeat(starts, np.diff(offsets) + 1)


class _Counted(NamedTuple):
    """Counts of the n-grams of one order.

    ``context`` and ``suffix`` are the indices of the n-grams without the last and without the first word.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    context: NDArray[np.int64]
    suffix: NDArray[np.int64]
    first: NDArray[np.int64]


def _count(flat: NDArray[np.int64], starts: NDArray[np.int64], order: int, size: int) -> list[_Counted]:
    nothing = np.zeros(size, np.int64)
    counted = [
        _Counted(np.arange(size), np.bincount(flat, minlength=size), nothing, nothing, np.arange(size))
    ]
    ending_here, position = flat, np.arange(len(flat))
    for n in range(2, order + 1):
        whole = position[position - (n - 1) >= starts[position]]
        keys, first_positions, inverse, counts = np.unique(
            ending_here[whole - 1] * size + flat[whole],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        ends = whole[first_positions]
        counted.append(_Counted(keys, counts, ending_here[ends - 1], ending_here[ends], flat[ends - (n - 1)]))
        ending_here = np.full(len(flat), -1, np.int64)
        ending_here[whole] = inverse
    return counted


def _smooth(counted: Sequence[_Counted], size: int) -> list[NGramOrder]:
    orders: list[NGramOrder] = []
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
        discounted = np.bincount(context, discounts[kind], contexts)
        with np.errstate(divide="ignore", invalid="ignore"):
            backoff_share = np.where(total > 0, discounted / total, 1.0)
            share = (adjusted - discounts[kind]) / total[context]
        shorter = np.exp(below[grams.suffix] if n > 1 else below[np.zeros(size, np.int64)])
        with np.errstate(divide="ignore"):
            log = np.log(share + backoff_share[context] * shorter)
            weights = np.log(backoff_share)
        if n == 1:
            log[BEGIN] = -np.inf
        else:
            orders[-1] = orders[-1]._replace(backoff=weights)
        orders.append(NGramOrder(grams.keys, log, np.zeros(len(grams.keys))))
        below = log
    return orders


def _adjusted(grams: _Counted, longer: _Counted | None) -> NDArray[np.int64]:
    """Return the Kneser–Ney counts of n-grams.

    The highest order and n-grams at the beginning of captions use plain counts. All others count the distinct
    words before them.
    """
    if longer is None:
        own: NDArray[np.int64] = grams.counts.copy()
        return own
    different = np.bincount(longer.suffix, minlength=len(grams.keys)).astype(np.int64)
    adjusted: NDArray[np.int64] = np.where(grams.first == BEGIN, grams.counts, different)
    return adjusted


def _discounts(adjusted: NDArray[np.int64], n: int) -> Floats:
    """Return the discounts of n-grams with count 0, 1, 2, and 3 or more."""
    seen = np.bincount(np.minimum(adjusted, 5), minlength=6)[1:5].astype(np.float64)
    if (seen > 0).all():
        share = seen[0] / (seen[0] + 2 * seen[1])
        discounts = np.array([k - (k + 1) * share * seen[k] / seen[k - 1] for k in (1, 2, 3)])
        if (discounts >= 0).all() and (discounts <= np.array([1.0, 2.0, 3.0])).all():
            return np.array([0.0, *discounts])
    warnings.warn(
        CaptionWarning(
            f"too few {n}-grams occur 1 to 4 times to estimate discounts; using the defaults {FALLBACK}"
        ),
        stacklevel=6,
    )
    return np.array([0.0, *FALLBACK])


__all__ = ["FALLBACK", "UNKNOWN", "NGram", "NGramOrder"]
