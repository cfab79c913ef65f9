"""``captious corpus`` on files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests import command

REFERENCES = {
    "1": ["A dog runs on the grass.", "a dog on grass", "a brown dog standing on green grass"],
    "2": ["a bus stop", "the bus is at a bus stop near a tree", "a city bus"],
    "3": ["no cat here", "a cat on top of a mat on a table", "the cat sleeps"],
}
SYSTEMS = {
    "one": {"1": "a dog", "2": "a bus on a street", "3": "a cat"},
    "two": {
        "1": "a dog standing on grass",
        "2": "a red bus",
        "3": "a cat sitting on top of a laptop computer",
    },
    "three": {"1": "a man", "2": "a bus stop", "3": "a dog"},
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "refs.json").write_text(json.dumps(REFERENCES))
    (tmp_path / "train.json").write_text(json.dumps({"9": ["a dog", "a cat on a mat"]}))
    for name, captions in SYSTEMS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(captions))
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command.run("corpus", *arguments, folder=folder)


def test_table_json_and_figures(files: Path) -> None:
    pytest.importorskip("matplotlib")
    systems = [f"{name}.json" for name in SYSTEMS]
    done = run(
        files, "refs.json", *systems, "--training", "train.json", "--json", "out.json", "--plots", "figures"
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    rows = [line for line in lines if line.startswith("│")]
    assert [row.split("│")[1].strip() for row in rows] == ["one", "two", "three", "humans"]
    assert "Loc3" in done.stdout
    loaded = json.loads((files / "out.json").read_text(encoding="utf-8"))
    two = loaded["systems"][1]
    assert two["measures"]["compound_ratio"] == pytest.approx(1 / 3)
    assert two["measures"]["preposition_ratio"] == 1
    assert loaded["systems"][0]["measures"]["novel"] == pytest.approx(2 / 3)
    assert sum(loaded["humans"]["composition"]["pp_depths"]) == pytest.approx(8 / 3)
    written = {path.name for path in (files / "figures").iterdir()}
    assert {
        f"corpus_{name}.png"
        for name in ("type_token_curves", "coverage_by_decile", "word_frequencies", "local_recall")
    } <= written
    assert {f"corpus_{name}.svg" for name in ("compound_lengths", "pp_depths")} <= written
    # Correlations over three systems would mean nothing.
    assert len(written) == 18 and "6 figures (18 files) in figures" in lines


def test_json_to_standard_output_and_no_trees(files: Path) -> None:
    done = run(files, "refs.json", "one.json", "--no-trees", "--json", "-")
    loaded = json.loads(done.stdout)
    assert "local_recall" not in loaded["systems"][0]
    assert loaded["systems"][0]["measures"]["asl"] == 3
    assert "rank_correlations" not in loaded


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["refs.json", "none.json"], "none.json"),
        (["refs.json", "one.json", "--tokenizer", "spacy"], "spacy-like"),
        (["refs.json", "one.json", "--norms", "train.json"], "train.json"),
        (["refs.json", "train.json"], "no image in common"),
    ],
)
def test_mistakes_end_in_one_message(files: Path, arguments: list[str], message: str) -> None:
    done = run(files, *arguments, "--json", "out.json")
    assert done.returncode == 2
    assert done.stderr.startswith("captious: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (files / "out.json").exists()
