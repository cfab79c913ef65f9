"""CIDEr and CIDEr-D (Vedantam et al. 2015): agreement of tf-idf weighted n-grams with the references.

What the COCO tools call "CIDEr" is CIDEr-D: counts clipped to the reference's, a Gaussian penalty on the difference of
lengths, and a factor of 10.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.errors import InputError
from captious.frequencies import DocumentFrequencies, ReferenceFrequencies
from captious.kernels import kernel
from captious.measures.base import FloatArray, Measure, Need, as_statistics
from captious.measures.options import DF, Option
from captious.measures.resources import Resource
from captious.metrics import cider_batch
from captious.ragged import distinct
from captious.text.ngrams import NgramTable, sort_run
from captious.threads import side_by_side, threads_for

MAX_N = 4
SIGMA = 6.0
SCALE = 10.0


class WeightedNgrams(NamedTuple):
    """tf-idf vectors of captions for one n: ``number`` (sorted) and ``weight``, caption i at ``offsets[i]:offsets[i+1]``."""

    number: NDArray[np.int32]
    weight: FloatArray
    offsets: NDArray[np.int64]
    norm: FloatArray


def weighted_ngrams(captions: Captions, frequencies: DocumentFrequencies, n: int) -> WeightedNgrams:
    """Counts times inverse document frequency, log(images / max(1, count)), with each caption's Euclidean norm."""

    def weigh() -> WeightedNgrams:
        table = captions.ngrams(n)
        if isinstance(frequencies, ReferenceFrequencies) and captions.encoding is frequencies.references.encoding:
            return _weigh_known(table, frequencies, n)
        counts = frequencies.counts(captions, n).astype(np.float64)
        weight = table.count * (np.log(float(frequencies.images)) - np.log(np.maximum(1.0, counts)))
        caption = np.repeat(np.arange(len(captions)), np.diff(table.offsets))
        norm = np.sqrt(np.bincount(caption, weights=_in_order(captions, table, weight * weight, caption, n), minlength=len(captions)))
        return WeightedNgrams(table.number, weight, table.offsets, norm)

    return captions.cached(("weighted n-grams", frequencies, n), weigh)


@kernel
def weigh_rows(number, count, offsets, images, logarithms, whole, weight, norm):  # type: ignore[no-untyped-def]
    """The weight of each n-gram, and each caption's sum of squares, added up in the order of the rows."""
    for i in range(offsets.shape[0] - 1):
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            value = count[j] * (whole - logarithms[images[number[j]]])
            weight[j] = value
            total += value * value
        norm[i] = total


def _weigh_known(table: NgramTable, frequencies: ReferenceFrequencies, n: int) -> WeightedNgrams:
    """The same for captions all of whose n-grams have been counted. There are far fewer counts than n-grams to take logarithms of."""
    images = frequencies.all_counts(n)
    logarithms = np.log(np.maximum(1.0, np.arange(int(images.max(initial=0)) + 1, dtype=np.float64)))
    weight, norm = np.empty(len(table.number)), np.empty(len(table.offsets) - 1)
    weigh_rows.pick(len(table.number) * 4)(table.number, table.count, table.offsets, images, logarithms, np.log(float(frequencies.images)), weight, norm)
    return WeightedNgrams(table.number, weight, table.offsets, np.sqrt(norm))


def _in_order(captions: Captions, table: NgramTable, squares: FloatArray, caption: NDArray[np.int64], n: int) -> FloatArray:
    """The terms of each caption's sum in an order that depends on the caption alone. N-grams that the references do not have are
    numbered as they appear in the file, so that a part of the file could add them up in another order, with another last bit."""
    base = captions.encoding.base
    if base is not None:
        new = np.flatnonzero(table.number >= base.numbered(n).size)
        squares[new] = squares[new[np.lexsort((squares[new], caption[new]))]]
    return squares


