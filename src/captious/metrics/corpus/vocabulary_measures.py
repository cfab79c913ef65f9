"""Sentence length, types, segmented type-token ratios, hapaxes, MTLD and type-token curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.kernels.types import Float64x2, Int32, Int32x2, Int64, Out, UInt64
from captious.metrics.base import FloatArray, Sequences, Texts, ratio
from captious.metrics.corpus.corpus_measure import (
    CorpusMeasure,
    TypesMeasure,
    WholeTextMeasure,
    sums_by_image,
)
from captious.text.hashing import find_place

#: Tokens (or bigrams) per segment of the mean segmented type-token ratio.
SEGMENT = 1000
#: Number of random orders whose type-token curves are averaged.
ORDERS = 10
#: Type-token ratio at which MTLD counts a factor.
MTLD_THRESHOLD = 0.72
#: Number of points of a curve.
POINTS = 200


class ASL(CorpusMeasure):
    """Average sentence length."""

    name, key, format = "ASL", "asl", ".1f"
    summary = "average sentence length in tokens"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        return sums_by_image(captions, captions.lengths, np.ones(len(captions)))


class SDSL(CorpusMeasure):
    """Standard deviation of sentence length over all captions (not corrected for their number)."""

    name, key, format = "SDSL", "sdsl", ".2f"
    summary = "standard deviation of sentence length"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        return sums_by_image(captions, captions.lengths, captions.lengths**2, np.ones(len(captions)))

    def value(self, sums: FloatArray) -> FloatArray:
        total, squares, count = sums[..., 0], sums[..., 1], sums[..., 2]
        # Sums of integers lose no precision before the root.
        spread = np.sqrt(np.maximum(count * squares - total**2, 0.0))
        return ratio(spread, count, np.nan)


class Types(TypesMeasure):
    """Different words."""

    name, key, format = "Types", "types", ",.0f"
    summary = "different words"

    def of_counts(self, counts: FloatArray, table: Sequences) -> FloatArray:
        return np.asarray((counts > 0).sum(axis=-1), dtype=np.float64)


class Hapax(TypesMeasure):
    """Share of the different words that occur once."""

    name, key, format = "Hapax", "hapax_share", ".1%"
    summary = "share of the types that occur once"
    bounds = (0.0, 1.0)

    def of_counts(self, counts: FloatArray, table: Sequences) -> FloatArray:
        return ratio((counts == 1).sum(axis=-1), (counts > 0).sum(axis=-1), np.nan)


@kernel
def _segments(
    items: Int64,
    offsets: Int64,
    orders: Int32x2,
    width: int,
    segment: int,
    places: Out[Int32],
    grams: Out[UInt64],
    out: Out[Float64x2],
) -> None:
    """Count, per text, different n-grams summed over whole segments, and the number of segments.

    ``width`` is 1 or 2. The rows of a text are read as one, so bigrams cross from one row to the next.
    ``places`` is a hash table (see :mod:`captious.text.hashing`) of the n-grams of a segment, ``grams``.
    """
    for t in range(orders.shape[0]):
        before = -1
        length = 0
        distinct = 0
        places[:] = 0
        for k in range(orders.shape[1]):
            row = orders[t, k]
            for j in range(offsets[row], offsets[row + 1]):
                gram = items[j] + 1
                if width == 2:
                    last = before
                    before = gram
                    if last < 0:
                        continue
                    gram = gram + last * 4294967296
                key = np.uint64(gram)
                place = find_place(key, places, grams)
                if places[place] == 0:
                    grams[distinct] = key
                    distinct += 1
                    places[place] = distinct
                length += 1
                if length == segment:
                    out[t, 0] += distinct
                    out[t, 1] += 1
                    length = 0
                    distinct = 0
                    places[:] = 0


def segmented_ttr(texts: Texts, width: int, segment: int = SEGMENT) -> FloatArray:
    """Return the mean share of different n-grams over all whole segments, NaN without segments.

    As in the paper, the captions are one text: the last word of a caption and the first of the next form a
    bigram, too.
    """
    out = np.zeros((len(texts.lines), 2))
    places = np.zeros(1 << (2 * segment).bit_length(), dtype=np.int32)
    with np.errstate(over="ignore"):
        _segments(
            texts.table.items.astype(np.int64),
            texts.table.offsets,
            texts.lines,
            width,
            segment,
            places,
            np.zeros(segment, dtype=np.uint64),
            out,
        )
    return ratio(out[:, 0], out[:, 1], np.nan).reshape(texts.shape) / segment


class TTR(WholeTextMeasure):
    """Mean segmented type-token ratio of words or bigrams."""

    bounds = (0.0, 1.0)
    format = ".2f"
    fixed: Mapping[str, str] = {"segment": str(SEGMENT)}

    def __init__(self, n: int = 1) -> None:
        self.n = n
        self.name, self.key = f"TTR{n}", f"ttr{n}"
        self.summary = f"mean type-token ratio of segments of 1,000 {'words' if n == 1 else 'bigrams'}"

    def value(self, sums: Texts) -> FloatArray:
        return segmented_ttr(sums, self.n)


@kernel
def _factors(
    items: Int32,
    offsets: Int64,
    orders: Int32x2,
    backwards: bool,
    threshold: float,
    seen: Out[Int64],
    out: Out[Float64x2],
) -> None:
    """Count MTLD's factors of each text, read forwards or backwards, and its length.

    ``seen`` (zeros) holds the factor in which each word was last met.
    """
    stamp = 0
    for t in range(orders.shape[0]):
        factors = 0
        types = 0
        length = 0
        total = 0
        stamp += 1
        n = orders.shape[1]
        for k in range(n):
            row = orders[t, n - 1 - k] if backwards else orders[t, k]
            start, end = offsets[row], offsets[row + 1]
            total += end - start
            for j in range(end - start):
                item = items[end - 1 - j] if backwards else items[start + j]
                length += 1
                if seen[item] != stamp:
                    seen[item] = stamp
                    types += 1
                if types < threshold * length:
                    factors += 1
                    stamp += 1
                    types = 0
                    length = 0
        rest = 0.0
        if length > 0:
            rest = (1.0 - types / length) / (1.0 - threshold)
        out[t, 0] = total
        out[t, 1] = factors + rest


def mtld(texts: Texts, threshold: float = MTLD_THRESHOLD) -> FloatArray:
    """Return the measure of textual lexical diversity (McCarthy & Jarvis 2010).

    It is the mean length of runs whose type-token ratio stays at or above the threshold, of the text read
    forwards and backwards. NaN where no word repeats.
    """
    lines, table = texts.lines, texts.table
    ways = []
    for backwards in (False, True):
        out = np.zeros((len(lines), 2))
        seen = np.zeros(max(len(table.keys), 1), dtype=np.int64)
        _factors(table.items, table.offsets, lines, backwards, threshold, seen, out)
        ways.append(ratio(out[:, 0], out[:, 1], np.nan))
    mean: FloatArray = np.mean(ways, axis=0).reshape(texts.shape)
    return mean


class MTLD(WholeTextMeasure):
    """Measure of textual lexical diversity."""

    name, key, format = "MTLD", "mtld", ".1f"
    summary = "mean length of runs with a type-token ratio of 0.72 or more"
    fixed: Mapping[str, str] = {"threshold": str(MTLD_THRESHOLD)}

    def value(self, sums: Texts) -> FloatArray:
        return mtld(sums)


@kernel
def _first_seen(tokens: Int32, offsets: Int64, order: Int64, first: Out[Int64]) -> int:
    """Find the token at which each word first appears when captions are read in ``order`` (−1 if never)."""
    at = 0
    for k in range(order.shape[0]):
        for j in range(offsets[order[k]], offsets[order[k] + 1]):
            if first[tokens[j]] < 0:
                first[tokens[j]] = at
            at += 1
    return at


@dataclass(frozen=True)
class Curve:
    """Mean number of types (``types``) among the first ``tokens`` tokens."""

    tokens: IntArray
    types: FloatArray


def type_token_curve(captions: Captions, *, orders: int = ORDERS, seed: int = 0) -> Curve:
    """Return the type-token curve, averaged over random orders of the captions."""
    total = len(captions.tokens)
    if total == 0:
        return Curve(np.zeros(0, dtype=np.int64), np.zeros(0))
    at = np.unique(np.linspace(1, total, min(POINTS, total)).astype(np.int64))
    generator = np.random.default_rng(seed)
    summed = np.zeros(len(at))
    for _ in range(orders):
        first = np.full(len(captions.vocabulary), -1, dtype=np.int64)
        _first_seen(captions.tokens, captions.token_offsets, generator.permutation(len(captions)), first)
        summed += np.searchsorted(np.sort(first[first >= 0]), at, side="left")
    return Curve(at, summed / orders)


def mean_curve(curves: list[Curve]) -> Curve:
    """Return the mean of several curves, up to the end of the shortest."""
    end = min(curve.tokens[-1] if len(curve.tokens) else 0 for curve in curves)
    if not end:
        return Curve(np.zeros(0, dtype=np.int64), np.zeros(0))
    at = np.unique(np.linspace(1, end, min(POINTS, int(end))).astype(np.int64))
    return Curve(at, np.mean([np.interp(at, curve.tokens, curve.types) for curve in curves], axis=0))
