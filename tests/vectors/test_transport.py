from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from captious.vectors.transport import transport, transport_large

# POT loads every array library it finds; torch alone takes seconds, and is not needed.
os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")


def solve(run, cost: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[float, np.ndarray]:
    n, m = cost.shape
    size = max(n, m)
    flow = np.zeros((n, m), np.int64)
    work = [np.zeros(size) for _ in range(3)] + [np.zeros(size, np.int64) for _ in range(3)]
    total = run(cost, n, m, a * b.sum(), b * a.sum(), flow, *work)
    return total / (a.sum() * b.sum()), flow


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    numbers = st.floats(0, 10) if draw(st.booleans()) else st.sampled_from([0.0, 1.0, 2.0])
    cost = draw(arrays(np.float64, (n, m), elements=numbers))
    return cost, draw(arrays(np.int64, n, elements=st.integers(1, 5))), draw(arrays(np.int64, m, elements=st.integers(1, 5)))


@settings(max_examples=150, deadline=None)
@given(problems())
def test_the_plan_is_feasible_and_as_cheap_as_pots(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    import ot

    cost, a, b = problem
    value, flow = solve(transport.plain, cost, a, b)
    assert (flow >= 0).all()
    np.testing.assert_array_equal(flow.sum(axis=1), a * b.sum())
    np.testing.assert_array_equal(flow.sum(axis=0), b * a.sum())
    expected = ot.emd2(a / a.sum(), b / b.sum(), cost)
    assert value == pytest.approx(expected, abs=1e-9)


def test_compiled_plain_and_large_agree() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        n, m = rng.integers(1, 30, 2)
        cost = rng.random((n, m))
        a, b = rng.integers(1, 9, n), rng.integers(1, 9, m)
        value, _ = solve(transport.compiled, cost, a, b)
        assert value == pytest.approx(solve(transport.plain, cost, a, b)[0], abs=1e-12)
        assert transport_large(cost, a * b.sum(), b * a.sum()) / (a.sum() * b.sum()) == pytest.approx(value, abs=1e-9)
