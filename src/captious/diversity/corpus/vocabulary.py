"""Sentence length, types, segmented type-token ratios, hapaxes, MTLD and type-token curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from captious.corpus import IntArray
from captious.diversity.corpus.flat import Flat, FloatArray
from captious.kernels import kernel

#: Tokens (or bigrams) per segment of the mean segmented type-token ratio.
SEGMENT = 1000
#: Random orders whose type-token curves are averaged.
ORDERS = 10
#: The type-token ratio at which MTLD counts a factor.
MTLD_THRESHOLD = 0.72
#: Points at which a curve is kept.
POINTS = 200


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary of one corpus of captions."""

    captions: float
    tokens: float
    #: Average and (population) standard deviation of sentence length, in tokens.
    asl: float
    sdsl: float
    types: float
    #: Mean segmented type-token ratio of words and of bigrams; NaN below 1,000 of them.
    ttr1: float
    ttr2: float
    #: Types that occur once, and their share of all types.
    hapaxes: float
    hapax_share: float
    mtld: float


def vocabulary(flat: Flat, size: int) -> Vocabulary:
    """All vocabulary measures of captions over a vocabulary of ``size`` words."""
    lengths = flat.lengths
    counts = flat.counts(size)
    types = int((counts > 0).sum())
    hapaxes = int((counts == 1).sum())
    return Vocabulary(
        captions=len(flat),
        tokens=len(flat.tokens),
        asl=float(lengths.mean()) if len(lengths) else float("nan"),
        sdsl=float(lengths.std()) if len(lengths) else float("nan"),
        types=types,
        ttr1=segmented_ttr(flat.tokens.astype(np.int64)),
        ttr2=segmented_ttr(bigrams(flat, size)),
        hapaxes=hapaxes,
        hapax_share=hapaxes / types if types else float("nan"),
        mtld=mtld(flat, size),
    )


def bigrams(flat: Flat, size: int) -> IntArray:
    """Every two adjacent tokens as one number. As in the paper, the captions are one text: the last word of a caption
    and the first of the next are a bigram too."""
    words = flat.tokens.astype(np.int64)
    pairs: IntArray = words[:-1] * np.int64(max(size, 1)) + words[1:]
    return pairs


def segmented_ttr(items: IntArray, segment: int = SEGMENT) -> float:
    """Mean over all whole segments of the share of distinct items; NaN without one."""
    n = len(items) // segment
    if n == 0:
        return float("nan")
    rows = np.sort(items[: n * segment].reshape(n, segment), axis=1)
    distinct = 1 + (np.diff(rows, axis=1) != 0).sum(axis=1)
    return float(distinct.mean() / segment)


@kernel
def _factors(tokens, seen, threshold):  # type: ignore[no-untyped-def]
    """MTLD's number of factors; ``seen`` holds the factor in which each word was last met."""
    factors = 0
    types = 0
    length = 0
    for i in range(tokens.shape[0]):
        length += 1
        if seen[tokens[i]] != factors + 1:
            seen[tokens[i]] = factors + 1
            types += 1
        if types < threshold * length:
            factors += 1
            types = 0
            length = 0
    rest = 0.0
    if length > 0:
        rest = (1.0 - types / length) / (1.0 - threshold)
    return factors + rest


def mtld(flat: Flat, size: int, threshold: float = MTLD_THRESHOLD) -> float:
    """Measure of textual lexical diversity (McCarthy & Jarvis 2010): the mean length of runs whose type-token ratio
    stays at or above the threshold, of the text read forwards and backwards. NaN where no word repeats."""
    work = _factors.pick(2 * len(flat.tokens))
    lengths = []
    for tokens in (flat.tokens, flat.tokens[::-1].copy()):
        factors = float(work(tokens, np.zeros(max(size, 1), dtype=np.int32), threshold))
        lengths.append(len(tokens) / factors if factors > 0 else float("nan"))
    return float(np.mean(lengths))


@kernel
def _first_seen(tokens, offsets, order, first):  # type: ignore[no-untyped-def]
    """At which token each word appears first when captions are read in ``order``; words that never do keep −1."""
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


def type_token_curve(flat: Flat, size: int, *, orders: int = ORDERS, seed: int = 0, points: int = POINTS) -> Curve:
    """The type-token curve, averaged over random orders of the captions."""
    total = len(flat.tokens)
    if total == 0:
        return Curve(np.zeros(0, dtype=np.int64), np.zeros(0))
    at = np.unique(np.linspace(1, total, min(points, total)).astype(np.int64))
    generator = np.random.default_rng(seed)
    summed = np.zeros(len(at))
    work = _first_seen.pick(total)
    for _ in range(orders):
        first = np.full(size, -1, dtype=np.int64)
        work(flat.tokens, flat.offsets, generator.permutation(len(flat)), first)
        summed += np.searchsorted(np.sort(first[first >= 0]), at, side="left")
    return Curve(at, summed / orders)


def mean_curve(curves: list[Curve]) -> Curve:
    """The mean of several curves, up to where the shortest ends."""
    end = min(curve.tokens[-1] for curve in curves)
    at = np.unique(np.linspace(1, end, min(POINTS, int(end))).astype(np.int64))
    return Curve(at, np.mean([np.interp(at, curve.tokens, curve.types) for curve in curves], axis=0))
