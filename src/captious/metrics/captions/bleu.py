"""BLEU (Papineni et al. 2002) as in the COCO tools: closest reference length, no smoothing."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from captious.core.threads import for_each, side_by_side, threads_for
from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.kernels.types import Int32, Int64, Out
from captious.metrics.base import FloatArray, Measure

#: Added to matches and to totals, as the COCO tools do. They decide the value when nothing matches.
_TINY, _SMALL = 1e-15, 1e-9

MAX_N = 4


@kernel
def clipped_matches(
    c_number: Int32,
    c_count: Int32,
    c_offsets: Int64,
    r_number: Int32,
    r_count: Int32,
    r_offsets: Int64,
    image_of: Int64,
    image_offsets: Int64,
    out: Out[Int64],
) -> None:
    """Count each candidate's n-grams, each at most as often as in the reference that has it most often.

    The rows of a caption are sorted by n-gram number, so a binary search finds an n-gram in a reference.
    """
    for i in range(c_offsets.shape[0] - 1):
        low, high = c_offsets[i], c_offsets[i + 1]
        image = image_of[i]
        matched = 0
        for j in range(low, high):
            number, most = c_number[j], 0
            for r in range(image_offsets[image], image_offsets[image + 1]):
                a, b = r_offsets[r], r_offsets[r + 1]
                while a < b:
                    middle = (a + b) // 2
                    if r_number[middle] < number:
                        a = middle + 1
                    else:
                        b = middle
                if a < r_offsets[r + 1] and r_number[a] == number and r_count[a] > most:
                    most = int(r_count[a])
            matched += min(most, int(c_count[j]))
        out[i] = matched


def ngram_matches(corpus: Corpus, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return clipped matches and totals of the candidates' n-grams."""

    def count() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        candidates, references = corpus.candidates.ngrams(n), corpus.references.ngrams(n)
        matches = np.zeros(len(corpus.candidates), dtype=np.int64)
        clipped_matches(
            candidates.number,
            candidates.count,
            candidates.offsets,
            references.number,
            references.count,
            references.offsets,
            corpus.images[corpus.candidates.image_of],
            corpus.references.image_offsets,
            matches,
        )
        return matches, candidates.totals

    return corpus.cached(("ngram matches", n), count)


def closest_reference_lengths(corpus: Corpus) -> NDArray[np.int64]:
    """Return the reference length closest to each candidate's length (the shorter of two equally close)."""
    candidate, reference = corpus.pairs
    lengths = corpus.references.lengths[reference]
    distance = np.abs(lengths - corpus.candidates.lengths[candidate])
    # One number orders by distance first, then by length.
    scale = int(lengths.max(initial=0)) + 1
    closest = np.zeros(len(corpus.candidates), dtype=np.int64)
    has = np.diff(corpus.pair_offsets) > 0
    if has.any():
        closest[has] = np.minimum.reduceat(distance * scale + lengths, corpus.pair_offsets[:-1][has]) % scale
    return closest


class BLEU(Measure):
    """Geometric mean of clipped n-gram precisions up to n, with a brevity penalty."""

    def __init__(self, n: int = MAX_N) -> None:
        if not 1 <= n <= MAX_N:
            raise ValueError(f"BLEU takes n from 1 to {MAX_N}, not {n}")
        self.n = n
        self.name = f"BLEU-{n}"
        self.summary = f"clipped n-gram precision up to n = {n} with brevity penalty (Papineni et al. 2002)"
        self.fixed = {"n": str(n), "eff": "closest", "smooth": "coco"}

    def prepare(self, references: Captions) -> None:
        # Long n-grams take the longest, so they start first.
        for_each(references.ngrams, range(MAX_N, 0, -1), threads_for(len(references.tokens)))

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        """Return matches for each n, totals for each n, candidate length and closest reference length."""

        def count() -> FloatArray:
            columns = list(
                side_by_side(
                    partial(ngram_matches, corpus),
                    range(1, MAX_N + 1),
                    threads_for(len(corpus.candidates.tokens)),
                )
            )
            lengths = [corpus.candidates.lengths, closest_reference_lengths(corpus)]
            return np.stack([m for m, _ in columns] + [t for _, t in columns] + lengths, axis=1).astype(
                np.float64
            )

        return corpus.cached("bleu", count)

    def value(self, sums: FloatArray) -> FloatArray:
        matches, totals = sums[..., :MAX_N], sums[..., MAX_N : 2 * MAX_N]
        length, closest = sums[..., -2], sums[..., -1]
        precisions = (matches[..., : self.n] + _TINY) / (totals[..., : self.n] + _SMALL)
        bleu: FloatArray = np.prod(precisions, axis=-1) ** (1.0 / self.n)
        ratio = (length + _TINY) / (closest + _SMALL)
        penalty = np.exp(np.minimum(0.0, 1.0 - 1.0 / ratio))
        return bleu * penalty
