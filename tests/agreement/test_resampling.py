from __future__ import annotations

import math

import numpy as np
import pytest

from captious.agreement.resampling import (
    bootstrap_p,
    perfect_interval,
    resample_counts,
    small_sample_interval,
    williams,
)
from captious.results.significance import holm, percentile_interval


def test_williams_on_the_example_of_steiger() -> None:
    """Steiger (1980): n = 103, r12 = .4, r13 = .5, r23 = .1 gives t = −.89."""
    t, p = williams(0.4, 0.5, 0.1, 103)
    assert t == pytest.approx(-0.89, abs=0.005)
    assert p == pytest.approx(0.375, abs=0.005)
    back, same = williams(0.5, 0.4, 0.1, 103)
    assert back == pytest.approx(-t) and same == pytest.approx(p)


def test_williams_at_the_edges() -> None:
    assert williams(0.5, 0.5, 1.0, 50) == (0.0, 1.0)
    assert math.isnan(williams(0.5, 0.4, 0.3, 3)[1])
    # Between metrics that are nearly the same, even a small difference is significant.
    assert williams(0.50, 0.45, 0.99, 200)[1] < williams(0.50, 0.45, 0.2, 200)[1]


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    result = holm([0.01, float("nan"), 0.02])
    assert result[0] == pytest.approx(0.02) and math.isnan(result[1]) and result[2] == pytest.approx(0.02)


def test_resamples_draw_as_many_and_are_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.concatenate(list(resample_counts(30, 50, seed=4)))
    assert counts.shape == (50, 30) and (counts.sum(axis=1) == 30).all() and (counts != 1).any()
    assert np.array_equal(counts, np.concatenate(list(resample_counts(30, 50, seed=4))))
    monkeypatch.setattr("captious.agreement.resampling._CELLS", 100)
    batches = list(resample_counts(30, 50, seed=4))
    assert len(batches) > 10 and sum(map(len, batches)) == 50


def test_intervals() -> None:
    low, high = percentile_interval(np.arange(1001.0))
    assert (low, high) == pytest.approx((25.0, 975.0))
    assert all(map(math.isnan, percentile_interval(np.array([np.nan]))))
    # Fisher's z: r = 0.5, n = 28 has a standard error of 0.2.
    low, high = small_sample_interval(0.5, 28, "pearson")
    assert (low, high) == pytest.approx(
        (math.tanh(math.atanh(0.5) - 0.392), math.tanh(math.atanh(0.5) + 0.392)), abs=1e-3
    )
    assert small_sample_interval(0.9, 3, "pearson") == (-1.0, 1.0)
    wide = small_sample_interval(0.5, 12, "spearman")
    assert wide[0] < small_sample_interval(0.5, 12, "pearson")[0]
    assert small_sample_interval(0.5, 12, "tau-b")[0] > small_sample_interval(0.5, 12, "pearson")[0]


def test_a_perfect_accuracy_is_not_certain() -> None:
    low, high = perfect_interval(1.0, 100)
    assert high == 1.0 and low == pytest.approx(0.9638, abs=1e-4)
    assert perfect_interval(0.0, 100)[1] == pytest.approx(1 - low)


def test_bootstrap_p_is_that_of_its_standard_error() -> None:
    spread = np.random.default_rng(0).normal(0.3, 0.1, 4000)
    assert bootstrap_p(0.196, spread) == pytest.approx(0.05, abs=0.01)
    assert bootstrap_p(0.0, np.zeros(10)) == 1.0
    assert bootstrap_p(0.1, np.full(10, 0.1)) == 0.0
