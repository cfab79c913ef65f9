"""``captious scene``, ``captious concepts`` and ``captious chair``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from captious.cli.app import app
from captious.core.errors import InputError

runner = CliRunner()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "refs.json").write_text(
        json.dumps({"1": ["a dog on a sofa", "a brown dog"], "2": ["a man rides a horse"]})
    )
    (tmp_path / "preds.json").write_text(json.dumps({"1": "a cat on a sofa", "2": "a man on a horse"}))
    (tmp_path / "objects.jsonl").write_text(
        '{"image_id": 1, "objects": ["dog", "couch"]}\n{"image_id": 2, "objects": []}\n'
    )
    return tmp_path


def test_scene_prints_tuples_and_a_tree() -> None:
    result = runner.invoke(app, ["scene", "two young girls sit at a wooden table"])
    assert result.exit_code == 0
    for line in ("(girl)", "(girl, two)", "(table, wooden)", "(girl, sit at, table)", "sit at → table"):
        assert line in result.output


def test_scene_as_json() -> None:
    result = runner.invoke(app, ["scene", "a dog on a sofa", "a brown dog", "--json", "-"])
    assert json.loads(result.output)["attributes"] == [["dog", "brown"]]


@pytest.mark.parametrize("caption", ["running", "[bold]", "😀"])
def test_scene_without_tuples(caption: str) -> None:
    result = runner.invoke(app, ["scene", caption])
    assert result.exit_code == 0


@pytest.mark.parametrize("captions", [[""], ["a dog", " "]])
def test_scene_refuses_empty_captions(captions: list[str]) -> None:
    result = runner.invoke(app, ["scene", *captions])
    assert isinstance(result.exception, InputError) and "the caption is empty" in str(result.exception)


def test_concepts(files: Path) -> None:
    table = files / "own.concepts"
    result = runner.invoke(app, ["concepts", "build", str(files / "refs.json"), "-o", str(table)])
    assert result.exit_code == 0 and "2 images" in result.output
    result = runner.invoke(app, ["concepts", "show", str(table)])
    assert result.exit_code == 0 and "dog" in result.output
    result = runner.invoke(
        app,
        ["score", str(files / "refs.json"), str(files / "preds.json"), "-m", "SPICE-U,SPICE,CHAIRi",
         "--concepts", str(table), "--objects", str(files / "objects.jsonl"), "--json", "-"],
    )  # fmt: skip
    assert result.exit_code == 0
    scores = json.loads(result.output)["systems"][0]["scores"]
    assert scores["CHAIRi"]["value"] == pytest.approx(0.25)
    assert "concepts:" in scores["SPICE-U"]["signature"]


def test_concepts_from_something_else(files: Path) -> None:
    result = runner.invoke(app, ["concepts", "show", str(files / "refs.json")])
    assert isinstance(result.exception, InputError)


def test_chair_lists_what_is_hallucinated(files: Path) -> None:
    arguments = [
        "chair",
        str(files / "refs.json"),
        str(files / "preds.json"),
        "--objects",
        str(files / "objects.jsonl"),
    ]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0 and "CHAIRs 0.5000" in result.output and "cat" in result.output
    found = json.loads(runner.invoke(app, [*arguments, "--json", "-"]).output)
    assert found["CHAIRi"]["value"] == pytest.approx(0.25)
    assert found["captions"][0]["hallucinated"] == [["cat", "cat"]]
    assert found["captions"][1]["hallucinated"] == []


def test_facts_are_printed_by_sentence(tmp_path: Path) -> None:
    result = runner.invoke(app, ["facts", "A brown dog on a bed. It sleeps."])
    assert result.exit_code == 0
    assert "1  The dog is brown.\n1  The dog is on the bed." in result.output
    out = tmp_path / "facts.json"
    assert runner.invoke(app, ["facts", "a dog", "--json", str(out)]).exit_code == 0
    assert json.loads(out.read_text())["facts"] == [{"fact": "There is a dog.", "sentence": 1}]
    empty = runner.invoke(app, ["facts", " "])
    assert empty.exit_code != 0
