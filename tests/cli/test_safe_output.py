"""Names, ids and captions never control the terminal or a spreadsheet."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest

from captious.cli.output import write_csv
from captious.core.errors import printable
from tests import command


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a dog", "a dog"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("bell\x07\x9b", "bell\\x07\\x9b"),
        ("犬 café\u3000x", "犬 café\u3000x"),
        ("half \ud83d", "half \\ud83d"),
        ("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_cells_that_a_spreadsheet_would_run(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    cells = [
        "=1+1",
        "+A1",
        "-A1",
        "@SUM(A1)",
        "\tx",
        "\rx",
        "-0.5",
        "+3",
        "-1e-7",
        "plain",
        "a=b",
        -0.25,
        "-inf",
        "12.jpg",
    ]
    write_csv([cells], path)
    (row,) = csv.reader(path.open(newline=""))
    assert row == [
        "'=1+1",
        "'+A1",
        "'-A1",
        "'@SUM(A1)",
        "\\tx",
        "\\rx",
        "-0.5",
        "+3",
        "-1e-7",
        "plain",
        "a=b",
        "-0.25",
        "-inf",
        "12.jpg",
    ]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return command.run(*arguments)


def test_tables_warnings_and_errors_show_control_characters(tmp_path: Path) -> None:
    evil = "\x1b[2J"
    references, predictions = tmp_path / "refs.json", tmp_path / f"sys{evil}.json"
    references.write_text(json.dumps({f"=cmd{evil}": ["a dog"], "2": ["a cat"]}))
    predictions.write_text(json.dumps({f"=cmd{evil}": "", "2": "a cat"}))
    done = run(
        "score", references, predictions, "-m", "BLEU-1", "--signature", "--per-image", tmp_path / "out.csv"
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "sys\\x1b[2J" in done.stdout
    assert "=cmd\\x1b[2J" in done.stderr  # the warning of an empty caption names the image
    assert "'=cmd\\x1b[2J" in (tmp_path / "out.csv").read_text()
    shown = run("score", references, predictions, "-m", "BLEU-1", "-q", "--per-image", "-")
    assert "\x1b" not in shown.stdout and "'=cmd\\x1b[2J" in shown.stdout
    table = run("score", references, predictions, "-m", "BLEU-1", "-q", "--format", "csv")
    assert "\x1b" not in table.stdout and "sys\\x1b[2J,BLEU-1" in table.stdout
    run("score", references, predictions, "-m", "BLEU-1", "-q", "--per-image", tmp_path / "out.json")
    text = (tmp_path / "out.json").read_text()
    assert (
        "\x1b" not in text
        and f"=cmd{evil}" in json.loads(text)["systems"][0]["scores"]["BLEU-1"]["per_image"]
    )
    missing = run("score", references, tmp_path / f"missing{evil}.json", "-m", "BLEU-1")
    assert missing.returncode == 2
    assert "\x1b" not in missing.stderr
    assert "missing\\x1b[2J" in missing.stderr
