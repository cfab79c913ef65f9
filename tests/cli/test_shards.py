"""``captious score SHARD… --references REFS``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from captious.cli.app import app
from captious.data import demo_path
from captious.results.scores import Scores
from tests.scale import making

REFS = str(demo_path("references"))


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["score", *words])
    assert done.exit_code == 0, (words, done.output, done.exception)
    return done.output


def test_a_run(tmp_path: Path) -> None:
    """A first run in a process of its own, a second run, and a forecast."""
    making.folder(tmp_path / "in", 3)
    words = [
        str(tmp_path / "in" / "*.parquet"),
        "--references",
        REFS,
        "-m",
        "BLEU-4,CIDEr-D,Types,Distinct",
        "--engine",
        "local",
        "-j",
        "1",
        "-o",
        str(tmp_path / "out"),
    ]
    plan = run(*words, "--dry-run")
    assert (
        "3 shards, 120 rows" in plan
        and "roughly" in plan
        and "1 worker" in plan
        and not list(tmp_path.glob("out/*"))
    )
    text = run(*words, "--ci", "--signature")
    for expected in (
        "BLEU-4",
        "60 images, 5 references per image",
        "Types",
        "Distinct",
        "120 captions in 3 shards",
        "captions a second on 1 worker (local)",
        "groups:4096",
    ):
        assert expected in text
    assert "3 of them from an earlier run" in run(*words)
    assert "3 have results from an earlier run" in run(*words, "--dry-run")
    described = json.loads(run(*words, "--json", "-"))
    assert (
        described["rows"] == 120
        and described["scores"]["BLEU-4"]["value"]
        == Scores.load(tmp_path / "out" / "captions.scores")["BLEU-4"].value
    )


def test_a_part_of_the_images_and_columns_by_name(tmp_path: Path) -> None:
    making.parquet(tmp_path / "a.parquet", making.rows()[:20], image="picture", caption="words")
    words = [
        str(tmp_path / "a.parquet"), "--references", REFS, "-m", "ROUGE-L", "--id-column", "picture", "--caption-column", "words", "-j", "1",
        "-o", str(tmp_path / "merged.scores"), "--name", "mine",
    ]  # fmt: skip
    done = CliRunner().invoke(app, ["score", *words])
    assert "no caption for 40 of the 60 images of the references" in str(done.exception)
    assert {path.name for path in tmp_path.iterdir()} == {"a.parquet"}
    text = run(*words, "--part")
    assert "mine" in text and Scores.load(tmp_path / "merged.scores").system == "mine"
    assert "20 of 60 images (--part)" in text
    assert {path.name for path in tmp_path.iterdir()} == {"a.parquet", "merged.scores"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--on-error", "perhaps"], "'stop' or 'skip'"),
        (["--engine", "dusk"], "unknown engine"),
        (["--engine", "local", "--subset"], "--subset is for files of predictions"),
        (["--engine", "local", "-o", "-"], "go to files"),
        (["--engine", "local", "-m", "BLEU-4"], "--references"),
        (["--engine", "local", "--name", "a", "--name", "b"], "of one system"),
        ([], "predictions are missing"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, words: list[str], message: str) -> None:
    making.folder(tmp_path, 1)
    done = CliRunner().invoke(app, ["score", str(tmp_path / "part-000.parquet"), *words])
    assert done.exit_code != 0 and message in str(done.exception)
    assert {path.name for path in tmp_path.iterdir()} == {"part-000.parquet"}
