"""Scores by group of images, and macro means."""

from __future__ import annotations

import json

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.data import demo_path
from captious.io import CaptionWarning
from captious.results.significance import bootstrap_values

METRICS = "BLEU-4,CIDEr-D,SPICE-Color,CHAIRi,Types,Div-1"


@pytest.fixture(scope="module")
def scores() -> captious.Scores:
    return captious.score(demo_path("references"), demo_path("good"), METRICS)


@pytest.fixture(scope="module")
def groups(scores: captious.Scores) -> dict[str, str]:
    """Groups of 10, 20 and 30 images."""
    return {image: "abbccc"[i % 6] for i, image in enumerate(scores["BLEU-4"].ids)}


def test_a_group_has_the_scores_of_its_images(scores: captious.Scores, groups: dict[str, str]) -> None:
    grouped = captious.group_scores(scores, groups, "letter")
    assert list(grouped.groups) == ["a", "b", "c"]
    for name, part in grouped.groups.items():
        ids = [image for image, group in groups.items() if group == name]
        for metric, score in part.items():
            assert list(score.ids) == ids
            rows = scores[metric].image_statistics[np.flatnonzero([groups[i] == name for i in groups])]
            whole = float(scores[metric].measure.value(rows.sum(axis=0)))
            assert score.value == whole or np.isnan([score.value, whole]).all()
            assert score.signature.fields["group"] == f"letter={name}"
            if score.measure.rows != "corpus":
                assert list(score.per_image.values()) == pytest.approx(
                    [scores[metric].per_image[i] for i in ids], nan_ok=True
                )


def test_bleu_of_a_group_is_that_of_a_subset() -> None:
    """Metrics without weights from other images have the score of the group scored alone."""
    references, predictions = (json.loads(demo_path(name).read_text()) for name in ("references", "good"))
    some = {row["image_id"] for row in predictions[::3]}
    alone = captious.score(
        demo_path("references"),
        [row for row in predictions if row["image_id"] in some],
        "BLEU-4",
        subset=True,
    )
    scores = captious.score(references, predictions, "BLEU-4")
    grouped = captious.group_scores(scores, dict.fromkeys(some, "some") | {"x": "other"})
    assert grouped.groups["some"]["BLEU-4"].value == alone["BLEU-4"].value
    assert grouped.groups["some"]["BLEU-4"].interval() == alone["BLEU-4"].interval()


def test_macro_means_weigh_groups_equally(scores: captious.Scores, groups: dict[str, str]) -> None:
    grouped = captious.group_scores(scores, groups)
    for metric in ("BLEU-4", "CIDEr-D", "Types"):
        mean = grouped.macro_mean(metric)
        values = [part[metric].value for part in grouped.groups.values()]
        assert mean.value == pytest.approx(np.mean(values))
        assert mean.value != pytest.approx(scores[metric].value, rel=1e-6)
        low, high = mean.interval()
        assert low <= mean.value <= high
    # Each group is resampled on its own, with a seed of its own.
    drawn = [
        bootstrap_values(part["CIDEr-D"].image_statistics, part["CIDEr-D"].measure.value, 300, 7 + place)
        for place, part in enumerate(grouped.groups.values())
    ]
    expected = np.percentile(np.mean(drawn, axis=0), [5, 95])
    assert grouped.macro_mean("CIDEr-D").interval(0.9, 300, 7) == pytest.approx(tuple(expected))


def test_images_may_be_in_several_groups_or_in_none(scores: captious.Scores) -> None:
    ids = scores["BLEU-4"].ids
    several: dict[str, list[str]] = {
        image: ["all", "even"] if i % 2 == 0 else ["all"] for i, image in enumerate(ids)
    }
    grouped = captious.group_scores(scores, several)
    assert grouped.groups["all"]["CIDEr-D"].value == scores["CIDEr-D"].value
    assert len(grouped.groups["even"]["CIDEr-D"].ids) == 30
    with pytest.warns(CaptionWarning, match="50 of 60 images have no value of 'domain' and are in no group"):
        captious.group_scores(scores, dict.fromkeys(ids[:10], "x"), "domain")
    with pytest.raises(InputError, match=r"no image of good is in a group: .* such as 1, 2"):
        captious.group_scores(scores, {1: "x", 2: "y"})


def test_groups_by_file_name_and_by_number_in_the_name(scores: captious.Scores) -> None:
    by_name = {f"pictures/{image}.jpg": f"group {int(image) % 11}" for image in scores["BLEU-4"].ids}
    grouped = captious.group_scores(scores, by_name)
    assert list(grouped.groups) == [f"group {n}" for n in range(11)]


