"""``captious score`` and ``captious explain`` without references, for metrics that need none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from captious.cli.app import app
from captious.data import demo_path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Answers of a model in AMBER's format, and its annotation."""
    rows = [{"id": 1, "response": "A dog and a"}, {"id": 2, "response": "The image shows a cat."}]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(rows))
    annotation = [{"id": k, "truth": ["dog"], "hallu": ["cat"]} for k in (1, 2)]
    (tmp_path / "annotations.json").write_text(json.dumps(annotation))
    return path


def test_one_file_is_scored_alone(answers: Path) -> None:
    done = run("score", answers, "-m", "Truncated,Boilerplate,Hal", "--amber", answers.parent, "--json", "-")
    assert done.exit_code == 0, done.output
    content = json.loads(done.stdout)
    scores = content["systems"][0]["scores"]
    assert content["references"] is None
    assert {name: score["value"] for name, score in scores.items()} == {
        "Truncated": 0.5,
        "Boilerplate": 0.5,
        "Hal": 0.5,
    }


def test_metrics_that_need_references_say_so(answers: Path) -> None:
    done = run("score", answers, "-m", "Truncated,CIDEr-D")
    assert "predictions are missing" in str(done.exception)
    done = run("score", answers, "-m", "CIDEr-D", "--no-references")
    assert "there are none" in str(done.exception)


def test_several_files_without_references() -> None:
    done = run("score", demo_path("good"), demo_path("poor"), "--no-references", "-m", "Rep-2", "--json", "-")
    assert done.exit_code == 0, done.output
    assert [system["system"] for system in json.loads(done.stdout)["systems"]] == ["good", "poor"]


def test_no_references_are_not_for_shards(answers: Path) -> None:
    done = run("score", answers, "--no-references", "--references", demo_path("references"))
    assert "--no-references is for files of predictions" in str(done.exception)


def test_objects_of_amber_are_explained_alone(answers: Path) -> None:
    done = run("explain", answers, "-m", "Hal", "--amber", answers.parent, "--image", "2")
    assert done.exit_code == 0, done.output
    assert "hallucinated" in done.output and "1 of 1 named objects are not in the image" in done.output
    done = run("explain", answers, "-m", "SPICE")
    assert "captious explain REFS PRED -m SPICE" in str(done.exception)
