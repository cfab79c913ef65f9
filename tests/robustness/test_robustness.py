"""Distraction tasks from the demo's captions, curves, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from captious.cli.app import app
from captious.core.errors import InputError
from captious.data import demo_path
from captious.io import read
from captious.io.caption_files import CaptionWarning
from captious.parser import parse
from captious.robustness import (
    TASKS,
    distraction_accuracy,
    load_distractions,
    make_distractions,
    robustness_curves,
)
from captious.robustness.mentions import NO_SCENE, PEOPLE, PLACES, Person, people, places


@pytest.fixture(scope="module")
def demo() -> dict[str, list[str]]:
    file = read(demo_path("references"), "references")
    return dict(zip(file.ids, file.captions))


def test_people_and_places_of_a_caption() -> None:
    (sentence,) = parse(["two young boys in red shirts run along a busy street"], tokenizer="none")[0]
    (who,), (where,) = people(sentence), places(sentence)
    assert who.phrase(sentence.forms) == ("two", "young", "boys") and who.plural
    assert (
        where.phrase(sentence.forms) == ("a", "busy", "street")
        and where.with_preposition(sentence.forms)[0] == "along"
    )
    assert people(parse(["a red bus"], tokenizer="none")[0][0]) == []


def test_word_lists_are_sound() -> None:
    assert set(PLACES) >= NO_SCENE and not set(PEOPLE) & set(PLACES)
    man, girl, someone = PEOPLE["man"], PEOPLE["girl"], PEOPLE["person"]
    assert (
        not man.may_be(girl)
        and man.may_be(someone)
        and someone.may_be(girl)
        and Person("", "child").may_be(girl)
    )


def test_tasks_built_from_captions(demo: dict[str, list[str]]) -> None:
    pairs = make_distractions(demo, seed=3)
    assert set(pairs.categories) == set(TASKS)
    assert (
        pairs.first == make_distractions(demo, seed=3).first
        and pairs.second != make_distractions(demo, seed=4).second
    )
    for image, task, right, wrong, references in zip(
        pairs.images, pairs.categories, pairs.first, pairs.second, pairs.references
    ):
        assert wrong != right and len(references) == len(demo[image]) - 1
        result, other = right.split(), wrong.split()
        if task.startswith("Just"):
            assert " ".join(other) in right and len(other) < len(result)
        if task.startswith("Share"):
            assert any(
                set(other) == set(text.lower().replace(",", "").split()) or wrong
                for i, texts in demo.items()
                if i != image
                for text in texts
            )
        if task.startswith("Replace"):
            # Only one stretch of the caption is exchanged.
            start = next(k for k in range(len(result) + 1) if result[: k + 1] != other[: k + 1])
            end = next(
                k
                for k in range(len(result) + 1)
                if result[len(result) - k - 1 :] != other[len(other) - k - 1 :]
            )
            assert start + end < len(result) and (start or end)


def test_replaced_people_contradict_all_captions_of_the_image() -> None:
    captions = {
        "1": ["a man rides a horse", "a person on a horse"],
        "2": ["a woman rides a bike", "a lady on a bike"],
        "3": ["a girl eats cake", "a girl with cake"],
        "4": ["a dog sleeps", "the dog is sleeping"],
    }
    pairs = make_distractions(captions, ["Replace Person"])
    swapped = dict(zip(pairs.images, pairs.second))
    # Everyone may be "a person", so image 1 has no sure distractor; women may not be girls, nor girls women.
    assert (
        "1" not in swapped
        and "4" not in swapped
        and swapped["2"].split()[1] in ("man", "girl")
        and "girl" not in swapped["3"]
    )


def test_limits_and_bad_input(demo: dict[str, list[str]]) -> None:
    assert len(make_distractions(demo, ["Just Person"], limit=5)) == 5
    with pytest.raises(InputError, match="unknown task 'Replace Dog'; did you mean"):
        make_distractions(demo, ["Replace Dog"])
    with pytest.raises(InputError, match="at least two images"):
        make_distractions({"1": ["a man"]})
    with pytest.raises(InputError, match="names a known person or place"):
        make_distractions({"1": ["a dog", "dogs"], "2": ["a cat", "cats"]})


def test_metrics_tell_captions_from_distractors(demo: dict[str, list[str]]) -> None:
    pairs = {
        item.metric: item
        for item in distraction_accuracy(make_distractions(demo), "ROUGE-L,BLEU-1", resamples=100)
    }
    for item in pairs.values():
        assert list(item.tasks) == list(TASKS)
        assert item.average == pytest.approx(np.mean([task.value for task in item.tasks.values()]))
        assert item.interval[0] < item.average < item.interval[1] and item.average > 0.6


def test_curves_start_at_one_and_fall(demo: dict[str, list[str]]) -> None:
    with pytest.warns(CaptionWarning, match="imprecise"):
        curves = robustness_curves(demo, "BLEU-4,ROUGE-L,MOWE", strengths=(0, 50, 100), resamples=50)
    by_key = {(c.metric, c.transformation): c for c in curves}
    assert len(by_key) == 9 and all(c.values[0] == pytest.approx(1.0) and c.captions == 60 for c in curves)
    for metric in ("BLEU-4", "ROUGE-L", "MOWE"):
        assert by_key[metric, "random word"].values[2] < by_key[metric, "random word"].values[1] < 1
        assert by_key[metric, "random caption"].area < 0.9
    # MOWE does not see the order of words.
    assert (
        by_key["MOWE", "word permutation"].area == pytest.approx(1.0)
        and by_key["BLEU-4", "word permutation"].area < 0.6
    )
    one = by_key["ROUGE-L", "random word"]
    assert (
        one.area == pytest.approx((1 + 2 * one.values[1] + one.values[2]) / 4)
        and one.interval[0] <= one.area <= one.interval[1]
    )
    with pytest.warns(CaptionWarning):
        again = robustness_curves(
            demo, "ROUGE-L", ["random word"], strengths=(0, 50, 100), resamples=50, seed=2
        )[0]
    assert again.values != one.values


@pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
def test_nearest_by_features(demo: dict[str, list[str]]) -> None:
    images = list(demo)
    features = {image: np.eye(len(images))[k] for k, image in enumerate(images)}
    (curve,) = robustness_curves(
        demo, "ROUGE-L", ["random caption"], strengths=(0, 10), features=features, resamples=20
    )
    assert "nearest:features" in curve.signature and curve.values[1] < 1
    with pytest.raises(InputError, match="no vector for image"):
        robustness_curves(demo, "ROUGE-L", ["random caption"], features={images[0]: np.ones(2)})
    with pytest.raises(InputError, match="unknown transformation 'random words'; did you mean"):
        robustness_curves(demo, "ROUGE-L", ["random words"])
    with pytest.raises(InputError, match="two or more captions"):
        robustness_curves({"1": ["a"]}, "ROUGE-L")


def run(*given: object) -> str:
    done = CliRunner().invoke(app, ["robustness", *map(str, given)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
def test_the_command(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result, out, plots = tmp_path / "tasks.jsonl", tmp_path / "out.json", tmp_path / "plots"
    shown = run(
        demo_path("references"),
        "-m",
        "ROUGE-L,BLEU-1",
        "--json",
        out,
        "--plots",
        plots,
        "--save-tasks",
        result,
        "--resamples",
        20,
    )
    assert "Area under the curve" in shown and "Distraction tasks" in shown
    data = json.loads(out.read_text(encoding="utf-8"))
    assert len(data["curves"]) == 6 and data["curves"][0]["strengths"] == list(range(0, 101, 10))
    assert {path.name for path in plots.iterdir()} >= {
        "robustness_random_word.png",
        "robustness_distractions.svg",
    }
    # The saved tasks give the same numbers.
    again = json.loads(
        run("--distractions", result, "-m", "ROUGE-L,BLEU-1", "--format", "json", "--resamples", 20)
    )["distractions"]
    assert [item["average"] for item in again] == pytest.approx(
        [item["average"] for item in data["distractions"]]
    )
    assert len(load_distractions(result)) > 100
    assert "| metric |" in run(
        demo_path("references"), "-m", "BLEU-1", "--no-tasks", "--format", "markdown", "--resamples", 20
    )
    assert "Distraction tasks" in run(demo_path("references"), "-m", "BLEU-1", "--no-curves")
    features = tmp_path / "features.npz"
    ids = read(demo_path("references"), "references").ids
    np.savez(features, ids=np.array(ids), features=np.random.default_rng(0).normal(size=(len(ids), 4)))
    run(demo_path("references"), "-m", "BLEU-1", "--no-tasks", "--features", features, "--resamples", 20)
    np.savez(features, ids=np.array(ids[1:]), features=np.ones((len(ids), 4)))
    for message, results in (
        ("one row of features per id", [demo_path("references"), "--features", features, "--no-tasks"]),
        ("give human captions", []),
        ("not an .npz file", [demo_path("references"), "--features", out, "--no-tasks"]),
        ("unknown format", [demo_path("good"), "--format", "x"]),
    ):
        with pytest.raises(InputError, match=message):
            run(*results, "-m", "BLEU-1")
