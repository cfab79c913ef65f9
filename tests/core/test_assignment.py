"""The assignment with the largest sum, compared with all permutations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from captious.core.assignment import assign


@pytest.mark.parametrize("seed", range(40))
def test_the_sum_is_that_of_the_best_permutation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 6, 2).tolist()
    gains = np.round(rng.random((rows, columns)) * rng.choice([3, 100]), 0)
    chosen = assign(gains)
    pairs = [(i, j) for i, j in enumerate(chosen.tolist()) if j >= 0]
    assert len(pairs) == min(rows, columns) == len({j for _, j in pairs})
    wide = gains if rows <= columns else gains.T
    best = max(
        sum(wide[i, j] for i, j in enumerate(order))
        for order in itertools.permutations(range(wide.shape[1]), len(wide))
    )
    assert sum(gains[i, j] for i, j in pairs) == pytest.approx(best)


def test_empty_sides() -> None:
    assert assign(np.zeros((0, 3))).tolist() == []
    assert assign(np.zeros((2, 0))).tolist() == [-1, -1]
