"""``captious train`` and ``captious explain`` on files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests import command
from tests.metrics.learned.test_training import MACHINES, PEOPLE

pytest.importorskip("torch")


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return command.run(*arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("train")
    (made / "people.json").write_text(json.dumps(PEOPLE))
    for system, captions in list(MACHINES.items())[:2]:
        (made / f"{system}.json").write_text(json.dumps(captions))
    return made


@pytest.fixture(scope="module")
def trained(folder: Path) -> Path:
    out = folder / "mine.safetensors"
    done = run(
        "train", "ROUGE-L", "word-mean", "Precision-1", "--references", folder / "people.json", "--machine", folder / "alpha.json",
        "--validate", "none", "--epochs", 5, "--output", out, "--json", folder / "run.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def test_features_by_name_are_a_metric(folder: Path, trained: Path) -> None:
    told = json.loads((folder / "run.json").read_text())
    assert told["features"] == ["ROUGE-L", "word-mean", "Precision-1"]
    assert told["epoch"] == 5
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith("mine")) == [
        "mine.safetensors"
    ]
    scored = run(
        "score",
        folder / "people.json",
        folder / "alpha.json",
        "-m",
        "Learned",
        "--weights",
        trained,
        "--json",
        "-",
    )
    assert scored.returncode == 0, scored.stderr
    assert 0 < json.loads(scored.stdout)["systems"][0]["scores"]["Learned"]["value"] < 1


def test_the_same_seed_gives_the_same_file(folder: Path, trained: Path) -> None:
    again = folder / "again.safetensors"
    done = run(
        "train", "composite", "ROUGE-L", "word-mean", "Precision-1", "--references", folder / "people.json", "--machine", folder / "alpha.json",
        "--validate", "none", "--epochs", 5, "-o", again,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert again.read_bytes() == trained.read_bytes()


def test_explain_shows_what_moved_the_score(folder: Path, trained: Path) -> None:
    done = run(
        "explain",
        folder / "people.json",
        folder / "alpha.json",
        "-m",
        "Learned",
        "--weights",
        trained,
        "--image",
        "busroad",
        "--json",
        "-",
    )
    assert done.returncode == 0, done.stderr
    (caption,) = json.loads(done.stdout)["captions"]
    assert caption["caption"] == "alpha sees busroad"
    assert {feature["name"] for feature in caption["features"]} == {"ROUGE-L", "word-mean", "Precision-1"}
    shown = run(
        "explain", folder / "people.json", folder / "alpha.json", "-m", "Learned", "--weights", trained
    )
    assert shown.returncode == 0, shown.stderr
    assert "moved by" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "NOSUCH", "--references", "people.json", "-o", "x"], "unknown feature 'NOSUCH'"),
        (
            [
                "train",
                "ROUGE-L",
                "--references",
                "people.json",
                "-o",
                "x",
                "--set",
                "sytems",
                "--validate",
                "none",
            ],
            "did you mean 'systems'",
        ),
        (
            [
                "train",
                "ROUGE-L",
                "--references",
                "people.json",
                "-o",
                "x",
                "--set",
                "systems",
                "--validate",
                "none",
            ],
            "needs captions by systems",
        ),
        (
            [
                "train",
                "ROUGE-L",
                "--references",
                "people.json",
                "-o",
                "x",
                "--hidden",
                "a",
                "--validate",
                "none",
            ],
            "separated by commas",
        ),
        # References are checked first. Other missing inputs (here, a set of judgements) are reported afterwards.
        (
            ["train", "ROUGE-L", "--references", "nosuch.json", "-o", "x"],
            "nosuch.json: there is no such file",
        ),
        (["explain", "people.json", "alpha.json", "-m", "ROUGE-L"], "cannot be explained"),
        (
            ["explain", "people.json", "alpha.json", "-m", "CaptiousScore-lite", "--image", "nope"],
            "'nope' is not among",
        ),
    ],
)
def test_mistakes_are_one_message(folder: Path, arguments: list[str], message: str) -> None:
    done = run(*[folder / part if part.endswith(".json") else part for part in arguments])
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "x").exists()
