"""Properties of every metric, and the names under which they are registered."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.metrics import registry
from captious.metrics.options import STANDARD

IMAGES = {
    "1": ["two dogs run across a green field", "a pair of dogs running on grass", "dogs play in a field"],
    "2": [
        "a man rides a wave on a surfboard",
        "a surfer in a black wetsuit riding a wave",
        "the man is surfing",
    ],
    "3": [
        "a plate of pasta with a fork",
        "some spaghetti and tomato sauce on a white plate",
        "food on a plate",
    ],
    "4": [
        "a red bus parked beside a tall building",
        "a double decker bus on a city street",
        "the bus is red",
    ],
}
CANDIDATES = {
    "1": "two brown dogs run on the grass",
    "2": "a man is surfing a big wave",
    "3": "a cat on a bed",
    "4": "a red bus on a street",
}

#: Every measure of single captions except those that need weights or vectors (test_all.py passes them).
#: They need a file.
OF_FILES = ("Learned", "CLIP-S", "RefCLIP-S", "AMBER-CHAIR", "Cover", "Hal", "Cog")
NAMES = [name for name in registry.of_family("all") if name not in OF_FILES]


def corpus_of(
    order: list[str], candidates: dict[str, str], references: dict[str, list[str]] = IMAGES
) -> Corpus:
    return Corpus.build(
        order, [[candidates[i]] for i in order], [references[i] for i in order], tokenizer="none"
    )


@pytest.fixture(scope="module")
def base() -> Corpus:
    return corpus_of(list(IMAGES), CANDIDATES)


@pytest.mark.parametrize("name", NAMES)
def test_finite_within_bounds_and_reproducible(name: str, base: Corpus) -> None:
    score = captious.score(base, name)[name]
    low, high = score.metric.bounds
    values = score.per_caption[~np.isnan(score.per_caption)]
    assert np.isfinite(score.value)
    assert low is None or (values >= low - 1e-9).all()
    assert high is None or (values <= high + 1e-9).all()
    assert captious.score(base, name)[name].value == score.value
    assert score.signature.startswith(name + "|")


@pytest.mark.parametrize("name", NAMES)
def test_order_of_images_does_not_matter(name: str, base: Corpus) -> None:
    turned = captious.score(corpus_of(list(IMAGES)[::-1], CANDIDATES), name)[name]
    score = captious.score(base, name)[name]
    assert turned.value == pytest.approx(score.value, abs=1e-6)
    assert turned.per_image == pytest.approx(score.per_image, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "references" in registry.measure_class(name).needs]
)
def test_a_copied_reference_is_perfect_and_beats_the_rest(name: str, base: Corpus) -> None:
    perfect = captious.score(corpus_of(list(IMAGES), {i: r[0] for i, r in IMAGES.items()}), name)[name]
    score = captious.score(base, name)[name]
    sign = 1 if score.metric.higher_is_better else -1
    assert sign * perfect.value >= sign * score.value
    bound = score.metric.bounds[1 if sign > 0 else 0]
    if score.metric.perfect_is_maximum and bound is not None:
        assert perfect.value == pytest.approx(bound, abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_empty_captions_are_scored(name: str) -> None:
    candidates = {**CANDIDATES, "2": ""}
    score = captious.score(corpus_of(list(IMAGES), candidates), name)[name]
    assert len(score.per_caption) == 4
    assert np.isfinite(score.value)


@pytest.mark.parametrize("name", NAMES)
def test_statistics_add_up_to_the_value_and_carry_intervals(name: str, base: Corpus) -> None:
    score = captious.score(base, name)[name]
    assert float(score.metric.value(score.statistics.sum(axis=0))) == pytest.approx(score.value)
    low, high = score.interval(resamples=50)
    assert low <= score.value + 1e-9 or np.isnan(low)
    assert high >= score.value - 1e-9 or np.isnan(high)


def test_names_in_any_case_groups_and_lists() -> None:
    assert registry.resolve("cider-d, rouge-l") == ["CIDEr-D", "ROUGE-L"]
    assert registry.resolve("bleu,BLEU-4") == ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4"]
    assert set(registry.resolve("all")) == {*NAMES, *OF_FILES}
    assert registry.resolve("SPICE") == registry.resolve("spice") == ["SPICE"]
    assert not {name.casefold() for name in NAMES} & set(registry.GROUPS)
    assert all(member in NAMES for members in registry.GROUPS.values() for member in members)


@pytest.mark.parametrize(
    ("wrong", "meant"), [("CIDER-E", "CIDEr-D"), ("rogue-l", "ROUGE-L"), ("bluu-4", "BLEU-4")]
)
def test_unknown_names_get_a_hint(wrong: str, meant: str) -> None:
    with pytest.raises(captious.InputError, match=f"unknown metric '{wrong}'.*did you mean.*{meant}"):
        registry.resolve(wrong)


def test_an_option_of_other_metrics_is_refused(base: Corpus) -> None:
    message = (
        r"'combine' \(--combine\) is an option of WEmbSim, MOWE, SentenceSim, SentenceSim-lite, "
        r"but not of the chosen metrics BLEU-4, CIDEr-D, whose options are: df \(--df\)"
    )
    with pytest.raises(captious.InputError, match=message):
        captious.score(base, "BLEU-4,CIDEr-D", combine="max")
    with pytest.raises(
        captious.InputError, match=r"not of the chosen metric BLEU-4, whose options are: none"
    ):
        captious.score(base, "BLEU-4", combine="foo")
    # One of several metrics is enough.
    assert (
        captious.score(base, "BLEU-4,WEmbSim", combine="max")["WEmbSim"].signature.fields["combine"] == "max"
    )


def test_options_are_not_for_measures_that_exist_already(base: Corpus) -> None:
    with pytest.raises(captious.InputError, match="not of the chosen metric CIDEr-D"):
        captious.score(base, registry.create("CIDEr-D"), df="table.npz")


def test_unknown_options_get_a_hint(base: Corpus) -> None:
    with pytest.raises(captious.InputError, match=r"unknown option 'dff'.*'df'"):
        captious.score(base, "CIDEr-D", dff=3)


# Options ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", registry.names())
def test_every_option_is_declared_once_and_is_a_keyword(name: str) -> None:
    kind = registry.measure_class(name)
    for option in kind.options:
        assert option in STANDARD, option.name
        assert option.name in inspect.signature(kind).parameters
    assert len({option.name for option in kind.options}) == len(kind.options)


def test_every_standard_option_has_a_measure() -> None:
    assert registry.option_table() == {option.name: option for option in STANDARD}
    assert len({option.flag for option in STANDARD}) == len(STANDARD)


@pytest.mark.parametrize("name", registry.names())
def test_settings_reach_the_measure(name: str) -> None:
    kind = registry.measure_class(name)
    for option in kind.options:
        for choice in option.choices if option.setting else ():
            made = registry.create(name, {option.name: choice})
            assert made.parameters()[option.name] == choice


# Measures of other packages ---------------------------------------------------------------------------------

PLUGIN = '''
from typing import ClassVar

import numpy as np

from captious.measures.base import Measure, as_statistics
from captious.measures.options import Option


class Brevity(Measure):
    """One over the number of words, plus a bonus."""

    name = "Brevity"
    summary = "how short a caption is"
    bounds = (0.0, None)
    needs = frozenset()
    options: ClassVar[tuple[Option, ...]] = (
        Option("bonus", "What a short caption gets on top.", kind=float, metavar="NUMBER", setting=True),
    )

    def __init__(self, bonus: float = 0.0) -> None:
        self.bonus = bonus

    def statistics(self, corpus, state):
        return as_statistics(self.bonus + 1.0 / np.maximum(1, corpus.candidates.lengths))


class Imposter(Brevity):
    """Wants the place of a measure that is there already."""


not_a_measure = 3
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages with one that brings measures, and files to score."""
    folder = tmp_path / "site"
    info = folder / "brevity-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "brevity.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brevity\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[captious.measures]\nBrevity = brevity:Brevity\nbleu-4 = brevity:Imposter\n"
    )
    (tmp_path / "refs.json").write_text(json.dumps({"1": ["a dog runs"], "2": ["a cat"]}))
    (tmp_path / "pred.json").write_text(json.dumps({"1": "a dog", "2": "a black cat sleeps"}))
    return folder


