"""Similarities of unit vectors, of a candidate and of its references, made one number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.errors import InputError
from captious.measures.base import FloatArray
from captious.measures.options import COMBINE as OPTION
from captious.ragged import IntArray, runs

COMBINE: dict[str, np.ufunc] = {"mean": np.add, "max": np.maximum, "min": np.minimum}


def check_combine(how: str) -> str:
    """The way to combine references, if there is such a way."""
    if how not in OPTION.choices:
        raise InputError(f"references are combined by mean, max, min or centroid, not '{how}'")
    return how


def combined(corpus: Corpus, pair_values: FloatArray, how: str) -> FloatArray:
    """The mean, maximum or minimum of each candidate's values over its references; not a number where it has none."""
    values = np.full(len(corpus.candidates), np.nan)
    counts = np.diff(corpus.pair_offsets)
    has = counts > 0
    if has.any():
        values[has] = COMBINE[how].reduceat(pair_values, corpus.pair_offsets[:-1][has])
        if how == "mean":
            values[has] /= counts[has]
    return values


def reference_means(corpus: Corpus, theirs: NDArray[np.float32]) -> FloatArray:
    """The mean of the references' vectors, one row per image of the references."""
    references = corpus.references
    means: FloatArray = _sums(theirs, np.arange(len(references), dtype=np.int64), references.image_offsets)
    means /= np.maximum(references.per_image, 1)[:, None]
    return means


def _sums(rows: NDArray[np.float32], chosen: IntArray, offsets: IntArray) -> FloatArray:
    """The sums of runs of chosen rows, each added up from the first on: the first of all runs, then the second …"""
    counts = np.diff(offsets)
    sums = np.zeros((len(counts), rows.shape[1]))
    for k in range(int(counts.max(initial=0))):
        has = np.flatnonzero(counts > k)
        sums[has] += rows[chosen[offsets[has] + k]]
    return sums


def with_means(corpus: Corpus, ours: NDArray[np.float32], theirs: NDArray[np.float32], unit: bool = False) -> FloatArray:
    """The product of each candidate's vector with the mean of its references': the mean of the cosines.

    ``unit`` scales the means to length one: cosines with the centroid. References that agree little among themselves have a
    short mean, which is then no longer held against the candidate.
    """
    # Only the images that have candidates are looked at: a batch of a training run has few of them.
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
    """The cosine of each pair of candidate and reference."""
    candidate, reference = corpus.pairs
    values = np.empty(len(candidate))
    step = 2_048  # few enough that their vectors stay near the processor
    for start in range(0, len(candidate), step):
        part = slice(start, start + step)
        values[part] = np.einsum("ij,ij->i", ours[candidate[part]], theirs[reference[part]], dtype=np.float32)
    return np.clip(values, -1.0, 1.0)
