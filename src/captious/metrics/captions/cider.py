"""CIDEr and CIDEr-D (Vedantam et al. 2015): agreement of tf-idf weighted n-grams with the references.

The COCO tools report CIDEr-D under the name "CIDEr": counts clipped to those of the reference, a Gaussian
penalty on the difference in length, and a factor of 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.threads import for_each, side_by_side, threads_for
from captious.corpus import Captions, Corpus
from captious.corpus.frequencies import DocumentFrequencies, ReferenceFrequencies
from captious.kernels import inner, kernel
from captious.kernels.types import Float64, Int32, Int64, Out
from captious.metrics.base import FloatArray, Measure, Need, Resource, as_statistics, ratio
from captious.metrics.options import DF, Option
from captious.text.ngrams import sort_run

MAX_N = 4
SIGMA = 6.0
SCALE = 10.0


def ngram_weights(captions: Captions, frequencies: DocumentFrequencies, n: int) -> FloatArray:
    """Return count times inverse document frequency for each row of ``captions.ngrams(n)``."""

    def weigh() -> FloatArray:
        table, idf = captions.ngrams(n), frequencies.weights(captions.encoding, n)
        return table.count * np.append(idf, frequencies.unseen)[np.minimum(table.number, len(idf))]

    return captions.cached(("n-gram weights", frequencies, n), weigh)


@kernel
def _vector_norms(
    number: Int32, count: Int32, offsets: Int64, idf: Float64, unseen: float, n_known: int, out: Out[Float64]
) -> None:
    """Compute the Euclidean norm of each caption's vector. References have the n-grams below ``n_known``."""
    most = 0
    for i in range(offsets.shape[0] - 1):
        most = max(most, offsets[i + 1] - offsets[i])
    new = np.empty(most, np.float64)
    for i in range(offsets.shape[0] - 1):
        total = 0.0
        n_new = 0
        for j in range(offsets[i], offsets[i + 1]):
            weight = count[j] * (idf[number[j]] if number[j] < idf.shape[0] else unseen)
            if number[j] < n_known:
                total += weight * weight
            else:
                new[n_new] = weight * weight
                n_new += 1
        # N-grams that the references lack are numbered in the order of the file. Sorting their squares makes
        # the last bit of the sum independent of the other captions in the file.
        sort_run(new, 0, n_new)
        for j in range(n_new):
            total += new[j]
        out[i] = np.sqrt(total)


def vector_norms(captions: Captions, frequencies: DocumentFrequencies, n: int) -> FloatArray:
    """Return the Euclidean norm of each caption's tf-idf vector."""

    def measure() -> FloatArray:
        table, base = captions.ngrams(n), captions.encoding.base
        idf = frequencies.weights(captions.encoding, n)
        n_known = 2**62 if base is None else base.numbered(n).size
        norms = np.zeros(len(captions))
        _vector_norms(table.number, table.count, table.offsets, idf, frequencies.unseen, n_known, norms)
        return norms

    return captions.cached(("norms of n-gram vectors", frequencies, n), measure)


@inner
def next_shared(a: Int32, i: int, i_end: int, b: Int32, j: int, j_end: int) -> tuple[int, int]:
    """Return the first rows from i and j on that hold the same n-gram in both sorted runs, or an end."""
    while i < i_end and j < j_end and a[i] != b[j]:
        if a[i] < b[j]:
            i += 1
        else:
            j += 1
    return i, j


@kernel
def _pair_cosines(
    c_number: Int32,
    c_count: Int32,
    c_offsets: Int64,
    c_norms: Float64,
    r_number: Int32,
    r_count: Int32,
    r_offsets: Int64,
    r_norms: Float64,
    idf: Float64,
    unseen: float,
    candidate: Int64,
    reference: Int64,
    clip: bool,
    out: Out[Float64],
) -> None:
    """Compute the cosine of each pair. With ``clip``, the candidate's weights are cut to the reference's."""
    for p in range(candidate.shape[0]):
        c, r = candidate[p], reference[p]
        i_end, j_end = c_offsets[c + 1], r_offsets[r + 1]
        i, j = next_shared(c_number, c_offsets[c], i_end, r_number, r_offsets[r], j_end)
        product = 0.0
        while i < i_end and j < j_end:
            weight = idf[c_number[i]] if c_number[i] < idf.shape[0] else unseen
            ours, theirs = c_count[i] * weight, r_count[j] * weight
            if clip and theirs < ours:
                ours = theirs
            product += ours * theirs
            i, j = next_shared(c_number, i + 1, i_end, r_number, j + 1, j_end)
        norms = c_norms[c] * r_norms[r]
        out[p] = product / norms if norms > 0 else 0.0


