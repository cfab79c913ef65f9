"""Behaviour that all measures share."""

from __future__ import annotations

import numpy as np

from captious.metrics.base import as_statistics, ratio


def test_undefined_values_do_not_count_in_means() -> None:
    rows = as_statistics(np.array([0.5, np.nan, 1.0]))
    assert rows.tolist() == [[0.5, 1.0], [0.0, 0.0], [1.0, 1.0]]
    total, count = rows.sum(axis=0)
    assert total / count == 0.75


def test_quotients_where_there_is_nothing_to_divide_by() -> None:
    assert ratio(np.array([1, 0, 3]), np.array([2, 0, 0])).tolist() == [0.5, 0.0, 0.0]
    undefined = ratio(np.array([[1.0, 2.0]]), np.array([4.0, 0.0]), np.nan)
    assert undefined.shape == (1, 2) and undefined[0, 0] == 0.25 and np.isnan(undefined[0, 1])
    # Sums of a whole corpus are single numbers.
    assert float(ratio(np.float64(1.0), np.float64(4.0))) == 0.25
