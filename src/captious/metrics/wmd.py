"""WMD: word mover's distance (Kusner et al. 2015) as a similarity, exp(−distance), with the nearest reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.measures.base import FloatArray, Measure, as_statistics
from captious.measures.options import VECTORS, Option
from captious.measures.resources import Resource
from captious.metrics.word_tables import content_words, vocabulary_vectors, warn_of_unknown
from captious.vectors import WordVectors, get
from captious.vectors.transport import transport, transport_large

#: Captions with more distinct content words than this go to POT: the kernel is made for small problems.
LARGE = 256


class Bags(NamedTuple):
    """Distinct known content words of each caption with counts, sorted by word number."""

    words: NDArray[np.int64]
    counts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    totals: NDArray[np.int64]
    #: Mean vector of each caption (zeros where it has no word).
    centres: FloatArray


def bags_of(captions: Captions, vectors: WordVectors) -> Bags:
    """The bags of words that are moved."""

    def make() -> Bags:
        from scipy.sparse import csr_matrix

        rows, found = vocabulary_vectors(captions.encoding, vectors)
        use = (found & content_words(captions.encoding))[captions.tokens]
        caption = np.repeat(np.arange(len(captions)), captions.lengths)[use]
        size = max(len(rows), 1)
        keys, counts = np.unique(caption * size + captions.tokens[use], return_counts=True)
        owner, words = keys // size, keys % size
        offsets = np.searchsorted(owner, np.arange(len(captions) + 1))
        totals = np.bincount(owner, weights=counts, minlength=len(captions)).astype(np.int64)
        shares = counts / totals[owner]
        centres: FloatArray = csr_matrix((shares, words, offsets), shape=(len(captions), size)) @ rows.astype(np.float64)
        return Bags(words, counts.astype(np.int64), offsets.astype(np.int64), totals, centres)

    return captions.cached(("bags of words", vectors), make)


@kernel
def euclidean(a, b):  # type: ignore[no-untyped-def]
    """Distance of two vectors; four sums side by side, which a processor adds at the same time."""
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


@kernel
def bag_distance(rows, words_a, counts_a, total_a, words_b, counts_b, total_b, best, cost, whole, real):  # type: ignore[no-untyped-def]
    """Word mover's distance of two bags, or any number ≥ ``best`` once it is certain not to be below ``best``.

    ``cost`` (n, m), ``whole`` (8, max) and ``real`` (4, max) are working space.
    """
    supply, demand, row_word, column_word = whole[0], whole[1], whole[2], whole[3]
    # What both bags contain stays where it is (distances obey the triangle inequality); the rest is moved.
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
    for i in range(n):
        for j in range(m):
            cost[i, j] = euclidean(rows[row_word[i]], rows[column_word[j]])
    # Each word to its nearest, from either side, is a lower bound. A hair is taken off for rounding.
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
    flow = np.zeros((n, m), np.int64)
    return transport(cost, n, m, supply, demand, flow, real[0], real[1], real[2], whole[4], whole[5], whole[6]) / mass


@kernel
def least_distances(rows, w_a, c_a, o_a, t_a, w_b, c_b, o_b, t_b, pair_offsets, reference, bound, cost, whole, real, out):  # type: ignore[no-untyped-def]
    """For each candidate the distance to its nearest reference; pairs are sorted by their lower bound."""
    for a in range(pair_offsets.shape[0] - 1):
        best = np.inf
        for p in range(pair_offsets[a], pair_offsets[a + 1]):
            if bound[p] >= best:
                break
            b = reference[p]
            d = bag_distance(
                rows, w_a[o_a[a] : o_a[a + 1]], c_a[o_a[a] : o_a[a + 1]], t_a[a],
                w_b[o_b[b] : o_b[b + 1]], c_b[o_b[b] : o_b[b + 1]], t_b[b], best, cost, whole, real,
            )  # fmt: skip
            best = min(best, d)
        out[a] = best


def workspace(longest: int) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
    """Working space for bags of at most ``longest`` words."""
    return np.empty((longest, longest)), np.empty((8, longest), np.int64), np.empty((4, longest))


def nearest_distances(corpus: Corpus, vectors: WordVectors) -> FloatArray:
    """For each candidate the distance to its nearest reference; infinite where either side has no known content word."""
    ours, theirs = bags_of(corpus.candidates, vectors), bags_of(corpus.references, vectors)
    # One side's words are numbered over the other's, so the larger vocabulary has all of them.
    wider = max(corpus.candidates.encoding, corpus.references.encoding, key=lambda encoding: len(encoding.vocabulary))
    rows = vocabulary_vectors(wider, vectors)[0].astype(np.float64)
    candidate, reference = corpus.pairs
    # The distance of the mean vectors is a lower bound; pairs are visited from the most promising on.
    bound = centre_distances(ours, theirs, candidate, reference) * (1.0 - 1e-9) - 1e-12
    bound[(ours.totals[candidate] == 0) | (theirs.totals[reference] == 0)] = np.inf
    order = np.lexsort((bound, candidate))
    reference, bound = reference[order], bound[order]
    large_a, large_b = np.diff(ours.offsets) > LARGE, np.diff(theirs.offsets) > LARGE
    large = np.zeros(len(ours.totals), np.bool_)
    large[candidate[large_a[candidate] | large_b[reference]]] = True
    # Candidates with a very long caption on either side are left to the other solver.
    bound_small = np.where(large[candidate], np.inf, bound)
    longest = max(int(np.diff(bags.offsets).max(initial=0)) for bags in (ours, theirs))
    least = np.full(len(ours.totals), np.inf)
    work = float(len(candidate)) * 20_000
    least_distances.pick(work)(
        rows, *ours[:4], *theirs[:4], corpus.pair_offsets, reference, bound_small,
        *workspace(max(min(longest, LARGE), 1)), least,
    )  # fmt: skip
    for a in np.flatnonzero(large).tolist():
        for p in range(corpus.pair_offsets[a], corpus.pair_offsets[a + 1]):
            if bound[p] < least[a]:
                least[a] = min(least[a], _large_distance(rows, ours, a, theirs, int(reference[p])))
    return least


def centre_distances(ours: Bags, theirs: Bags, candidate: NDArray[np.int64], reference: NDArray[np.int64]) -> FloatArray:
    """Distances of mean vectors, in portions that stay in memory's reach."""
    out = np.empty(len(candidate))
    for start in range(0, len(candidate), 16_384):
        part = slice(start, start + 16_384)
        difference = ours.centres[candidate[part]] - theirs.centres[reference[part]]
        out[part] = np.sqrt(np.einsum("ij,ij->i", difference, difference))
    return out


def _large_distance(rows: FloatArray, ours: Bags, a: int, theirs: Bags, b: int) -> float:
    from scipy.spatial.distance import cdist

    here, there = slice(*ours.offsets[a : a + 2]), slice(*theirs.offsets[b : b + 2])
    cost = cdist(rows[ours.words[here]], rows[theirs.words[there]])
    moved = transport_large(cost, ours.counts[here] * theirs.totals[b], theirs.counts[there] * ours.totals[a])
    return moved / float(ours.totals[a] * theirs.totals[b])


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
