"""Ragged arrays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from captious.core.ragged import offsets_of, places_in, positions_of, runs, sums_of_rows


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sums_of_rows_have_the_bits_of_a_sparse_product(kind: type, weighted: bool) -> None:
    generator = np.random.default_rng(1)
    table = generator.standard_normal((500, 33)).astype(kind)
    offsets = offsets_of([0, 3, 200, 1, 0, 12, 12, 40, 0])
    rows = generator.integers(0, len(table), int(offsets[-1]))
    weights = generator.standard_normal(len(rows)).astype(kind) if weighted else None
    sparse = csr_matrix(
        (np.ones(len(rows), kind) if weights is None else weights, rows, offsets),
        shape=(len(offsets) - 1, len(table)),
    )
    assert sums_of_rows(table, rows, offsets, weights).tobytes() == (sparse @ table).tobytes()
    # Some consecutive runs, as callers that work in portions pass them.
    assert sums_of_rows(table, rows, offsets[2:5], weights).tobytes() == (sparse[2:4] @ table).tobytes()


def test_no_runs() -> None:
    assert sums_of_rows(np.ones((2, 3)), np.zeros(0, np.int64), offsets_of([])).shape == (0, 3)


def test_positions_and_places_of_runs() -> None:
    positions, offsets = positions_of(np.array([7, 0, 3]), np.array([2, 0, 3]))
    assert positions.tolist() == [7, 8, 3, 4, 5] and offsets.tolist() == [0, 2, 2, 5]
    assert places_in(np.array([2, 0, 3])).tolist() == [0, 1, 0, 1, 2]
    assert places_in(np.zeros(0, np.int64)).tolist() == []
    # Runs of an array are selected by their numbers.
    picked, bounds = runs(offsets_of([2, 1, 3]), np.array([2, 0, 2]))
    assert picked.tolist() == [3, 4, 5, 0, 1, 3, 4, 5] and bounds.tolist() == [0, 3, 5, 8]
