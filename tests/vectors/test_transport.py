from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from captious.metrics.captions.wmd import least_distances
from captious.vectors.transport import plan, transport
from tests.forms import form_of

# POT loads every array library it finds; torch alone takes seconds, and is not needed.
os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")


def solve(cost: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[float, np.ndarray]:
    n, m = cost.shape
    places, amounts = np.zeros(n + m, np.int64), np.zeros(n + m, np.int64)
    used = plan(cost, n, m, a * b.sum(), b * a.sum(), places, amounts)
    assert (np.diff(places[:used]) > 0).all()
    flow = np.zeros(n * m, np.int64)
    flow[places[:used]] = amounts[:used]
    total = transport(cost, n, m, a * b.sum(), b * a.sum())
    return total / (a.sum() * b.sum()), flow.reshape(n, m)


def check(cost: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """The plan moves all mass. Its cost is the reported one, and as low as POT's."""
    import ot

    value, flow = solve(cost, a, b)
    assert (flow >= 0).all()
    np.testing.assert_array_equal(flow.sum(axis=1), a * b.sum())
    np.testing.assert_array_equal(flow.sum(axis=0), b * a.sum())
    assert value == pytest.approx((flow * cost).sum() / (a.sum() * b.sum()), rel=1e-13, abs=1e-13)
    assert value == pytest.approx(
        ot.emd2(a / a.sum(), b / b.sum(), cost, numItermax=1_000_000), rel=1e-12, abs=1e-12
    )
    return value


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    numbers = st.floats(0, 10) if draw(st.booleans()) else st.sampled_from([0.0, 1.0, 2.0])
    cost = draw(arrays(np.float64, (n, m), elements=numbers))
    return (
        cost,
        draw(arrays(np.int64, n, elements=st.integers(1, 5))),
        draw(arrays(np.int64, m, elements=st.integers(1, 5))),
    )


@settings(max_examples=150, deadline=None)
@given(problems())
def test_the_plan_is_feasible_and_as_cheap_as_pots(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    check(*problem)


def distance(form: str, x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return the kernel's cost of moving masses `a` at the points `x` to masses `b` at `y`."""
    sides = [
        (np.arange(len(masses)) + start, masses, np.array([0, len(masses)]), masses.sum(keepdims=True))
        for masses, start in ((a, 0), (b, len(a)))
    ]
    out = np.zeros(1)
    memory = np.full(1 << 10, -1, np.int64), np.zeros(1 << 10)
    form_of(least_distances, form)(
        np.concatenate([x, y]), *sides[0], *sides[1], np.array([0, 1]), np.array([0]), *memory, out
    )
    return float(out[0])


def test_both_forms_agree_to_the_bit() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        n, m = rng.integers(1, 30, 2)
        problem = (
            rng.normal(size=(n, 3)),
            rng.normal(size=(m, 3)),
            rng.integers(1, 9, n),
            rng.integers(1, 9, m),
        )
        assert distance("built", *problem) == distance("plain", *problem)


@pytest.mark.parametrize(
    ("n", "m", "kind"),
    [
        (120, 90, "plane"),
        (300, 300, "plane"),
        (1, 400, "plane"),
        (400, 1, "plane"),
        (150, 150, "grid"),
        (150, 150, "equal"),
        (200, 200, "ones"),
        (200, 170, "line"),
    ],
)
def test_large_problems(n: int, m: int, kind: str) -> None:
    """Includes degenerate problems: points on a grid or a line, equal masses, equal distances."""
    import ot

    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(n, 5)), rng.normal(size=(m, 5))
    if kind == "grid":
        x, y = rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 3, (m, 2)).astype(float)
    if kind == "line":
        x, y = np.arange(n, dtype=float)[:, None], np.arange(m, dtype=float)[:, None]
    if kind == "ones":
        x, y = np.split(np.eye(n + m), [n])
    cost = np.sqrt(((x[:, None] - y) ** 2).sum(axis=-1))
    a, b = (
        np.ones(size, np.int64) if kind in ("equal", "ones") else rng.integers(1, 20, size) for size in (n, m)
    )
    cheapest = ot.emd2(a / a.sum(), b / b.sum(), cost, numItermax=1_000_000)
    assert distance("built", x, y, a, b) == pytest.approx(cheapest, rel=1e-12, abs=1e-12)
    # The plain form, which is slow, returns the plan, too.
    check(cost[:40, :30].copy(), a[:40], b[:30])
