from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from captious.agreement.coefficients import (
    ACCURACIES,
    COEFFICIENTS,
    sort_rows,
    weighted_pairs,
    weighted_ranks,
)
from captious.core.errors import InputError
from captious.io.judgements import Protocol
from tests.forms import FORMS, form_of

SCIPY = {
    "tau-b": lambda x, y: stats.kendalltau(x, y).statistic,
    "tau-c": lambda x, y: stats.kendalltau(x, y, variant="c").statistic,
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
}


def columns(n: int, levels_x: int, levels_y: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    x = generator.integers(0, levels_x, n).astype(float)
    return x, np.clip(np.round(x * levels_y / levels_x + generator.normal(0, 1, n)), 0, levels_y)


@pytest.mark.parametrize("name", list(SCIPY))
@pytest.mark.parametrize(
    ("n", "levels_x", "levels_y"), [(12, 3, 2), (300, 40, 4), (300, 4, 40), (500, 10**6, 10**6), (500, 2, 2)]
)
def test_as_scipy(name: str, n: int, levels_x: int, levels_y: int) -> None:
    x, y = columns(n, levels_x, levels_y, n + levels_y)
    assert COEFFICIENTS[name](x, y) == pytest.approx(SCIPY[name](x, y), abs=1e-12)


def test_taus_by_counting_pairs() -> None:
    x, y = columns(40, 6, 4, 0)
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in itertools.combinations(range(40), 2)]
    score = sum(a * b for a, b in signs)
    free_x, free_y = sum(a != 0 for a, _ in signs), sum(b != 0 for _, b in signs)
    assert COEFFICIENTS["tau-b"](x, y) == pytest.approx(score / np.sqrt(free_x * free_y))
    levels = min(len(set(x)), len(set(y)))
    assert COEFFICIENTS["tau-c"](x, y) == pytest.approx(2 * score / (40**2 * (levels - 1) / levels))


@pytest.mark.parametrize("name", list(COEFFICIENTS))
def test_resampling_is_repeating_rows(name: str) -> None:
    """Plain implementation: draw images, repeat their rows as often as drawn, and compute the coefficient."""
    generator = np.random.default_rng(5)
    x, y = columns(90, 15, 4, 9)
    if name == "accuracy":
        x, y = x - 7, np.sign(y - 2)
    if name in ("ap", "auc"):
        y = (y > 2).astype(float)
    unit = generator.integers(0, 12, 90)
    counts = generator.multinomial(12, [1 / 12] * 12, size=25).astype(np.int32)
    result = COEFFICIENTS[name].resampled(x, y, unit, counts)
    for row, value in zip(counts, result):
        rows = np.repeat(np.arange(90), row[unit])
        assert value == pytest.approx(COEFFICIENTS[name](x[rows], y[rows]), abs=1e-12)


def test_both_forms_of_the_kernels_agree() -> None:
    x, y = columns(60, 9, 4, 2)
    unit = np.arange(60) % 7
    counts = np.random.default_rng(0).multinomial(7, [1 / 7] * 7, size=4).astype(np.int32)
    rows = sort_rows(x, y)
    forms = []
    for form in FORMS:
        pairs, ranks = np.zeros((4, 6), np.int64), np.zeros((4, 3))
        form_of(weighted_pairs, form)(
            rows.group_offsets, rows.rank, unit[rows.order], counts, rows.levels, pairs
        )
        form_of(weighted_ranks, form)(x.astype(np.int64), y.astype(np.int64), unit, counts, 9, 5, ranks)
        forms.append((pairs, ranks))
    assert np.array_equal(forms[0][0], forms[1][0]) and forms[0][0].any()
    assert np.array_equal(forms[0][1], forms[1][1]) and forms[0][1].any()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=2, max_size=25),
    st.sampled_from(["tau-b", "tau-c", "spearman"]),
)
def test_any_rows(rows: list[tuple[int, int]], name: str) -> None:
    x, y = (np.array(column, dtype=float) for column in zip(*rows))
    result = COEFFICIENTS[name](x, y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(result)
    else:
        assert result == pytest.approx(SCIPY[name](x, y), abs=1e-12)
        assert COEFFICIENTS[name](-x, y) == pytest.approx(-result, abs=1e-12)
        assert COEFFICIENTS[name](np.exp(x), y) == pytest.approx(result, abs=1e-12)


def test_pearson_of_large_numbers() -> None:
    x, y = columns(200, 30, 4, 1)
    assert COEFFICIENTS["pearson"](x + 1e8, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-8)
    assert np.isnan(COEFFICIENTS["pearson"](np.full(5, 0.1), np.arange(5.0)))


def test_accuracy_counts_ties_half_and_leaves_out_pairs_without_a_majority() -> None:
    differences, margins = np.array([1.0, -1.0, 0.0, 2.0]), np.array([0.2, 0.6, -1.0, 0.0])
    assert COEFFICIENTS["accuracy"](differences, margins) == pytest.approx((1 + 0 + 0.5) / 3)


def test_equal_scores_can_count_as_the_first_caption_or_be_dropped() -> None:
    differences, margins = np.array([1.0, -1.0, 0.0, 0.0, 2.0]), np.array([0.2, 0.6, -1.0, 1.0, 0.0])
    assert ACCURACIES["first"](differences, margins) == pytest.approx(2 / 4)
    assert ACCURACIES["drop"](differences, margins) == pytest.approx(1 / 2)
    assert ACCURACIES["half"](differences, margins) == pytest.approx(2 / 4)
    assert ACCURACIES["first"](differences[2:3], margins[2:3]) == 0.0
    assert np.isnan(ACCURACIES["drop"](differences[2:4], margins[2:4]))
    with pytest.raises(InputError, match="equal scores"):
        Protocol("accuracy", ties="last")
    assert Protocol("accuracy", ties="first").fields["ties"] == "first"
