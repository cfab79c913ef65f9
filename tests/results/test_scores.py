"""Scores, intervals, paired tests and signatures."""

from __future__ import annotations

import json

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.results import significance
from tests.results.paired import paired_bootstrap

REFERENCES = {i: [f"a dog number {i} runs", f"dog {i} is running fast"] for i in range(40)}
GOOD = {i: f"a dog number {i} runs" for i in range(40)}
POOR = {i: "a cat sits on a mat" if i % 2 else f"a dog number {i}" for i in range(40)}


def corpus(predictions: object, **kwargs: object) -> Corpus:
    return captious.load(REFERENCES, predictions, tokenizer="none", **kwargs)  # type: ignore[arg-type]


def test_score_gives_value_per_image_and_signature() -> None:
    scores = captious.score(corpus(GOOD), ["CIDEr-D", "BLEU-4"])
    cider = scores["cider-d"]
    assert cider.per_image["7"] == pytest.approx(cider.per_caption[7])
    assert cider.value == pytest.approx(np.mean(list(cider.per_image.values())))
    result = corpus(GOOD).references
    assert cider.signature == (
        f"CIDEr-D|n:4|sigma:6|df:references|refs:40x2@{result.digest}|tok:none|captious:{captious.__version__}"
    )
    described = json.loads(json.dumps(scores.to_json(per_image=True, ci=True)))
    assert described["scores"]["CIDEr-D"]["value"] == cider.value
    assert len(described["scores"]["CIDEr-D"]["per_image"]) == 40
    assert described["scores"]["CIDEr-D"]["signature"].endswith("|ci:95%|bootstrap:1000|seed:12345")


def test_several_candidates_mean_and_oracle() -> None:
    several = {i: [POOR[i], GOOD[i], "a"] for i in range(40)}
    score = captious.score(corpus(several, several=True), "ROUGE-L")["ROUGE-L"]
    good = captious.score(corpus(GOOD), "ROUGE-L")["ROUGE-L"]
    assert len(score.per_caption) == 120
    assert score.oracle == pytest.approx(good.value)
    assert score.value == pytest.approx(score.per_caption.mean())
    assert score.best_per_image == pytest.approx(good.per_image)
    assert score.best_captions[1] == 4


def test_each_image_weighs_the_same_whatever_its_number_of_captions() -> None:
    uneven = {i: [GOOD[i]] * (1 + i % 3) for i in range(40)}
    score = captious.score(corpus(uneven, several=True), "ROUGE-L")["ROUGE-L"]
    assert score.value == pytest.approx(captious.score(corpus(GOOD), "ROUGE-L")["ROUGE-L"].value)
    # Where images differ, those with many captions do not pull the mean towards them.
    uneven = {i: [POOR[i]] * (1 + 4 * (i % 2)) for i in range(40)}
    score = captious.score(corpus(uneven, several=True), "ROUGE-L")["ROUGE-L"]
    assert score.value == pytest.approx(captious.score(corpus(POOR), "ROUGE-L")["ROUGE-L"].value)


def test_bootstrap_interval_of_a_mean_agrees_with_theory() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3.0, 2.0, 400)
    rows = np.stack([values, np.ones(400)], axis=1)
    low, high = significance.interval(rows, lambda s: s[..., 0] / s[..., 1], resamples=4000)
    half = 1.96 * values.std(ddof=1) / 20
    assert low == pytest.approx(values.mean() - half, abs=0.03)
    assert high == pytest.approx(values.mean() + half, abs=0.03)


def test_bootstrap_in_batches_covers_all_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "_CELLS", 100)
    rows = np.ones((40, 2))
    sums = significance.bootstrap_sums(rows, 25, seed=1)
    assert sums.shape == (25, 2)
    assert (sums == 40).all()


