"""Lengths below tables, the warning about metrics that cannot work, and scores at equal length."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.data import demo_path
from captious.io import CaptionWarning
from captious.results.length_control import length_control

N = 400


def systems(extra: float) -> list[captious.Scores]:
    """Two systems of captions of known lengths: B is longer, and its captions have `extra` right words."""
    generator = np.random.default_rng(5)
    references = {i: ["dog " * 12] for i in range(N)}

    def text(low: int, high: int, right: float) -> str:
        length = int(generator.integers(low, high))
        return " ".join("dog" if generator.random() < right else "x" for _ in range(length))

    a = {i: text(4, 16, 0.4) for i in range(N)}
    b = {i: text(8, 24, 0.4 + extra) for i in range(N)}
    return captious.score_systems(references, [a, b], "Precision-1", names=["a", "b"])


def by_hand(one: list[captious.Scores]) -> float:
    """The adjusted difference by least squares with a constant per system."""
    values = np.concatenate([list(scores["Precision-1"].per_image.values()) for scores in one])
    logs = np.concatenate([np.log1p(scores.lengths.per_caption) for scores in one])  # type: ignore[union-attr]
    is_b = np.repeat([0.0, 1.0], N)
    solution = np.linalg.lstsq(np.stack([1 - is_b, is_b, logs], axis=1), values, rcond=None)[0]
    return float(solution[1] - solution[0])


@pytest.mark.parametrize("extra", [0.0, 0.3])
def test_the_adjusted_difference_is_that_of_least_squares(extra: float) -> None:
    scores = systems(extra)
    [row] = length_control(scores)
    assert row.adjusted == pytest.approx(by_hand(scores))
    low, high = row.adjusted_interval
    assert low < row.adjusted < high and (low < extra < high)
    lengths = [one.lengths.per_caption for one in scores if one.lengths is not None]
    close = np.abs(lengths[0] - lengths[1]) <= 0.1 * np.maximum(*lengths)
    per_image = [np.array(list(one["Precision-1"].per_image.values())) for one in scores]
    assert row.difference == pytest.approx((per_image[1] - per_image[0]).mean())
    assert row.matched_images == close.sum() > 20
    assert row.matched == pytest.approx((per_image[1] - per_image[0])[close].mean())


def test_length_explains_a_difference_that_is_only_length() -> None:
    references = {i: ["dog cat bus man"] for i in range(N)}
    generator = np.random.default_rng(7)
    lengths = generator.integers(1, 9, N)
    # Recall is the logarithm of the length, up to rounding: only length differs.
    words = ["dog", "cat", "bus", "man"]
    make = lambda n: " ".join([*words[: round(4 * np.log1p(n) / np.log1p(18))], *["x"] * 18][:n])  # noqa: E731
    a = {i: make(n) for i, n in enumerate(lengths)}
    b = {i: make(2 * n) for i, n in enumerate(lengths)}
    [row] = length_control(captious.score_systems(references, [a, b], "Recall-1", names=["a", "b"]))
    assert row.difference > 0.1 and 0.7 < row.explained < 1.3


def test_one_system_and_other_images_are_refused() -> None:
    scores = systems(0.0)
    with pytest.raises(captious.InputError, match="at least two"):
        length_control(scores[:1])
    other = captious.score({1: ["a dog"]}, {1: "a dog"}, "Precision-1")
    with pytest.raises(captious.InputError, match="other images"):
        length_control([scores[0], other])


def test_metrics_that_cannot_work_are_named_once_with_what_to_use() -> None:
    references = {1: ["a dog on a red sofa"], 2: ["two cats in a box"]}
    long = {1: "word " * 29, 2: "a cat " * 14}
    with pytest.warns(CaptionWarning) as caught:
        captious.score(references, long, "CIDEr-D,BLEU-4,ROUGE-L,METEOR")
    [message] = [str(one.message) for one in caught if "captions have" in str(one.message)]
    assert "CIDEr-D nearly 0" in message and "BLEU-4, ROUGE-L" in message and "METEOR" not in message
    assert "use CIDEr-R, CAPTURE, ALOHa" in message
    with warnings.catch_warnings():
        warnings.simplefilter("error", CaptionWarning)
        captious.score(references, long, "METEOR,CIDEr-R")
        captious.score(references, {1: "a dog", 2: "cats"}, "CIDEr-D,BLEU-4,ROUGE-L")


def test_very_long_captions_are_not_for_cider_r() -> None:
    with pytest.warns(CaptionWarning) as caught:
        captious.score({1: ["a dog on a red sofa"], 2: ["two cats"]}, {1: "word " * 60, 2: "cats"}, "CIDEr-R")
    [message] = [str(one.message) for one in caught if "captions have" in str(one.message)]
    assert "CIDEr-R nearly 0" in message and "use CAPTURE" in message


def test_tables_say_lengths_and_json_has_the_rows(tmp_path: Path) -> None:
    paths = [str(demo_path(name)) for name in ("references", "good", "poor")]
    out = tmp_path / "out.json"
    done = CliRunner().invoke(app, ["score", *paths, "-m", "ROUGE-L", "--length-control", "--json", str(out)])
    assert done.exit_code == 0, done.output
    assert "mean words: good 15.6, poor 11.4; references 11.3" in done.stdout
    assert "at equal length" in done.stdout
    [row] = json.loads(out.read_text())["length_control"]
    assert row["metric"] == "ROUGE-L" and row["images"] == 60 and row["interval"][1] < 0
    done = CliRunner().invoke(app, ["compare", *paths, "-m", "ROUGE-L", "--length-control", "--trials", "99"])
    assert done.exit_code == 0 and "at equal length" in done.stdout
    done = CliRunner().invoke(app, ["score", *paths[:2], "-m", "ROUGE-L", "--length-control"])
    assert isinstance(done.exception, captious.InputError) and "at least two" in str(done.exception)