def test_a_metric_without_value_in_a_group_has_no_macro_mean() -> None:
    scores = captious.score({1: ["a red bus"], 2: ["a dog"]}, {1: "a red bus", 2: "a dog"}, "SPICE-Color")
    grouped = captious.group_scores(scores, {1: "red", 2: "plain"})
    assert grouped.groups["red"]["SPICE-Color"].value == 1.0
    assert np.isnan(grouped.macro_mean("SPICE-Color").value)
    content = json.loads(json.dumps(grouped.to_json(ci=True), allow_nan=False))
    assert content["macro_mean"]["SPICE-Color"]["value"] is None
    assert content["groups"]["plain"]["SPICE-Color"]["value"] is None


def test_rows_name_group_and_macro_mean(scores: captious.Scores, groups: dict[str, str]) -> None:
    rows = captious.group_scores(scores, groups).tidy_rows(ci=True)
    named = {row.metric: row for row in rows}
    assert len(named) == len(rows) == 6 * 4
    assert named["CIDEr-D (a)"].n == 10 and named["CIDEr-D (macro mean)"].n == 60
    assert named["CIDEr-D (macro mean)"].interval is not None
    assert "group:group=macro|ci:95%" in named["CIDEr-D (macro mean)"].signature


def test_groups_are_read_from_a_column_or_by_length() -> None:
    references = [
        {"image_id": i, "captions": ["word " * i], "domain": "in" if i % 2 else "out"} for i in range(1, 7)
    ]
    assert captious.read_groups(references, "domain")["3"] == ("in",)
    assert set(captious.read_groups(references, "length").values()) == {
        ("0 to 2.7 words",),
        ("2.7 to 4.3 words",),
        ("over 4.3 words",),
    }


def test_splits_are_read_by_every_function() -> None:
    references = {
        "images": [
            {"cocoid": i, "split": split, "sentences": [{"raw": text}]}
            for i, split, text in [(1, "val", "a dog"), (2, "test", "a cat"), (3, "test", "a bus")]
        ]
    }
    predictions = {2: "a cat", 3: "a dog"}
    corpus = captious.load(references, predictions, split="test")
    assert corpus.ids == ("2", "3") and corpus.references.n_images == 2
    value = captious.score(corpus, "BLEU-1")["BLEU-1"].value
    assert captious.score(references, predictions, "BLEU-1", split=["test"])["BLEU-1"].value == value
    [scored] = captious.score_systems(references, [predictions], "BLEU-1", split="test")
    assert scored["BLEU-1"].value == value
    assert len(captious.prepare(references, "BLEU-1", split="val,test")) == 3
    with pytest.raises(InputError, match="a split is chosen when references are read"):
        captious.load(captious.prepare(references, "BLEU-1"), predictions, split="test")


def test_counted_images_are_those_with_a_value() -> None:
    references = {1: ["a red bus"], 2: ["a dog"], 3: ["two dogs"], 4: ["a bus", "a green bus"]}
    predictions = {1: "a red bus", 2: "a blue dog", 3: "", 4: "a bus"}
    scores = captious.score(references, predictions, "SPICE,SPICE-Object,SPICE-Color,SPICE-Size")
    counted = {name: score.counted for name, score in scores.items()}
    assert counted == {"SPICE": 4, "SPICE-Object": 4, "SPICE-Color": 2, "SPICE-Size": 0}
    color = scores["SPICE-Color"]
    # Images 2 and 3 do not count, whatever their captions say.
    assert color.value == pytest.approx(0.5) and color.per_image["1"] == 1.0 and color.per_image["4"] == 0.0
    assert np.isnan([color.per_image["2"], color.per_image["3"]]).all()
    assert np.isnan(scores["SPICE-Size"].value) and np.isnan(scores["SPICE-Size"].interval()).all()
    content = json.loads(json.dumps(scores.to_json(per_image=True, ci=True), allow_nan=False))["scores"]
    assert content["SPICE-Color"]["counted"] == 2 and content["SPICE-Color"]["per_image"]["2"] is None
    assert content["SPICE-Size"]["value"] is None and "counted" not in content["SPICE"]
    assert [row.n for row in color.tidy_rows("x")] == [2]
    # In training, a caption without a value has the reward 0.
    reward = captious.reward(references, "SPICE-Color")
    assert reward([1, 2], ["a red bus", "a blue dog"]).tolist() == [1.0, 0.0]