def test_draws_that_are_kept_are_those_that_are_drawn_anew() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 3))
    for seed in (1, 2, 1):
        (counts,) = significance._drawn(300, 50, seed)
        assert (counts.sum(axis=1) == 300).all()
        np.testing.assert_array_equal(
            significance.bootstrap_sums(rows, 50, seed), counts.astype(np.float64) @ rows
        )
    assert (significance.bootstrap_sums(np.ones((1, 1)), 3, seed=1) == 1).all()


def test_compare_finds_a_difference_and_none_where_there_is_none() -> None:
    row = captious.compare(corpus(POOR), corpus(GOOD), ["ROUGE-L"], trials=500)[0]
    assert row.better == "B"
    assert row.difference > 0
    assert row.interval[0] > 0
    assert row.p_bootstrap < 0.01
    assert row.p_randomisation < 0.01
    same = captious.compare(corpus(GOOD), corpus(GOOD), ["ROUGE-L"], trials=500)[0]
    assert same.better == "neither"
    assert same.p_bootstrap == 1.0
    assert same.p_randomisation == 1.0


def test_randomisation_is_calibrated_under_the_null() -> None:
    """Two systems that differ by noise: p-values are roughly uniform, not always small."""
    rng = np.random.default_rng(5)
    small = 0
    for trial in range(100):
        a = np.stack([rng.normal(size=50), np.ones(50)], axis=1)
        b = np.stack([rng.normal(size=50), np.ones(50)], axis=1)
        small += (
            significance.randomisation(a, b, lambda s: s[..., 0] / s[..., 1], trials=200, seed=trial) < 0.1
        )
    assert 2 <= small <= 22


def test_compare_refuses_different_signatures() -> None:
    a = captious.score(corpus(GOOD), "CIDEr-D")
    b = captious.score(captious.load(REFERENCES, GOOD, tokenizer="simple"), "CIDEr-D")
    with pytest.raises(captious.InputError, match=r"cannot be compared.*\(tok: none / simple\)"):
        captious.compare(a, b)


def test_subset_is_in_the_signature() -> None:
    part = {i: GOOD[i] for i in range(10)}
    with pytest.raises(captious.InputError, match="--subset"):
        corpus(part)
    score = captious.score(corpus(part, subset=True), "BLEU-4")["BLEU-4"]
    assert "|subset:10of40|" in score.signature


def test_empty_captions_are_counted_in_a_warning() -> None:
    with pytest.warns(UserWarning, match="1 of 40 captions of the predictions have no words"):
        corpus({**GOOD, 3: ""})


def test_undefined_comparisons_are_neither_significant_nor_broken_json() -> None:
    """No image counts for either system: no difference, no p-value, and null in JSON."""
    nothing = np.zeros((5, 2))

    def mean(sums: np.ndarray) -> np.ndarray:
        count = sums[..., 1]
        return np.divide(sums[..., 0], count, out=np.full_like(count, np.nan), where=count > 0)

    assert np.isnan(significance.interval(nothing, mean)).all()
    assert np.isnan(paired_bootstrap(nothing, nothing, mean)).all()
    assert np.isnan(significance.randomisation(nothing, nothing, mean, trials=50))
    nan = float("nan")
    row = captious.Comparison("X", nan, nan, nan, (nan, nan), nan, nan, True, "X|")
    assert row.better == "neither"
    assert json.loads(json.dumps(row.to_json(), allow_nan=False))["p_bootstrap"] is None


def test_resamples_without_a_value_are_left_out() -> None:
    """Only one image counts. Many resamples lack it and have no value, so the others decide."""
    a = np.array([[0.2, 1.0], *[[0.0, 0.0]] * 4])
    b = np.array([[0.9, 1.0], *[[0.0, 0.0]] * 4])

    def mean(sums: np.ndarray) -> np.ndarray:
        count = sums[..., 1]
        return np.divide(sums[..., 0], count, out=np.full_like(count, np.nan), where=count > 0)

    low, high, _ = paired_bootstrap(a, b, mean)
    assert (low, high) == pytest.approx((0.7, 0.7))
    assert significance.randomisation(a, b, mean, trials=50) == 1.0
