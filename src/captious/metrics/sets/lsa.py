"""LSA diversity (Wang & Chan 2019): how evenly the spectrum of a set's similarities is spread.

With singular values σ of the caption vectors, the share r = σ₁ / Σσ of the largest is 1 when all captions are
equal and 1/m when m captions have nothing in common. The diversity is −log_m r, from 0 to 1. LSA applies it
to word counts, Self-CIDEr to CIDEr between captions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from captious.core.progress import track
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray
from captious.metrics.sets.chained_products import set_products
from captious.metrics.sets.set_measure import MeanMeasure

#: Cells of kernel matrices processed at a time (32 MB).
_CELLS = 4_000_000

#: Eigenvalues below this share of the largest, of either sign, are rounding errors.
ROUNDING = 1e-12
#: Eigenvalues more negative than this share of the largest are not rounding errors: the kernel is not
#: positive definite.
NEGATIVE = 1e-6

#: Function that returns kernel matrices (g, m, m) of the sets of ``images``, which all have m captions.
Matrices = Callable[[IntArray, int], FloatArray]


def _batches(captions: Captions) -> list[tuple[IntArray, int]]:
    """Return images by set size, in groups that fit in memory. Images without captions are left out."""
    batches: list[tuple[IntArray, int]] = []
    for m in np.unique(captions.per_image[captions.per_image > 0]).tolist():
        images = np.flatnonzero(captions.per_image == m)
        step = max(1, _CELLS // (m * m))
        batches.extend((images[start : start + step], m) for start in range(0, len(images), step))
    return batches


def eigenvalues(matrices: FloatArray) -> FloatArray:
    """Return ascending eigenvalues of symmetric matrices along the last axis, rounding errors set to 0."""
    values = np.linalg.eigvalsh(matrices).astype(np.float64, copy=False)
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    values[np.abs(values) <= ROUNDING * largest] = 0.0
    return values


def evenness(squares: FloatArray) -> FloatArray:
    """Return −log_m of the largest singular value's share, from squared singular values along the last axis.

    Negative squares count as 0. A set of one caption, of equal captions, or without words has diversity 0.
    """
    m = squares.shape[-1]
    singular = np.sqrt(np.maximum(squares, 0.0))
    total = singular.sum(axis=-1)
    share = np.divide(singular.max(axis=-1, initial=0.0), total, out=np.ones_like(total), where=total > 0)
    diversity: FloatArray = np.zeros_like(total) if m < 2 else -np.log(share) / np.log(m)
    return np.maximum(diversity, 0.0)  # avoid −0.0


def spectral_diversity(captions: Captions, matrices: Matrices) -> tuple[FloatArray, FloatArray]:
    """Return the diversity of each set (NaN for empty sets), and its most negative relative eigenvalue."""
    diversity = np.full(captions.n_images, np.nan)
    negative = np.zeros(captions.n_images)
    for images, m in track(_batches(captions), "comparing captions"):
        values = eigenvalues(matrices(images, m))
        diversity[images] = evenness(values)
        low, high = values[:, 0], np.abs(values).max(axis=-1)
        negative[images] = np.divide(np.minimum(low, 0.0), high, out=np.zeros_like(low), where=high > 0)
    return diversity, negative


class LSA(MeanMeasure):
    """−log_m(σ₁ / Σσ) for the singular values of the matrix of word counts (all words, including stop words).

    The squares of the singular values are the eigenvalues of the scalar products of the captions' counts.
    """

    name = "LSA"
    summary = "spread of the singular values of word counts (Wang & Chan 2019)"

    def per_image(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        table = captions.ngrams(1)
        counts = table.count.astype(np.float64)
        return spectral_diversity(
            captions,
            lambda images, m: set_products(
                table.number, counts, table.offsets, captions.image_offsets[images], m
            ),
        )[0]
