"""METEOR's parameters for English, and scores from statistics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.kernels import inner
from captious.kernels.types import Float64x2, Int32x2, Out

#: Tuned for ranking translations of English (WMT data), and used unchanged for captions.
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.20, 0.60, 0.75
MODULE_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
#: Columns of the statistics: length, reference length, function words of either; for each of four modules
#: content words matched in either, function words matched in either; chunks, words matched in either.
STATISTICS = 23


def summable(statistics: NDArray[np.float64] | NDArray[np.int32]) -> NDArray[np.float64]:
    """Append a column: the chunks that count in sums of statistics.

    A caption whose words all match in one chunk has no fragmentation, so its chunk is left out of sums.
    """
    s = np.asarray(statistics, np.float64)
    complete = (s[..., 21] == s[..., 0]) & (s[..., 22] == s[..., 1]) & (s[..., 20] == 1)
    return np.concatenate([s, np.where(complete, 0.0, s[..., 20])[..., None]], axis=-1)


@inner
def ingredients(rows: Int32x2, at: int, parts: Out[Float64x2]) -> None:
    """Compute the parts of a score: the mean of precision and recall, and the fragmentation.

    Operations are those of :func:`score_sums`, in the same order, so that rounding is the same.
    """
    parts[at, 0] = 0.0
    parts[at, 1] = 0.0
    if rows[at, 21] == 0:
        return
    matched1, matched2 = 0.0, 0.0
    for m in range(4):
        weight = MODULE_WEIGHTS[m]
        matched1 += weight * (rows[at, 4 + 4 * m] * DELTA + rows[at, 6 + 4 * m] * (1.0 - DELTA))
        matched2 += weight * (rows[at, 5 + 4 * m] * DELTA + rows[at, 7 + 4 * m] * (1.0 - DELTA))
    precision = matched1 / ((rows[at, 0] - rows[at, 2]) * DELTA + rows[at, 2] * (1.0 - DELTA))
    recall = matched2 / ((rows[at, 1] - rows[at, 3]) * DELTA + rows[at, 3] * (1.0 - DELTA))
    parts[at, 0] = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
    if not (rows[at, 21] == rows[at, 0] and rows[at, 22] == rows[at, 1] and rows[at, 20] == 1):
        parts[at, 1] = rows[at, 20] / ((rows[at, 21] + rows[at, 22]) / 2.0)


def combined(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores from their :func:`ingredients`."""
    values: NDArray[np.float64] = parts[:, 0] * (1.0 - GAMMA * parts[:, 1].copy() ** BETA)
    return np.where(values < 0, 0.0, values)


def score(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of statistics along the last axis."""
    return score_sums(summable(statistics))


def score_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of sums of :func:`summable` statistics along the last axis."""
    s = sums
    modules = s[..., 4:20].reshape(*s.shape[:-1], 4, 4)
    matched1 = np.zeros(s.shape[:-1])
    matched2 = np.zeros(s.shape[:-1])
    # The reference's order of operations, so that rounding is the same.
    for m, weight in enumerate(MODULE_WEIGHTS):
        matched1 = matched1 + weight * (modules[..., m, 0] * DELTA + modules[..., m, 2] * (1.0 - DELTA))
        matched2 = matched2 + weight * (modules[..., m, 1] * DELTA + modules[..., m, 3] * (1.0 - DELTA))
    length1 = (s[..., 0] - s[..., 2]) * DELTA + s[..., 2] * (1.0 - DELTA)
    length2 = (s[..., 1] - s[..., 3]) * DELTA + s[..., 3] * (1.0 - DELTA)
    words1, words2, chunks = s[..., 21], s[..., 22], s[..., 23]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = matched1 / length1
        recall = matched2 / length2
        f_mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
        fragmentation = chunks / ((words1 + words2) / 2.0)
        values = f_mean * (1.0 - GAMMA * fragmentation**BETA)
    result: NDArray[np.float64] = np.where(np.isnan(values) | (values < 0), 0.0, values)
    return result
