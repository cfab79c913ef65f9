"""mBLEU: sentence BLEU of each caption with the other captions of its set as references. Low is diverse."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.kernels.types import Int64, Out
from captious.metrics.base import FloatArray
from captious.metrics.captions.bleu import BLEU, MAX_N
from captious.metrics.sets.chained_products import most_elsewhere
from captious.metrics.sets.set_measure import MeanMeasure, image_means

#: n = 0 stands for the mean of mBLEU-1…4.
MIX = 0


@kernel
def closest_other_lengths(lengths: Int64, image_offsets: Int64, out: Out[Int64]) -> None:
    """Find the length of the other caption of the set nearest in length (the shorter of two equally near)."""
    for image in range(image_offsets.shape[0] - 1):
        first, last = image_offsets[image], image_offsets[image + 1]
        for i in range(first, last):
            best, nearest = 0, -1
            for other in range(first, last):
                if other == i:
                    continue
                distance = abs(lengths[other] - lengths[i])
                if nearest < 0 or distance < nearest or (distance == nearest and lengths[other] < best):
                    best, nearest = lengths[other], distance
            out[i] = best


def bleu_rows(captions: Captions) -> FloatArray:
    """Return the statistics of :class:`~captious.metrics.captions.bleu.BLEU` of each caption in its set."""

    def count() -> FloatArray:
        matches, totals = [], []
        for n in range(1, MAX_N + 1):
            table = captions.ngrams(n)
            most = most_elsewhere(table.number, table.count, table.offsets, captions.image_offsets)
            caption = np.repeat(np.arange(len(captions)), np.diff(table.offsets))
            matched = np.bincount(caption, weights=np.minimum(most, table.count), minlength=len(captions))
            matches.append(matched)
            totals.append(table.totals)
        closest: NDArray[np.int64] = np.zeros(len(captions), dtype=np.int64)
        closest_other_lengths(captions.lengths, captions.image_offsets, closest)
        return np.stack([*matches, *totals, captions.lengths, closest], axis=1).astype(np.float64)

    return captions.cached("bleu among others", count)


def caption_bleu(captions: Captions, n: int) -> FloatArray:
    """Return sentence BLEU-n of each caption against the others of its set.

    Two cases do not occur in the COCO tools. An empty caption beside another empty one repeats it and counts
    1 (beside captions with words it counts 0). The only caption of a set counts 1, since it adds nothing to
    itself.
    """
    values = BLEU(n).per_row(bleu_rows(captions))
    empty = captions.lengths == 0
    empties = np.bincount(captions.image_of, weights=empty, minlength=captions.n_images)
    repeats = empty & (empties[captions.image_of] > 1)
    alone = captions.per_image[captions.image_of] == 1
    return np.where(repeats | alone, 1.0, values)


class MBleu(MeanMeasure):
    """Mean BLEU-n of the captions of a set against the others. ``n=0`` is the mean over n = 1…4."""

    higher_is_better = False
    fixed: Mapping[str, str] = {"eff": "closest", "smooth": "coco"}
    inverse = False

    def __init__(self, n: int = MIX) -> None:
        self.n = n
        self.name = f"{'1-' if self.inverse else ''}mBLEU-{n if n != MIX else 'mix'}"
        which = f"BLEU-{n}" if n != MIX else "BLEU-1…4, averaged,"
        self.summary = (
            f"{'1 minus ' if self.inverse else ''}{which} of each caption against the others of its set"
        )

    def per_image(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates

        def mean(n: int) -> FloatArray:
            return captions.cached(("mBLEU", n), lambda: image_means(captions, caption_bleu(captions, n)))

        orders = range(1, MAX_N + 1) if self.n == MIX else [self.n]
        value: FloatArray = np.mean([mean(n) for n in orders], axis=0)
        return 1.0 - value if self.inverse else value


class InverseMBleu(MBleu):
    """1 − mBLEU. High values are diverse."""

    higher_is_better = True
    inverse = True