@kernel
def lengths(number, count, offsets, weights, unseen, seen, out):  # type: ignore[no-untyped-def]
    """The Euclidean norm of each caption's vector. Numbers from ``seen`` on are those that the references do not have."""
    most = 0
    for i in range(offsets.shape[0] - 1):
        most = max(most, offsets[i + 1] - offsets[i])
    new = np.empty(most, np.float64)
    for i in range(offsets.shape[0] - 1):
        total = 0.0
        others = 0
        for j in range(offsets[i], offsets[i + 1]):
            weight = count[j] * (weights[number[j]] if number[j] < weights.shape[0] else unseen)
            if number[j] < seen:
                total += weight * weight
            else:
                new[others] = weight * weight
                others += 1
        # N-grams that the references do not have are numbered as they appear in the file: in their order, a part of the file
        # could add them up in another order, with another last bit.
        sort_run(new, 0, others)
        for j in range(others):
            total += new[j]
        out[i] = np.sqrt(total)


def vector_lengths(captions: Captions, frequencies: DocumentFrequencies, n: int) -> FloatArray:
    """The norms of the captions' tf-idf vectors."""

    def measure() -> FloatArray:
        table, base = captions.ngrams(n), captions.encoding.base
        weights = frequencies.weights(captions.encoding, n)
        seen = 2**62 if base is None else base.numbered(n).size
        out = np.zeros(len(captions))
        lengths.pick(len(table.number) * 3)(table.number, table.count, table.offsets, weights, frequencies.unseen, seen, out)
        return out

    return captions.cached(("lengths of n-gram vectors", frequencies, n), measure)


@kernel
def pair_products(  # type: ignore[no-untyped-def]
    c_number, c_count, c_offsets, r_number, r_count, r_offsets, weights, unseen, candidate, reference, clip, out
):
    """Scalar product of the vectors of each pair; with ``clip`` the candidate's weights are cut to the reference's."""
    for p in range(candidate.shape[0]):
        i, i_end = c_offsets[candidate[p]], c_offsets[candidate[p] + 1]
        j, j_end = r_offsets[reference[p]], r_offsets[reference[p] + 1]
        total = 0.0
        while i < i_end and j < j_end:
            if c_number[i] < r_number[j]:
                i += 1
            elif c_number[i] > r_number[j]:
                j += 1
            else:
                weight = weights[c_number[i]] if c_number[i] < weights.shape[0] else unseen
                ours, theirs = c_count[i] * weight, r_count[j] * weight
                if clip and theirs < ours:
                    ours = theirs
                total += ours * theirs
                i += 1
                j += 1
        out[p] = total


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
    """tf-idf cosine of candidate[p] with reference[p] for one n (0 where either has no weight)."""
    if 4 * len(candidate) < len(references) and ("lengths of n-gram vectors", frequencies, n) not in references.memo:
        # A few images need few of the references.
        rows, reference = distinct(reference)
        references = references.take(rows, np.arange(len(rows) + 1))
    c, r = candidates.ngrams(n), references.ngrams(n)
    c_lengths, r_lengths = (vector_lengths(captions, frequencies, n) for captions in (candidates, references))
    products = np.zeros(len(candidate))
    work = np.diff(c.offsets)[candidate].sum() + np.diff(r.offsets)[reference].sum()
    pair_products.pick(4.0 * float(work))(
        c.number, c.count, c.offsets, r.number, r.count, r.offsets, frequencies.weights(candidates.encoding, n), frequencies.unseen,
        candidate, reference, clip, products,
    )  # fmt: skip
    norms = c_lengths[candidate] * r_lengths[reference]
    return np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)


def frequencies_of(references: Captions) -> ReferenceFrequencies:
    """The document frequencies of references, counted once."""
    return references.cached("reference frequencies", lambda: ReferenceFrequencies(references))


