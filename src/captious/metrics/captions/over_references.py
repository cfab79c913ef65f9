"""Similarities of unit vectors, combined over the references of a candidate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import IntArray, runs
from captious.corpus import Corpus
from captious.metrics.base import FloatArray
from captious.metrics.options import COMBINE as OPTION
from captious.metrics.options import OVERLAP

COMBINE: dict[str, np.ufunc] = {"mean": np.add, "max": np.maximum, "min": np.minimum}


def check_combine(how: str) -> str:
    """Return ``how`` if it is a way to combine references."""
    if how not in OPTION.choices:
        raise InputError(f"references are combined by mean, max, min or centroid, not '{how}'")
    return how


def check_overlap(how: str) -> str:
    """Return ``how`` if it is a way to combine the overlaps with references."""
    if how not in OVERLAP.choices:
        raise InputError(f"overlaps with references are combined by max, mean or min, not '{how}'")
    return how


def combined(corpus: Corpus, pair_values: FloatArray, how: str) -> FloatArray:
    """Return the mean, maximum or minimum over each candidate's references, or NaN where there are none."""
    values = np.full(len(corpus.candidates), np.nan)
    counts = np.diff(corpus.pair_offsets)
    has = counts > 0
    if has.any():
        values[has] = COMBINE[how].reduceat(pair_values, corpus.pair_offsets[:-1][has])
        if how == "mean":
            values[has] /= counts[has]
    return values


def reference_means(corpus: Corpus, theirs: NDArray[np.float32]) -> FloatArray:
    """Return the mean vector of each image's references."""
    references = corpus.references
    means: FloatArray = _sums(theirs, np.arange(len(references), dtype=np.int64), references.image_offsets)
    means /= np.maximum(references.per_image, 1)[:, None]
    return means


def _sums(rows: NDArray[np.float32], chosen: IntArray, offsets: IntArray) -> FloatArray:
    """Return the sums of runs of chosen rows. Each run is added from its first row to its last."""
    counts = np.diff(offsets)
    sums = np.zeros((len(counts), rows.shape[1]))
    for k in range(int(counts.max(initial=0))):
        has = np.flatnonzero(counts > k)
        sums[has] += rows[chosen[offsets[has] + k]]
    return sums


def with_means(
    corpus: Corpus, ours: NDArray[np.float32], theirs: NDArray[np.float32], unit: bool = False
) -> FloatArray:
    """Return the product of each candidate's vector with the mean of its references', the mean cosine.

    With ``unit``, means are scaled to length one, which gives cosines with the centroid. References that
    differ from each other have a short mean, which then no longer lowers the score.
    """
    # Only images with candidates are used. A training batch has few of them.
    images, place = np.unique(corpus.images[corpus.candidates.image_of], return_inverse=True)
    rows, offsets = runs(corpus.references.image_offsets, images)
    counts = np.diff(offsets)
    means = _sums(theirs, rows, offsets)
    means /= np.maximum(counts, 1)[:, None]
    if unit:
        means /= np.maximum(np.sqrt(np.einsum("ij,ij->i", means, means)), 1e-12)[:, None]
    values = np.clip(np.einsum("ij,ij->i", ours.astype(np.float64), means[place]), -1.0, 1.0)
    return np.where(counts[place] > 0, values, np.nan)


def pair_cosines(corpus: Corpus, ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> FloatArray:
    """Return the cosine of each pair of candidate and reference."""
    candidate, reference = corpus.pairs
    values = np.empty(len(candidate))
    step = 2_048  # small enough for the processor's cache
    for start in range(0, len(candidate), step):
        part = slice(start, start + step)
        values[part] = np.einsum("ij,ij->i", ours[candidate[part]], theirs[reference[part]], dtype=np.float32)
    return np.clip(values, -1.0, 1.0)
