"""BLEU (Papineni et al. 2002) in the form of the COCO tools: closest reference length, tiny constants, no smoothing."""

from __future__ import annotations

from collections import deque
from functools import partial

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.measures.base import FloatArray, Measure
from captious.threads import side_by_side, threads_for

#: Added to matches and to totals, as the COCO tools do: they decide the value when nothing matches.
_TINY, _SMALL = 1e-15, 1e-9

MAX_N = 4


@kernel
def clipped_matches(  # type: ignore[no-untyped-def]
    c_number, c_count, c_offsets, r_number, r_count, r_offsets, image_of, image_offsets, out
):
    """For each candidate: its n-grams, each counted at most as often as in the reference that has it most often.

    Both tables are sorted by n-gram number within a caption, so each reference is merged in one pass.
    """
    for i in range(c_offsets.shape[0] - 1):
        low, high = c_offsets[i], c_offsets[i + 1]
        image = image_of[i]
        matched = 0
        for j in range(low, high):
            number, most = c_number[j], 0
            for r in range(image_offsets[image], image_offsets[image + 1]):
                # Binary search for the first row not below the number.
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
    """Clipped matches and totals of the candidates' n-grams; shared by BLEU and n-gram precision."""

    def count() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        candidates, references = corpus.candidates.ngrams(n), corpus.references.ngrams(n)
        matches = np.zeros(len(corpus.candidates), dtype=np.int64)
        clipped_matches.pick(len(candidates.number) * 30)(
            candidates.number, candidates.count, candidates.offsets,
            references.number, references.count, references.offsets,
            corpus.images[corpus.candidates.image_of], corpus.references.image_offsets, matches,
        )  # fmt: skip
        return matches, candidates.totals

    return corpus.cached(("ngram matches", n), count)


def closest_reference_lengths(corpus: Corpus) -> NDArray[np.int64]:
    """For each candidate the length of the reference nearest in length; the shorter of two equally near."""
    candidate, reference = corpus.pairs
    lengths = corpus.references.lengths[reference]
    distance = np.abs(lengths - corpus.candidates.lengths[candidate])
    # Distance first, then length: one number orders both.
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
            raise ValueError(f"BLEU is defined here for n from 1 to {MAX_N}, not {n}")
        self.n = n
        self.name = f"BLEU-{n}"
        self.summary = f"clipped n-gram precision up to n = {n} with brevity penalty (Papineni et al. 2002)"
        self.fixed = {"n": str(n), "eff": "closest", "smooth": "coco"}

    def prepare(self, references: Captions) -> None:
        # The longest first: they take the longest.
        deque(side_by_side(references.ngrams, range(MAX_N, 0, -1), threads_for(len(references.tokens))), maxlen=0)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        """Matches for each n, totals for each n, candidate length, closest reference length."""

        def count() -> FloatArray:
            columns = list(side_by_side(partial(ngram_matches, corpus), range(1, MAX_N + 1), threads_for(len(corpus.candidates.tokens))))
            lengths = [corpus.candidates.lengths, closest_reference_lengths(corpus)]
            return np.stack([m for m, _ in columns] + [t for _, t in columns] + lengths, axis=1).astype(np.float64)

        return corpus.cached("bleu", count)

    def value(self, sums: FloatArray) -> FloatArray:
        matches, totals = sums[..., :MAX_N], sums[..., MAX_N : 2 * MAX_N]
        length, closest = sums[..., -2], sums[..., -1]
        precisions = (matches[..., : self.n] + _TINY) / (totals[..., : self.n] + _SMALL)
        bleu: FloatArray = np.prod(precisions, axis=-1) ** (1.0 / self.n)
        ratio = (length + _TINY) / (closest + _SMALL)
        penalty = np.exp(np.minimum(0.0, 1.0 - 1.0 / ratio))
        return bleu * penalty
