"""The command line: files, output and exit codes."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest

from captious import References
from captious.io.frequency_files import read_frequencies
from tests import command

REFERENCES = [
    {"image_id": i, "caption": caption}
    for i in range(12)
    for caption in (f"a dog number {i} runs in the park", f"the dog {i} is running", "a dog outside")
]
GOOD = [{"image_id": i, "caption": f"a dog number {i} runs" if i % 3 else f"the dog {i}"} for i in range(12)]
POOR = [{"image_id": i, "caption": "a cat on a sofa"} for i in range(12)]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    images = [{"id": i} for i in range(12)]
    (tmp_path / "refs.json").write_text(json.dumps({"images": images, "annotations": REFERENCES}))
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    (tmp_path / "poor.json").write_text(json.dumps(POOR))
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command.run(*arguments, folder=folder)


def test_score_prints_a_row_per_system_and_marks_the_best(files: Path) -> None:
    done = run(files, "score", "refs.json", "poor.json", "good.json", "--metrics", "lexical", "--ci")
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("│")]
    assert "poor" in rows[0]
    assert "*" not in rows[0]
    assert "good" in rows[1]
    assert rows[1].count("*") == 6
    assert rows[1].count("[") == 6
    assert done.stderr == ""


def test_json_to_stdout_is_nothing_but_json(files: Path) -> None:
    done = run(files, "score", "refs.json", "good.json", "--metrics", "CIDEr-D", "--json", "-", "--ci")
    loaded = json.loads(done.stdout)
    score = loaded["systems"][0]["scores"]["CIDEr-D"]
    digest = References.read(files / "refs.json").captions.digest
    assert score["signature"].startswith(f"CIDEr-D|n:4|sigma:6|df:references|refs:12x3@{digest}|tok:ptb|")
    assert score["interval"][0] <= score["value"] <= score["interval"][1]
    assert "per_image" not in score


def test_per_image_csv(files: Path) -> None:
    done = run(
        files,
        "score",
        "refs.json",
        "good.json",
        "poor.json",
        "-m",
        "BLEU-1,ROUGE-L",
        "--per-image",
        "out.csv",
    )
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((files / "out.csv").open()))
    assert len(rows) == 24
    assert {row["system"] for row in rows} == {"good", "poor"}
    assert float(rows[0]["ROUGE-L"]) > float(rows[12]["ROUGE-L"])


def test_compare(files: Path) -> None:
    done = run(files, "compare", "refs.json", "poor.json", "good.json", "-m", "CIDEr-D", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    assert "good" in done.stdout
    row = json.loads((files / "out.json").read_text())["metrics"][0]
    assert row["better"] == "B"
    assert row["p_randomisation"] < 0.01


def test_document_frequencies_can_be_built_shown_and_used(files: Path) -> None:
    assert run(files, "df", "build", "refs.json", "-o", "x.df").returncode == 0
    shown = run(files, "df", "show", "x.df").stdout
    assert "12 images" in shown
    done = run(files, "score", "refs.json", "good.json", "-m", "CIDEr-D", "--df", "x.df", "--json", "-")
    table = read_frequencies(files / "x.df")
    assert (
        f"|df:table@{table.digest}|"
        in json.loads(done.stdout)["systems"][0]["scores"]["CIDEr-D"]["signature"]
    )


def test_demo_ranks_the_three_systems(tmp_path: Path) -> None:
    done = run(tmp_path, "demo", "--metrics", "lexical")
    assert done.returncode == 0, done.stderr
    rows = [line.split("│")[1:-1] for line in done.stdout.splitlines() if line.startswith("│")]
    cider = {row[0].strip(): float(row[-1].strip(" *")) for row in rows}
    assert cider["good"] > cider["generic"] > cider["poor"]


def test_metrics_are_listed(tmp_path: Path) -> None:
    done = run(tmp_path, "metrics")
    assert done.returncode == 0, done.stderr
    assert "CIDEr-D" in done.stdout
    assert any(row["name"] == "BLEU-4" for row in json.loads(run(tmp_path, "metrics", "--json", "-").stdout))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "refs.json", "missing.json"], "missing.json"),
        (["score", "refs.json", "good.json", "-m", "CIDER-E"], "did you mean 'CIDEr-D'"),
        (["score", "refs.json", "good.json", "--tokenizer", "ptbb"], "did you mean 'ptb'"),
        (["score", "refs.json", "good.json", "--df", "refs.json"], "refs.json"),
        (["score", "refs.json", "good.json", "--option", "combine"], "NAME=VALUE"),
        (["score", "refs.json", "half.json"], "--subset"),
        (["score", "refs.json", "broken.json"], "line"),
        (["score", "good.json", "refs.json"], "refs.json"),
        (["score", "refs.json", "good.json", "-m", "lexical", "--json", "no/such/folder\0/x.json"], ""),
        (["compare", "refs.json", "good.json"], "a comparison needs two systems"),
        (["frobnicate"], "there is no command 'frobnicate'"),
    ],
)
def test_mistakes_get_one_message_and_exit_code_2(files: Path, arguments: list[str], message: str) -> None:
    (files / "half.json").write_text(json.dumps(GOOD[:5]))
    (files / "broken.json").write_text('[{"image_id": 1, "caption": "a"},\n{"image_id": 2, "capt')
    if any("\0" in a for a in arguments):
        (files / "plain").write_text("a file, not a folder")
        arguments = [a.replace("no/such/folder\0/x.json", "plain/x.json") for a in arguments]
    done = run(files, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_nothing_is_half_written(files: Path) -> None:
    done = run(files, "score", "refs.json", "good.json", "-m", "CIDER-E", "--json", "out.json")
    assert done.returncode == 2
    assert not list(files.glob("*out.json*"))


def test_hostile_captions(files: Path) -> None:
    hostile = [
        "🐶 ||| <b>dog</b>",
        "a\nb",
        "word " * 10_000,
        "ﷺ \u202e",
        "",
        "\x00",
        "```",
        "'''",
        "&amp; a",
        "日本語",
        "-lrb-",
        "1/2",
    ]
    rows = [{"image_id": i, "caption": caption} for i, caption in enumerate(hostile)]
    (files / "hostile.json").write_text(json.dumps(rows))
    done = run(files, "score", "refs.json", "hostile.json", "-m", "lexical")
    assert done.returncode == 0, done.stderr
    assert "have no words" in done.stderr


def test_a_table_too_wide_for_the_terminal_is_turned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from captious.cli.output import print_table

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    header = ["system", *(f"metric-{k}" for k in range(6))]
    rows = [["one", *["0.1234"] * 6], ["two", *["0.5678"] * 6]]
    marks = [[False] * 7, [False, *[True] * 6]]
    print_table("", header, rows, best=marks, turn=True)
    shown = capsys.readouterr().out
    assert "metric-5" in shown
    assert shown.count("0.5678*") == 6
    assert shown.index("metric-0") < shown.index("0.5678") < shown.index("metric-1")
