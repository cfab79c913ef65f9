"""From similarities of the captions of a set to one number: how evenly its spectrum is spread.

Wang & Chan (2019): with singular values σ of the caption vectors, the share r = σ₁ / Σσ of the largest is 1 when all
captions say the same and 1/m when m captions have nothing in common; the diversity is −log_m r, from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from captious.corpus import Captions
from captious.measures.base import FloatArray
from captious.progress import track
from captious.ragged import IntArray

#: Cells of kernel matrices handled at once (32 MB).
_CELLS = 4_000_000

#: Eigenvalues below this share of the largest, of either sign, are rounding.
ROUNDING = 1e-12
#: Eigenvalues more negative than this share of the largest are no rounding: the kernel is not positive definite.
NEGATIVE = 1e-6

#: Kernel matrices (g, m, m) of the sets of ``images``, which all have m captions.
Matrices = Callable[[IntArray, int], FloatArray]


def _batches(captions: Captions) -> list[tuple[IntArray, int]]:
    """Images by the size of their sets, so many at a time as fit; images without captions are left out."""
    out: list[tuple[IntArray, int]] = []
    for m in np.unique(captions.per_image[captions.per_image > 0]).tolist():
        images = np.flatnonzero(captions.per_image == m)
        step = max(1, _CELLS // (m * m))
        out.extend((images[start : start + step], m) for start in range(0, len(images), step))
    return out


def eigenvalues(matrices: FloatArray) -> FloatArray:
    """Eigenvalues of symmetric matrices, ascending along the last axis; those that are rounding are 0."""
    found = np.linalg.eigvalsh(matrices).astype(np.float64, copy=False)
    largest = np.abs(found).max(axis=-1, keepdims=True, initial=0.0)
    found[np.abs(found) <= ROUNDING * largest] = 0.0
    return found


def evenness(squares: FloatArray) -> FloatArray:
    """−log_m of the largest singular value's share, from squared singular values along the last axis.

    Negative squares count as 0. A set of one caption, of equal captions, or without a word, has diversity 0.
    """
    m = squares.shape[-1]
    singular = np.sqrt(np.maximum(squares, 0.0))
    total = singular.sum(axis=-1)
    share = np.divide(singular.max(axis=-1, initial=0.0), total, out=np.ones_like(total), where=total > 0)
    diversity: FloatArray = np.zeros_like(total) if m < 2 else -np.log(share) / np.log(m)
    return np.maximum(diversity, 0.0)  # and no −0.0


def spectral_diversity(captions: Captions, matrices: Matrices) -> tuple[FloatArray, FloatArray]:
    """Diversity of each set (not a number for a set of nothing), and its most negative eigenvalue over the largest."""
    diversity = np.full(captions.n_images, np.nan)
    negative = np.zeros(captions.n_images)
    for images, m in track(_batches(captions), "comparing captions"):
        found = eigenvalues(matrices(images, m))
        diversity[images] = evenness(found)
        low, high = found[:, 0], np.abs(found).max(axis=-1)
        negative[images] = np.divide(np.minimum(low, 0.0), high, out=np.zeros_like(low), where=high > 0)
    return diversity, negative
