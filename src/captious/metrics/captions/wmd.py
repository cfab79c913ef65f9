"""WMD: word mover's distance (Kusner et al. 2015) to the nearest reference, as exp(−distance)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import limits
from captious.corpus import Captions, Corpus
from captious.kernels import inner, kernel
from captious.kernels.types import Float64, Float64x2, Int64, Out
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics
from captious.metrics.captions.vocabulary_vectors import content_words, vocabulary_vectors, warn_of_unknown
from captious.metrics.options import VECTORS, Option
from captious.vectors import WordVectors, get
from captious.vectors.transport import transport

#: Cached distances of words, a power of 2, few enough for the processor's cache.
_REMEMBERED = 1 << 17


class Bags(NamedTuple):
    """Distinct known content words of each caption with counts, sorted by word number."""

    words: NDArray[np.int64]
    counts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    totals: NDArray[np.int64]


def bags_of(captions: Captions, vectors: WordVectors) -> Bags:
    """Return the bags of content words."""

    def make() -> Bags:
        has_vector = vocabulary_vectors(captions.encoding, vectors)[1]
        use = (has_vector & content_words(captions.encoding))[captions.tokens]
        caption = np.repeat(np.arange(len(captions)), captions.lengths)[use]
        size = max(len(has_vector), 1)
        keys, counts = np.unique(caption * size + captions.tokens[use], return_counts=True)
        owner, words = keys // size, keys % size
        offsets = np.searchsorted(owner, np.arange(len(captions) + 1))
        totals = np.bincount(owner, weights=counts, minlength=len(captions)).astype(np.int64)
        return Bags(words, counts.astype(np.int64), offsets.astype(np.int64), totals)

    return captions.cached(("bags of words", vectors), make)


@inner
def euclidean(a: Float64, b: Float64) -> float:
    """Return the distance of two vectors. Four independent sums run in parallel on the processor."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    size = a.shape[0]
    for k in range(0, size - 3, 4):
        d0, d1 = a[k] - b[k], a[k + 1] - b[k + 1]
        d2, d3 = a[k + 2] - b[k + 2], a[k + 3] - b[k + 3]
        s0 += d0 * d0
        s1 += d1 * d1
        s2 += d2 * d2
        s3 += d3 * d3
    for k in range(size - size % 4, size):
        d0 = a[k] - b[k]
        s0 += d0 * d0
    return np.sqrt(s0 + s1 + s2 + s3)


@inner
def find_centre(rows: Float64x2, words: Int64, counts: Int64, total: int, out: Out[Float64]) -> None:
    """Compute the mean vector of a bag."""
    for k in range(out.shape[0]):
        out[k] = 0.0
    for i in range(words.shape[0]):
        row = rows[words[i]]
        weight = counts[i] / total
        for k in range(out.shape[0]):
            out[k] += weight * row[k]


@inner
def bag_distance(
    rows: Float64x2,
    words_a: Int64,
    counts_a: Int64,
    total_a: int,
    words_b: Int64,
    counts_b: Int64,
    total_b: int,
    best: float,
    keys: Out[Int64],
    cached: Out[Float64],
) -> float:
    """Return the word mover's distance of two bags, or any number ≥ ``best`` if it is not below ``best``.

    ``cached`` holds distances of words, and ``keys`` their pairs (−1 at first), because captions of an image
    name the same things again and again.
    """
    longest = max(words_a.shape[0], words_b.shape[0])
    supply, demand, row_word, column_word = (
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
    )
    # Words in both bags stay where they are (distances obey the triangle inequality). The rest is moved.
    n, m, i, j = 0, 0, 0, 0
    while i < words_a.shape[0] or j < words_b.shape[0]:
        left, right = np.int64(0), np.int64(0)
        word_a = words_a[i] if i < words_a.shape[0] else np.int64(2**62)
        word_b = words_b[j] if j < words_b.shape[0] else np.int64(2**62)
        if word_a <= word_b:
            left = counts_a[i] * total_b
            i += 1
        if word_b <= word_a:
            right = counts_b[j] * total_a
            j += 1
        if left > right:
            supply[n], row_word[n] = left - right, word_a
            n += 1
        elif right > left:
            demand[m], column_word[m] = right - left, word_b
            m += 1
    if n == 0:
        return 0.0
    mass = 1.0 * total_a * total_b
    cost = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            key = row_word[i] * rows.shape[0] + column_word[j]
            slot = (key ^ (key >> 15)) & (keys.shape[0] - 1)
            if keys[slot] != key:
                keys[slot], cached[slot] = key, euclidean(rows[row_word[i]], rows[column_word[j]])
            cost[i, j] = cached[slot]
    # The distances of each word to its nearest, from either side, give a lower bound, slightly lowered for
    # rounding.
    bound_a, bound_b = 0.0, 0.0
    for i in range(n):
        nearest = cost[i, 0]
        for j in range(1, m):
            nearest = min(nearest, cost[i, j])
        bound_a += supply[i] * nearest
    for j in range(m):
        nearest = cost[0, j]
        for i in range(1, n):
            nearest = min(nearest, cost[i, j])
        bound_b += demand[j] * nearest
    bound = max(bound_a, bound_b) / mass
    if bound * (1.0 - 1e-12) >= best:
        return bound
    return transport(cost, n, m, supply, demand) / mass