class Cider(Measure):
    """Mean over n = 1…4 and over references of tf-idf cosines, times 10. The prepared state is the document frequencies."""

    name = "CIDEr"
    summary = "tf-idf weighted n-gram cosines, unclipped (Vedantam et al. 2015)"
    bounds = (0.0, SCALE)
    needs: frozenset[Need] = frozenset({"references", "images"})
    options: ClassVar[tuple[Option, ...]] = (DF,)
    fixed: Mapping[str, str] = {"n": str(MAX_N)}
    # Other references pull the mean down.
    perfect_is_maximum = False
    clip = False

    def __init__(self, df: DocumentFrequencies | None = None) -> None:
        self.df = df

    def resources(self) -> dict[str, Resource]:
        return {} if self.df is None else {"df": self.df}

    def parameters(self) -> dict[str, str]:
        return {**super().parameters(), **({"df": "references"} if self.df is None else {})}

    def prepare(self, references: Captions) -> DocumentFrequencies:
        """The table given, or the counts of these references."""
        frequencies = self.df if self.df is not None else self._own(references)
        frequencies.check_tokenizer(references.tokenizer)
        count = partial(frequencies.weights, references.encoding)
        deque(side_by_side(count, range(MAX_N, 0, -1), threads_for(len(references.tokens))), maxlen=0)
        return frequencies

    def _own(self, references: Captions) -> ReferenceFrequencies:
        if references.n_images < 2:
            raise InputError(
                f"{self.name} weighs n-grams by how few images' references have them, which means nothing for "
                f"{references.n_images} image: every weight would be log(1) = 0. Give document frequencies from a larger corpus "
                "(--df FILE, df=…; 'captious df build REFS -o FILE' makes one)"
            )
        return frequencies_of(references)

    def statistics(self, corpus: Corpus, state: DocumentFrequencies) -> FloatArray:
        candidate, reference = corpus.pairs
        similarity = self._in_a_batch(corpus, state)
        if similarity is None:
            similarity = np.zeros(len(candidate))
            each = partial(pair_similarities, corpus.candidates, corpus.references, candidate, reference, state, clip=self.clip)
            for found in side_by_side(each, range(1, MAX_N + 1), threads_for(len(corpus.candidates.tokens))):
                similarity += found
        similarity *= self.length_penalty(corpus)
        references = np.diff(corpus.pair_offsets)
        totals = np.bincount(candidate, weights=similarity, minlength=len(references))
        means = np.divide(totals, references, out=np.zeros(len(references)), where=references > 0)
        return as_statistics(SCALE * means / MAX_N)

    def _in_a_batch(self, corpus: Corpus, state: DocumentFrequencies) -> FloatArray | None:
        """The cosines of a small batch in a loop, summed over n; nothing where the tables are the way."""
        if not isinstance(state, ReferenceFrequencies) or not cider_batch.fits(corpus, state):
            return None
        known = [cider_batch.known_ngrams(corpus.references, state, n) for n in range(1, MAX_N + 1)]
        there = [table for table in known if table is not None]
        if len(there) < MAX_N:
            return None
        weighted = [weighted_ngrams(corpus.references, state, n) for n in range(1, MAX_N + 1)]
        return cider_batch.similarities(corpus, there, weighted, state.images, clip=self.clip)

    def length_penalty(self, corpus: Corpus) -> FloatArray | float:
        """A factor per pair."""
        return 1.0


class CiderD(Cider):
    """CIDEr with clipped counts and a Gaussian penalty on length: the "CIDEr" of the COCO tools."""

    name = "CIDEr-D"
    summary = "CIDEr with clipping and length penalty, “CIDEr” of the COCO tools"
    fixed: Mapping[str, str] = {"n": str(MAX_N), "sigma": f"{SIGMA:g}"}
    clip = True

    def length_penalty(self, corpus: Corpus) -> FloatArray | float:
        candidate, reference = corpus.pairs
        # The reference implementation measures length in bigrams: captions of no and of one word are equally long.
        longer = np.maximum(corpus.candidates.lengths[candidate] - 1, 0)
        difference = longer - np.maximum(corpus.references.lengths[reference] - 1, 0)
        penalty: FloatArray = np.exp(-(difference.astype(np.float64) ** 2) / (2 * SIGMA**2))
        return penalty