def pair_similarities(
    candidates: Captions,
    references: Captions,
    candidate: NDArray[np.int64],
    reference: NDArray[np.int64],
    frequencies: DocumentFrequencies,
    n: int,
    *,
    clip: bool = False,
) -> FloatArray:
    """Return the tf-idf cosine of candidate[p] with reference[p] for one n (0 where either has no weight)."""
    c, r = candidates.ngrams(n), references.ngrams(n)
    cosines = np.empty(len(candidate))
    _pair_cosines(
        c.number,
        c.count,
        c.offsets,
        vector_norms(candidates, frequencies, n),
        r.number,
        r.count,
        r.offsets,
        vector_norms(references, frequencies, n),
        frequencies.weights(candidates.encoding, n),
        frequencies.unseen,
        candidate,
        reference,
        clip,
        cosines,
    )
    return cosines


class NgramShare(NamedTuple):
    """N-gram of a caption or of its references, and its share of the caption's score."""

    ngram: str
    in_caption: bool
    #: Inverse document frequency.
    weight: float
    #: Number of references that have it.
    references: int
    #: Part of the score that it makes.
    points: float


class NgramTexts:
    """Texts of the n-grams of captions, by number."""

    def __init__(self, captions: Captions, n: int) -> None:
        self.n = n
        self._encoding = captions.encoding
        self._numbers, self._positions = captions.encoding.first_positions(n)

    def of(self, numbers: NDArray[np.int32]) -> list[str]:
        """Return the texts of some n-grams."""
        start = self._positions[np.searchsorted(self._numbers, numbers)]
        words, tokens = self._encoding.words, self._encoding.tokens
        return [" ".join(ngram) for ngram in zip(*(words[tokens[start + k]].tolist() for k in range(self.n)))]


class _WeightedNgrams:
    """Weighted n-grams of captions by text, for explanations."""

    def __init__(self, captions: Captions, frequencies: DocumentFrequencies, n: int) -> None:
        self._table = captions.ngrams(n)
        self._texts = NgramTexts(captions, n)
        self._weights = ngram_weights(captions, frequencies, n)
        self.norms = vector_norms(captions, frequencies, n)

    def of(self, i: int) -> dict[str, tuple[float, float]]:
        """Return the weight of each n-gram of caption i in its vector, and the weight of one occurrence."""
        here = slice(int(self._table.offsets[i]), int(self._table.offsets[i + 1]))
        weights = self._weights[here]
        single = (weights / self._table.count[here]).tolist()
        return dict(zip(self._texts.of(self._table.number[here]), zip(weights.tolist(), single)))


def frequencies_of(references: Captions) -> ReferenceFrequencies:
    """Return the document frequencies of references, counted once."""
    return references.cached("reference frequencies", lambda: ReferenceFrequencies(references))