def with_plugin(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), str(Path(captious.__file__).parents[1])])
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=site.parent,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200", "TERM": "dumb"},
    )


def command(site: Path, *arguments: str) -> str:
    done = with_plugin(site, "-m", "captious.cli.app", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_package_brings_a_measure_to_the_command_line(site: Path) -> None:
    listed = {row["name"]: row for row in json.loads(command(site, "metrics", "--json", "-"))}
    assert (
        listed["Brevity"]["options"] == ["bonus"] and listed["Brevity"]["summary"] == "how short a caption is"
    )
    assert "how short a caption is" in command(site, "metrics")
    shown = command(site, "metrics", "Brevity")
    assert "--bonus" in shown and "What a short caption gets on top." in shown
    for given in (["--bonus", "0.25"], ["-O", "bonus=0.25"], ["--option", "bonus=0.25"]):
        found = json.loads(
            command(site, "score", "refs.json", "pred.json", "-m", "brevity", *given, "--json", "-")
        )
        score = found["systems"][0]["scores"]["Brevity"]
        assert score["value"] == pytest.approx(0.25 + (1 / 2 + 1 / 4) / 2)
        assert score["signature"].startswith("Brevity|bonus:0.25|")
        # It declares that it needs no references, so its signature does not name them.
        assert "refs:" not in score["signature"]
    plain = json.loads(
        command(site, "score", "refs.json", "pred.json", "-m", "Brevity,BLEU-4", "--json", "-")
    )
    assert plain["systems"][0]["scores"]["Brevity"]["signature"].startswith("Brevity|bonus:0.0|")


def test_a_package_brings_a_measure_to_python_and_takes_no_place(site: Path) -> None:
    script = """
import captious
from captious.measures import registry
corpus = captious.load("refs.json", "pred.json")
score = captious.score(corpus, "Brevity", bonus=1.0)["Brevity"]
print(score.value, score.signature.fields["bonus"])
assert "Brevity" in registry.of_family("all") and registry.names()[-1] == "Brevity"
assert registry.measure_class("BLEU-4").__module__ == "captious.metrics.captions.bleu"
print([row.better for row in captious.compare(corpus, corpus, "Brevity", bonus=2.0)])
"""
    done = with_plugin(site, "-c", script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["1.375 1.0", "['neither']"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("brevity:not_a_measure", "is no Measure"),
        ("brevity:gone", "is no Measure"),
        ("no_such_module:X", "no_such_module"),
    ],
)
def test_a_broken_package_is_reported_and_others_work(site: Path, entry: str, message: str) -> None:
    info = site / "brevity-1.0.dist-info"
    (info / "entry_points.txt").write_text(f"[captious.measures]\nBroken = {entry}\n")
    done = with_plugin(site, "-m", "captious.cli.app", "score", "refs.json", "pred.json", "-m", "Broken")
    assert done.returncode == 2, done.stderr
    assert "Broken" in done.stderr and message in done.stderr
    assert "Traceback" not in done.stderr
    for wanted in ("MOWE", "WEmbSim,CIDEr-D"):
        arguments = ["score", "refs.json", "pred.json", "-m", wanted, "--combine", "max", "--json", "-"]
        others = with_plugin(site, "-m", "captious.cli.app", *arguments)
        assert others.returncode == 0, others.stderr
        assert list(json.loads(others.stdout)["systems"][0]["scores"]) == wanted.split(",")
    listed = with_plugin(site, "-m", "captious.cli.app", "metrics", "--json", "-")
    assert listed.returncode == 0, listed.stderr
    assert [row["name"] for row in json.loads(listed.stdout)] == [*registry.names(), "Critic"]
    assert "left out Broken" in listed.stderr and message in listed.stderr
