"""The assignment with the largest sum, compared with all permutations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from captious.core.assignment import assign


def test_the_sum_is_that_of_the_best_permutation() -> None:
    rng = np.random.default_rng(0)
    # Without the prices of columns, 2 % of small matrices have a wrong assignment.
    for _ in range(500):
        rows, columns = rng.integers(1, 6, 2).tolist()
        gains = np.round(rng.random((rows, columns)) * rng.choice([3, 100]), 0)
        chosen = assign(gains)
        pairs = [(i, j) for i, j in enumerate(chosen.tolist()) if j >= 0]
        assert len(pairs) == min(rows, columns) == len({j for _, j in pairs})
        wide = gains if rows <= columns else gains.T
        orders = np.array(list(itertools.permutations(range(wide.shape[1]), len(wide))))
        best = wide[np.arange(len(wide)), orders].sum(axis=1).max()
        assert sum(gains[i, j] for i, j in pairs) == pytest.approx(best), gains


def test_empty_sides() -> None:
    assert assign(np.zeros((0, 3))).tolist() == []
    assert assign(np.zeros((2, 0))).tolist() == [-1, -1]
