"""Properties that hold for any sets of captions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import captious
from captious.diversity_analysis.sets import SetDiversity
from captious.io import CaptionWarning

caption = st.lists(st.sampled_from(["a", "b", "c", "dog", "😀", "|||", "<b>"]), max_size=6).map(" ".join)
sets = st.lists(st.lists(caption, min_size=1, max_size=6), min_size=2, max_size=5)


def measure(given_sets: list[list[str]], **options: object) -> SetDiversity:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptionWarning)
        return captious.diversity({str(i): s for i, s in enumerate(given_sets)}, tokenizer="none", **options)


@settings(max_examples=60, deadline=None)
@given(sets, st.sampled_from(["cider", "cider-d"]))
def test_bounds(given_sets: list[list[str]], kernel: str) -> None:
    for name, score in measure(given_sets, kernel=kernel).items():
        low, high = score.metric.bounds
        values = np.array(list(score.per_image.values()))
        assert np.isfinite(values).all(), name
        assert (values >= (0.0 if low is None else low) - 1e-9).all(), name
        assert high is None or (values <= high + 1e-9).all(), name


@settings(max_examples=40, deadline=None)
@given(sets, st.randoms())
def test_order_does_not_matter(given_sets: list[list[str]], random: object) -> None:
    shuffled = [random.sample(s, len(s)) for s in given_sets]  # type: ignore[attr-defined]
    first, second = measure(given_sets), measure(shuffled)
    for name in first:
        # Square roots of eigenvalues near 0 amplify rounding.
        assert first[name].per_image == pytest.approx(second[name].per_image, abs=2e-6), name


@settings(max_examples=40, deadline=None)
@given(caption, st.integers(2, 8))
def test_repeating_one_caption_is_no_diversity(text: str, m: int) -> None:
    found = measure([[text] * m, ["x y", "z"]])
    assert found["LSA"].per_image["0"] == pytest.approx(0.0, abs=1e-6)
    assert found["Self-CIDEr"].per_image["0"] == pytest.approx(0.0, abs=1e-6)
    assert found["Unique"].per_image["0"] == pytest.approx(1 / m)