class Cider(Measure):
    """Mean over n = 1…4 and over references of tf-idf cosines, times 10.

    The prepared state is the document frequencies.
    """

    name = "CIDEr"
    summary = "tf-idf weighted n-gram cosines, unclipped (Vedantam et al. 2015)"
    bounds = (0.0, SCALE)
    needs: frozenset[Need] = frozenset({"references", "images"})
    options: ClassVar[tuple[Option, ...]] = (DF,)
    fixed: Mapping[str, str] = {"n": str(MAX_N)}
    # A caption equal to one reference still differs from the others.
    perfect_is_maximum = False
    clip = False

    def __init__(self, df: DocumentFrequencies | None = None) -> None:
        self.df = df

    def resources(self) -> dict[str, Resource]:
        return {} if self.df is None else {"df": self.df}

    def parameters(self) -> dict[str, str]:
        return {**super().parameters(), **({"df": "references"} if self.df is None else {})}

    def prepare(self, references: Captions) -> DocumentFrequencies:
        """Return the given table, or the counts of these references."""
        frequencies = self.df if self.df is not None else self._count(references)
        frequencies.check_tokenizer(references.tokenizer)
        weigh = partial(frequencies.weights, references.encoding)
        for_each(weigh, range(MAX_N, 0, -1), threads_for(len(references.tokens)))
        return frequencies

    def _count(self, references: Captions) -> ReferenceFrequencies:
        if references.n_images < 2:
            raise InputError(
                f"{self.name} weighs n-grams by the number of images whose references have them, and there "
                f"is only {references.n_images} image: every weight would be log(1) = 0. Pass document "
                "frequencies from a larger corpus (--df FILE, df=…; 'captious df build REFS -o FILE' "
                "makes one)"
            )
        return frequencies_of(references)

    def statistics(self, corpus: Corpus, state: DocumentFrequencies) -> FloatArray:
        candidates, references = corpus.candidates, corpus.references
        candidate, reference = corpus.pairs
        cosines = partial(
            pair_similarities, candidates, references, candidate, reference, state, clip=self.clip
        )
        similarity = np.zeros(len(candidate))
        for cosine in side_by_side(cosines, range(1, MAX_N + 1), threads_for(len(candidates.tokens))):
            similarity += cosine
        similarity *= self.length_penalty(corpus)
        n_references = np.diff(corpus.pair_offsets)
        totals = np.bincount(candidate, weights=similarity, minlength=len(n_references))
        return as_statistics(SCALE * ratio(totals, n_references) / MAX_N)

    def length_penalty(self, corpus: Corpus) -> FloatArray | float:
        """Return a factor for each pair."""
        return 1.0

    def ngram_shares(self, corpus: Corpus, state: DocumentFrequencies) -> list[list[NgramShare]]:
        """Return the n-grams of each candidate and its references, with their shares of the score.

        The shares of a candidate add up to its score.
        """
        penalties = np.broadcast_to(self.length_penalty(corpus), (int(corpus.pair_offsets[-1]),))
        shares: list[list[NgramShare]] = [[] for _ in range(len(corpus.candidates))]
        for n in range(1, MAX_N + 1):
            ours, theirs = (
                _WeightedNgrams(side, state, n) for side in (corpus.candidates, corpus.references)
            )
            for i, ngrams in enumerate(shares):
                pairs = range(*corpus.pair_offsets[i : i + 2].tolist())
                own = ours.of(i)
                idf = {ngram: single for ngram, (_, single) in own.items()}
                counts = dict.fromkeys(own, 0)
                points = dict.fromkeys(own, 0.0)
                for p in pairs:
                    r = int(corpus.pairs[1][p])
                    norms = ours.norms[i] * theirs.norms[r]
                    for ngram, (weight, single) in theirs.of(r).items():
                        idf[ngram] = single
                        counts[ngram] = counts.get(ngram, 0) + 1
                        if ngram in own and norms > 0:
                            mine = min(own[ngram][0], weight) if self.clip else own[ngram][0]
                            share = SCALE * penalties[p] * mine * weight / (norms * MAX_N * len(pairs))
                            points[ngram] += float(share)
                ngrams += [
                    NgramShare(ngram, ngram in own, idf[ngram], count, points.get(ngram, 0.0))
                    for ngram, count in counts.items()
                ]
        return shares


class CiderD(Cider):
    """CIDEr with clipped counts and a Gaussian penalty on length: the "CIDEr" of the COCO tools."""

    name = "CIDEr-D"
    summary = "CIDEr with clipping and length penalty, “CIDEr” of the COCO tools"
    fixed: Mapping[str, str] = {"n": str(MAX_N), "sigma": f"{SIGMA:g}"}
    clip = True

    def length_penalty(self, corpus: Corpus) -> FloatArray | float:
        candidate, reference = corpus.pairs
        # The COCO tools measure length in bigrams, so empty captions and single words are equally long.
        bigrams = np.maximum(corpus.candidates.lengths[candidate] - 1, 0)
        difference = bigrams - np.maximum(corpus.references.lengths[reference] - 1, 0)
        penalty: FloatArray = np.exp(-(difference.astype(np.float64) ** 2) / (2 * SIGMA**2))
        return penalty
