from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from captious.vectors.transport import plan, transport

# POT loads every array library it finds; torch alone takes seconds, and is not needed.
os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")


def solve(form: str, cost: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[float, np.ndarray]:
    n, m = cost.shape
    places, amounts = np.zeros(n + m, np.int64), np.zeros(n + m, np.int64)
    used = getattr(plan, form)(cost, n, m, a * b.sum(), b * a.sum(), places, amounts)
    assert (np.diff(places[:used]) > 0).all()
    flow = np.zeros(n * m, np.int64)
    flow[places[:used]] = amounts[:used]
    total = getattr(transport, form)(cost, n, m, a * b.sum(), b * a.sum())
    return total / (a.sum() * b.sum()), flow.reshape(n, m)


def check(form: str, cost: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """A plan that moves all, costs what is said, and as little as POT's."""
    import ot

    value, flow = solve(form, cost, a, b)
    assert (flow >= 0).all()
    np.testing.assert_array_equal(flow.sum(axis=1), a * b.sum())
    np.testing.assert_array_equal(flow.sum(axis=0), b * a.sum())
    assert value == pytest.approx((flow * cost).sum() / (a.sum() * b.sum()), rel=1e-13, abs=1e-13)
    assert value == pytest.approx(ot.emd2(a / a.sum(), b / b.sum(), cost, numItermax=1_000_000), rel=1e-12, abs=1e-12)
    return value


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    numbers = st.floats(0, 10) if draw(st.booleans()) else st.sampled_from([0.0, 1.0, 2.0])
    cost = draw(arrays(np.float64, (n, m), elements=numbers))
    return cost, draw(arrays(np.int64, n, elements=st.integers(1, 5))), draw(arrays(np.int64, m, elements=st.integers(1, 5)))


@settings(max_examples=150, deadline=None)
@given(problems())
def test_the_plan_is_feasible_and_as_cheap_as_pots(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    check("plain", *problem)


def test_compiled_and_plain_agree_to_the_bit() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        n, m = rng.integers(1, 30, 2)
        cost = rng.random((n, m))
        a, b = rng.integers(1, 9, n), rng.integers(1, 9, m)
        value, flow = solve("compiled", cost, a, b)
        expected, same = solve("plain", cost, a, b)
        assert value == expected
        np.testing.assert_array_equal(flow, same)


@pytest.mark.parametrize(
    ("n", "m", "kind"),
    [(120, 90, "plane"), (300, 300, "plane"), (1, 400, "plane"), (400, 1, "plane"), (150, 150, "grid"), (150, 150, "equal"), (200, 200, "ones"), (200, 170, "line")],
)
def test_large_problems(n: int, m: int, kind: str) -> None:
    """Among them those where many ways cost the same and many steps move nothing: words on a grid or in a line, equal masses, one distance for all."""
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(n, 5)), rng.normal(size=(m, 5))
    if kind == "grid":
        x, y = rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 3, (m, 2)).astype(float)
    if kind == "line":
        x, y = np.arange(n, dtype=float)[:, None], np.arange(m, dtype=float)[:, None]
    cost = np.ones((n, m)) if kind == "ones" else np.sqrt(((x[:, None] - y) ** 2).sum(axis=-1))
    a, b = (np.ones(size, np.int64) if kind in ("equal", "ones") else rng.integers(1, 20, size) for size in (n, m))
    check("compiled", cost, a, b)
