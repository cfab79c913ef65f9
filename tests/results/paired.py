"""The paired bootstrap of two systems by itself, which comparisons of many systems must equal."""

from __future__ import annotations

import numpy as np

from captious.metrics.base import Rows, Sequences
from captious.results.significance import (
    RESAMPLES,
    SEED,
    Value,
    bootstrap_sums,
    bootstrap_values,
    interval_and_p,
)


def paired_bootstrap(
    a: Rows, b: Rows, value: Value, level: float = 0.95, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float, float, float]:
    """Return the interval of B − A and the p-value, from the same resamples of images for both."""
    if isinstance(a, Sequences) or isinstance(b, Sequences):
        # The same seed draws the same images for both.
        differences = bootstrap_values(b, value, resamples, seed) - bootstrap_values(
            a, value, resamples, seed
        )
    else:
        sums = bootstrap_sums(np.concatenate([a, b], axis=1), resamples, seed)
        k = a.shape[1]
        differences = value(sums[:, k:]) - value(sums[:, :k])
    observed = float(value(b.sum(axis=0)) - value(a.sum(axis=0)))
    return interval_and_p(differences, observed, level, biased=isinstance(a, Sequences))
