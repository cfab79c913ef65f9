"""P-values and intervals against exact values: both sides, enumeration, coverage."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import captious
from captious.data import demo_path
from captious.results import significance
from tests.results.paired import paired_bootstrap


def mean(sums: np.ndarray) -> np.ndarray:
    """The score of these tests: sum over count."""
    return sums[..., 0] / sums[..., 1]


def rows(values: object) -> np.ndarray:
    array = np.asarray(values, np.float64)
    return np.stack([array, np.ones_like(array)], axis=1)


def test_the_bootstrap_counts_both_sides() -> None:
    """A − B and B − A have the same p-value, and mirrored intervals."""
    rng = np.random.default_rng(3)
    for shift in (0.0, 0.1, 0.3):
        a, b = rng.normal(0.0, 1.0, 60), rng.normal(shift, 1.0, 60)
        low, high, p = paired_bootstrap(rows(a), rows(b), mean)
        other_low, other_high, other_p = paired_bootstrap(rows(b), rows(a), mean)
        assert p == other_p
        assert (other_low, other_high) == pytest.approx((-high, -low))


def exact_bootstrap_p(differences: list[float]) -> float:
    """Twice the share of all equally likely resamples whose mean does not have the observed sign."""
    n = len(differences)
    observed = sum(differences)
    sums = [sum(draw) for draw in itertools.product(differences, repeat=n)]
    against = sum(s <= 0 for s in sums) if observed > 0 else sum(s >= 0 for s in sums)
    return min(1.0, 2 * against / len(sums))


@pytest.mark.parametrize(
    "differences",
    [
        [3.0, 1.0, 2.0, -1.0, 0.5],
        [1.0, 1.0, 1.0, -2.0, 0.25],
        [-4.0, 1.0, -1.0, 1.0, -0.5],
        [2.0, -2.5, 1.0, 1.0, -1.0],
    ],
)
def test_bootstrap_p_against_all_resamples(differences: list[float]) -> None:
    """Five images have 3,125 resamples: the p-value of 40,000 random ones is near that of all of them."""
    exact = exact_bootstrap_p(differences)
    assert 0.02 < exact < 1
    _, _, p = paired_bootstrap(rows([0.0] * 5), rows(differences), mean, resamples=40_000)
    assert p == pytest.approx(exact, abs=4 * 2 * math.sqrt(exact / 2 * (1 - exact / 2) / 40_000))


def test_bootstrap_p_of_a_known_normal_case() -> None:
    """400 differences whose mean is 2.2 standard errors from zero: p = 2 Φ(−2.2) = 0.0278, not half of it."""
    values = np.random.default_rng(1).normal(size=400)
    values -= values.mean()
    values += 2.2 * values.std(ddof=0) / 20
    _, _, p = paired_bootstrap(rows(np.zeros(400)), rows(values), mean, resamples=10_000)
    assert p == pytest.approx(math.erfc(2.2 / math.sqrt(2)), abs=0.006)


def test_the_smallest_bootstrap_p_is_never_zero() -> None:
    _, _, p = paired_bootstrap(rows([0.0] * 30), rows([1.0] * 30), mean, resamples=999)
    assert p == pytest.approx(2 / 1000)


def exact_randomisation_p(a: list[float], b: list[float]) -> float:
    """The share of all assignments of the two systems' rows whose difference is at least the observed one."""
    differences = [y - x for x, y in zip(a, b)]
    observed = abs(sum(differences))
    signs = list(itertools.product((1, -1), repeat=len(a)))
    return sum(abs(sum(s * d for s, d in zip(sign, differences))) >= observed - 1e-9 for sign in signs) / len(
        signs
    )


@pytest.mark.parametrize("seed", range(4))
def test_randomisation_against_all_assignments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, 9).astype(float).tolist(), (rng.integers(0, 6, 9) + 1.0).tolist()
    exact = exact_randomisation_p(a, b)
    assert exact > 0.005
    p = significance.randomisation(rows(a), rows(b), mean, trials=40_000)
    assert p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000) + 1e-4)
    assert p == significance.randomisation(rows(b), rows(a), mean, trials=40_000)


def test_randomisation_of_a_score_that_is_no_mean() -> None:
    """A ratio of sums (as BLEU has): swapped rows move numerators and denominators together."""
    a = np.array([[1.0, 4.0], [2.0, 2.0], [0.0, 3.0], [1.0, 1.0], [2.0, 5.0], [1.0, 3.0]])
    b = np.array([[3.0, 5.0], [2.0, 3.0], [2.0, 3.0], [1.0, 2.0], [3.0, 4.0], [2.0, 2.0]])
    observed = abs(mean(b.sum(axis=0)) - mean(a.sum(axis=0)))
    extreme = 0
    for swap in itertools.product((False, True), repeat=6):
        mask = np.array(swap)[:, None]
        extreme += (
            abs(mean(np.where(mask, a, b).sum(axis=0)) - mean(np.where(mask, b, a).sum(axis=0)))
            >= observed - 1e-12
        )
    exact = extreme / 64
    assert significance.randomisation(a, b, mean, trials=40_000) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_cover_the_truth_as_often_as_they_say(level: float) -> None:
    """600 samples of 60 normal values with mean 1: the share of intervals that contain 1."""
    rng = np.random.default_rng(11)
    hits = 0
    for trial in range(600):
        low, high = significance.interval(
            rows(rng.normal(1.0, 2.0, 60)), mean, level, resamples=300, seed=trial
        )
        hits += low <= 1.0 <= high
    # Percentile intervals of 60 values are a little narrow; four standard errors of 600 trials on either
    # side.
    assert (
        level - 0.02 - 4 * math.sqrt(level * (1 - level) / 600)
        < hits / 600
        < level + 4 * math.sqrt(level * (1 - level) / 600)
    )


def test_bootstrap_p_under_the_null_is_small_as_often_as_it_says() -> None:
    """Noise alone: p < 0.1 in about 10 % of the trials (halved p-values would give 20 %)."""
    rng = np.random.default_rng(21)
    small = 0
    for trial in range(500):
        a, b = rows(rng.normal(size=80)), rows(rng.normal(size=80))
        small += paired_bootstrap(a, b, mean, resamples=300, seed=trial)[2] < 0.1
    assert 0.055 < small / 500 < 0.155


def test_comparisons_of_systems_are_the_same_both_ways() -> None:
    references = demo_path("references")
    generic, poor = (captious.load(references, demo_path(name)) for name in ("generic", "poor"))
    for metric in ("CIDEr-D", "BLEU-4"):
        one = captious.compare(generic, poor, [metric], trials=500)[0]
        two = captious.compare(poor, generic, [metric], trials=500)[0]
        assert one.p_bootstrap == two.p_bootstrap
        assert one.p_randomisation == two.p_randomisation
        assert one.difference == -two.difference
        assert one.interval == pytest.approx((-two.interval[1], -two.interval[0]))
        assert {one.better, two.better} == {"A", "B"}
