"""Behaviour that all measures share."""

from __future__ import annotations

import numpy as np

from captious.metrics.base import as_statistics


def test_undefined_values_do_not_count_in_means() -> None:
    rows = as_statistics(np.array([0.5, np.nan, 1.0]))
    assert rows.tolist() == [[0.5, 1.0], [0.0, 0.0], [1.0, 1.0]]
    total, count = rows.sum(axis=0)
    assert total / count == 0.75
