"""METEOR's parameters for English, and the score of a statistics line (or of a sum of them)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Tuned for ranking translations of English (WMT data), and used unchanged for captions.
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.20, 0.60, 0.75
MODULE_WEIGHTS = (1.0, 0.6, 0.8, 0.6)


def score(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of statistics lines, along the last axis."""
    s = np.asarray(statistics, np.float64)
    modules = s[..., 4:20].reshape(*s.shape[:-1], 4, 4)
    matched1 = np.zeros(s.shape[:-1])
    matched2 = np.zeros(s.shape[:-1])
    # Added up module by module, as the reference does: the last digit depends on it.
    for m, weight in enumerate(MODULE_WEIGHTS):
        matched1 = matched1 + weight * (modules[..., m, 0] * DELTA + modules[..., m, 2] * (1.0 - DELTA))
        matched2 = matched2 + weight * (modules[..., m, 1] * DELTA + modules[..., m, 3] * (1.0 - DELTA))
    length1 = (s[..., 0] - s[..., 2]) * DELTA + s[..., 2] * (1.0 - DELTA)
    length2 = (s[..., 1] - s[..., 3]) * DELTA + s[..., 3] * (1.0 - DELTA)
    chunks, words1, words2 = s[..., 20], s[..., 21], s[..., 22]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = matched1 / length1
        recall = matched2 / length2
        f_mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
        fragmentation = chunks / ((words1 + words2) / 2.0)
        complete = (words1 == s[..., 0]) & (words2 == s[..., 1]) & (chunks == 1)
        fragmentation = np.where(complete, 0.0, fragmentation)
        values = f_mean * (1.0 - GAMMA * fragmentation**BETA)
    result: NDArray[np.float64] = np.where(np.isnan(values) | (values < 0), 0.0, values)
    return result
