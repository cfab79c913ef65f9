"""How the measures rank the systems alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from captious.diversity.corpus.flat import FloatArray

#: Rank correlation over fewer systems says nothing.
LEAST_SYSTEMS = 3


def rank_correlations(rows: Sequence[Mapping[str, float]]) -> tuple[list[str], FloatArray] | None:
    """Spearman's correlation of every two measures over the systems, or nothing for fewer than three systems.

    A measure that is missing for a system, or the same for all, is left out.
    """
    if len(rows) < LEAST_SYSTEMS:
        return None
    names = [
        name for name in rows[0]
        if all(np.isfinite(row.get(name, np.nan)) for row in rows) and len({row[name] for row in rows}) > 1
    ]  # fmt: skip
    if len(names) < 2:
        return None
    ranks = np.array([_ranks(np.array([row[name] for row in rows])) for name in names])
    return names, np.corrcoef(ranks)


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks, the mean of the ranks for equal values."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: FloatArray = (last - (counts - 1) / 2.0)[place]
    return ranks