@kernel
def least_distances(
    rows: Float64x2,
    w_a: Int64,
    c_a: Int64,
    o_a: Int64,
    t_a: Int64,
    w_b: Int64,
    c_b: Int64,
    o_b: Int64,
    t_b: Int64,
    pair_offsets: Int64,
    reference: Int64,
    keys: Out[Int64],
    cached: Out[Float64],
    out: Out[Float64],
) -> None:
    """Compute each candidate's distance to its nearest reference, infinite where either side is empty."""
    centre, other = np.empty(rows.shape[1]), np.empty(rows.shape[1])
    for a in range(pair_offsets.shape[0] - 1):
        out[a] = np.inf
        low, high = pair_offsets[a], pair_offsets[a + 1]
        if t_a[a] == 0 or low == high:
            continue
        own, counts = w_a[o_a[a] : o_a[a + 1]], c_a[o_a[a] : o_a[a + 1]]
        find_centre(rows, own, counts, t_a[a], centre)
        # The distance of the mean vectors, slightly lowered for rounding, is a lower bound. Pairs are visited
        # in ascending order of it.
        bound = np.full(high - low, np.inf)
        for p in range(low, high):
            b = reference[p]
            if t_b[b] > 0:
                find_centre(rows, w_b[o_b[b] : o_b[b + 1]], c_b[o_b[b] : o_b[b + 1]], t_b[b], other)
                bound[p - low] = euclidean(centre, other) * (1.0 - 1e-9) - 1e-12
        best = np.inf
        while True:
            p = 0
            for q in range(1, high - low):
                if bound[q] < bound[p]:
                    p = q
            if bound[p] >= best:
                break
            bound[p] = np.inf
            b = reference[low + p]
            d = bag_distance(
                rows,
                own,
                counts,
                t_a[a],
                w_b[o_b[b] : o_b[b + 1]],
                c_b[o_b[b] : o_b[b + 1]],
                t_b[b],
                best,
                keys,
                cached,
            )
            best = min(best, d)
        out[a] = best


def nearest_distances(corpus: Corpus, vectors: WordVectors) -> FloatArray:
    """Return the distance of each candidate to its nearest reference, cached with the corpus.

    It is infinite where either side has no known content word.
    """
    return corpus.cached(("word mover's distances", vectors), lambda: _nearest_distances(corpus, vectors))


def _nearest_distances(corpus: Corpus, vectors: WordVectors) -> FloatArray:
    ours, theirs = bags_of(corpus.candidates, vectors), bags_of(corpus.references, vectors)
    for captions, bags, side in (
        (corpus.candidates, ours, "caption"),
        (corpus.references, theirs, "reference"),
    ):
        sizes = np.diff(bags.offsets)
        if sizes.max(initial=0) > limits.WMD_WORDS.value():
            image = captions.ids[captions.image_of[sizes.argmax()]]
            raise limits.WMD_WORDS.exceeded(f"a {side} of image {image}")
    # One side's words are numbered after the other's, so the larger vocabulary has all of them.
    wider = max(
        corpus.candidates.encoding, corpus.references.encoding, key=lambda encoding: len(encoding.vocabulary)
    )
    rows = vocabulary_vectors(wider, vectors)[0].astype(np.float64)
    reference = corpus.pairs[1]
    least = np.empty(len(ours.totals))
    keys, cached = np.full(_REMEMBERED, -1, np.int64), np.empty(_REMEMBERED)
    least_distances(rows, *ours, *theirs, corpus.pair_offsets, reference, keys, cached, least)
    return least


class WMD(Measure):
    """exp(−word mover's distance) to the nearest reference; 0 where either side has no known content word."""

    name = "WMD"
    summary = "exp(-word mover's distance), maximum over references (Kusner et al. 2015)"
    options: ClassVar[tuple[Option, ...]] = (VECTORS,)
    fixed: Mapping[str, str] = {"stop": "nltk", "best": "max"}

    def __init__(self, vectors: Any = None) -> None:
        self.vectors = get(vectors)

    def resources(self) -> dict[str, Resource]:
        return {"vectors": self.vectors}

    def prepare(self, references: Captions) -> None:
        bags_of(references, self.vectors)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        warn_of_unknown(corpus, self.vectors, self.name)
        values = np.exp(-nearest_distances(corpus, self.vectors))
        values[np.diff(corpus.pair_offsets) == 0] = np.nan
        return as_statistics(values)
