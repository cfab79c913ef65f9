"""The names and options under which measures are registered. Properties of all measures are in test_all.py."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

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


@pytest.fixture(scope="module")
def copied() -> Corpus:
    """Candidates that are references."""
    return corpus_of(list(IMAGES), {image: texts[0] for image, texts in IMAGES.items()})


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "references" in registry.measure_class(name).needs]
)
def test_a_copied_reference_is_perfect_and_beats_the_rest(name: str, base: Corpus, copied: Corpus) -> None:
    perfect = captious.score(copied, name)[name]
    score = captious.score(base, name)[name]
    sign = 1 if score.metric.higher_is_better else -1
    assert sign * perfect.value >= sign * score.value
    bound = score.metric.bounds[1 if sign > 0 else 0]
    if score.metric.perfect_is_maximum and bound is not None:
        assert perfect.value == pytest.approx(bound, abs=1e-5)


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


#: Run several command lines in one process. The first one discovers the package.
COMMANDS = """
import json, sys
from tests.command import run
done = [run(*words) for words in json.load(sys.stdin)]
print(json.dumps([[one.returncode, one.stdout, one.stderr] for one in done]))
"""


def python(site: Path, code: str, given: object = None) -> str:
    """Run code in a process that finds the package. Return what it prints."""
    root = Path(captious.__file__).parents[1]
    path = os.pathsep.join([str(site), str(root), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        cwd=site.parent,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200", "TERM": "dumb"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def commands(site: Path, *lines: list[str]) -> list[tuple[int, str, str]]:
    """Return exit code, output and messages of each command."""
    return [(code, out, errors) for code, out, errors in json.loads(python(site, COMMANDS, lines))]


def test_a_package_brings_a_measure_to_the_command_line(site: Path) -> None:
    given = (["--bonus", "0.25"], ["-O", "bonus=0.25"], ["--option", "bonus=0.25"])
    score = ["score", "refs.json", "pred.json", "--json", "-", "-m"]
    done = commands(
        site, ["metrics", "--json", "-"], ["metrics"], ["metrics", "Brevity"], [*score, "Brevity,BLEU-4"],
        *([*score, "brevity", *bonus] for bonus in given),
    )  # fmt: skip
    assert [code for code, _, _ in done] == [0] * 7, done
    as_json, table, shown, plain, *others = (out for _, out, _ in done)
    listed = {row["name"]: row for row in json.loads(as_json)}
    assert (
        listed["Brevity"]["options"] == ["bonus"] and listed["Brevity"]["summary"] == "how short a caption is"
    )
    assert "how short a caption is" in table
    assert "--bonus" in shown and "What a short caption gets on top." in shown
    for found in map(json.loads, others):
        values = found["systems"][0]["scores"]["Brevity"]
        assert values["value"] == pytest.approx(0.25 + (1 / 2 + 1 / 4) / 2)
        assert values["signature"].startswith("Brevity|bonus:0.25|")
        # It declares that it needs no references, so its signature does not name them.
        assert "refs:" not in values["signature"]
    signature = json.loads(plain)["systems"][0]["scores"]["Brevity"]["signature"]
    assert signature.startswith("Brevity|bonus:0.0|")


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
    assert python(site, script).split("\n")[:2] == ["1.375 1.0", "['neither']"]


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
    others = ("MOWE", "WEmbSim,CIDEr-D")
    score = ["score", "refs.json", "pred.json", "-m"]
    broken, *done, (code, listed, errors) = commands(
        site,
        [*score, "Broken"],
        *([*score, names, "--combine", "max", "--json", "-"] for names in others),
        ["metrics", "--json", "-"],
    )
    assert broken[0] == 2 and "Broken" in broken[2] and message in broken[2]
    for names, (others_code, out, _) in zip(others, done, strict=True):
        assert others_code == 0
        assert list(json.loads(out)["systems"][0]["scores"]) == names.split(",")
    assert code == 0
    assert [row["name"] for row in json.loads(listed)] == [*registry.names(), "Critic"]
    assert "left out Broken" in errors and message in errors
