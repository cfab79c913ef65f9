"""Tables: names, widths, formats, and notes below them."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from captious.cli import output as tables
from captious.cli.app import app
from captious.cli.formatting import Look, score
from captious.cli.output import _fitting, _needed, _Table, print_table
from captious.data import demo_path
from captious.results.references import tell_apart
from tests import command

REFS = str(demo_path("references"))


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    for folder, system in (("runA", "good"), ("runB", "poor")):
        (tmp_path / folder).mkdir()
        shutil.copy(demo_path(system), tmp_path / folder / "results.json")
    return str(tmp_path / "runA" / "results.json"), str(tmp_path / "runB" / "results.json")


# --- names


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["/x/a.json", "/x/b.json"], ["a", "b"]),
        (["/x/runA/r.json", "/x/runB/r.json"], ["runA/r", "runB/r"]),
        (["/x/runA/out/r.json", "/x/runB/out/r.json", "/x/c.json"], ["runA/…/r", "runB/…/r", "c"]),
        (["/x/r.json", "/x/r.jsonl"], ["r.json", "r.jsonl"]),
        (["/x/r.json", "/x/r.json"], ["r", "r (2)"]),
        (["/x/a/r.json", "/x/a/r.jsonl", "/x/b/r.json"], ["a/r.json", "a/r.jsonl", "b/r.json"]),
    ],
)
def test_the_shortest_names_that_tell_files_apart(paths: list[str], expected: list[str]) -> None:
    names = [re.sub(r"\.jsonl?$", "", Path(path).name) for path in paths]
    assert tell_apart(names, [Path(path) for path in paths]) == expected


def test_two_files_of_one_name_everywhere(runs: tuple[str, str], tmp_path: Path) -> None:
    assert {"runA/results", "runB/results"} <= set(
        re.findall(r"run./results", run("score", REFS, *runs, "-m", "BLEU-1"))
    )
    saved = tmp_path / "saved"
    for folder in "ab":
        (saved / folder).mkdir(parents=True)
    run("score", REFS, runs[0], "-m", "BLEU-1", "-o", str(saved / "a" / "x.scores"))
    run("score", REFS, runs[1], "-m", "BLEU-1", "-o", str(saved / "b" / "x.scores"))
    files = [str(saved / folder / "x.scores") for folder in "ab"]
    assert set(re.findall(r"./results", run("show", *files))) == {"a/results", "b/results"}
    assert json.loads(run("compare", *files, "--format", "json", "--trials", "50"))["systems"] == [
        "a/results",
        "b/results",
    ]
    found = json.loads(run("compare", REFS, *runs, "-m", "BLEU-1", "--json", "-", "--trials", "50"))
    assert found["systems"] == ["runA/results", "runB/results"]


def test_names_can_be_given(runs: tuple[str, str]) -> None:
    shown = run("score", REFS, *runs, "-m", "BLEU-1", "--name", "ours", "--name", "theirs")
    assert "ours" in shown and "theirs" in shown and "results" not in shown
    found = json.loads(
        run(
            "compare",
            REFS,
            *runs,
            "-m",
            "BLEU-1",
            "--name",
            "x",
            "--name",
            "y",
            "--json",
            "-",
            "--trials",
            "50",
        )
    )
    assert found["systems"] == ["x", "y"]
    done = CliRunner().invoke(app, ["score", REFS, *runs, "-m", "BLEU-1", "--name", "ours"])
    assert "give one name for each system" in str(done.exception)


# --- width


NUMBERS = [
    ["a system with a name of some length", *(f"{k}.1234567 [0.1,0.2]" for k in range(9))] for _ in range(3)
]


@pytest.mark.parametrize("turn", [True, False])
@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_no_number_is_cut_however_narrow_the_terminal(
    width: int, turn: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    header = ["system", *(f"metric {k}" for k in range(9))]
    print_table("", header, NUMBERS, best=[[k == 4 for k in range(10)] for _ in NUMBERS], turn=turn)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    for k in range(9):
        assert shown.count(f"{k}.1234567 [0.1,0.2]") == 3
        assert f"metric {k}" in shown
    assert "…" not in shown


def test_pieces_fit_and_repeat_their_keys() -> None:
    rows = [[f"m{i}", "A", *(f"{k}.12345678" for k in range(10))] for i in range(2)]
    table = _Table(["metric", "system", *map(str, range(10))], rows, [[False] * 12 for _ in rows], {0, 1})
    pieces = _fitting(table, 60, False, 2)
    assert len(pieces) > 1
    for piece in pieces:
        assert _needed(piece.widths()) <= 60 and piece.header[:2] == ["metric", "system"]
    assert [name for piece in pieces for name in piece.header[2:]] == list(map(str, range(10)))


# --- formats


def test_markdown_latex_and_csv() -> None:
    words = ("score", REFS, str(demo_path("good")), str(demo_path("poor")), "-m", "BLEU-4,CHAIRs", "--quiet")
    markdown = run(*words, "--format", "markdown").splitlines()
    assert markdown[0] == "| system | BLEU-4 | CHAIRs ↓ |" and markdown[1] == "|:--|--:|--:|"
    assert markdown[2].startswith("| good | **0.4434** |") and len(markdown) == 4
    latex = run(*words, "--format", "latex")
    assert (
        r"CHAIRs $\downarrow$ \\" in latex and r"good & \textbf{0.4434}" in latex and latex.count(r"\\") == 3
    )
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv", "--percent", "--digits", "2"))))
    assert (rows[0]["system"], rows[0]["metric"], rows[0]["value"]) == ("good", "BLEU-4", "44.34")
    assert len(rows) == 4
    assert list(json.loads(run(*words, "--format", "json"))["systems"][0]["scores"]) == ["BLEU-4", "CHAIRs"]
    done = CliRunner().invoke(app, [*words, "--format", "word"])
    assert "unknown format" in str(done.exception)


def test_cells_are_escaped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for form, expected in (
        ("markdown", r"a\_b\|c\*"),
        ("latex", r"a\_b|c*"),
        ("csv", "a_b|c*"),
    ):
        monkeypatch.setattr(tables, "look", lambda form=form: Look(format=form))
        print_table("", ["x"], [["a_b|c*"], ["=1+1"], ["-0.5"]])
        shown = capsys.readouterr().out
        assert expected in shown
        if form == "csv":
            assert shown.splitlines()[2:] == ["'=1+1", "-0.5"]


def test_percent_is_for_fractions_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("captious.cli.formatting.look", lambda: Look(percent=True))
    assert (score(0.12345), score(0.5, "+.4f"), score(12.34, ".1f"), score(float("nan"))) == (
        "12.3",
        "+50.0",
        "12.3",
        "–",
    )
    monkeypatch.setattr("captious.cli.formatting.look", lambda: Look(digits=2))
    assert (score(0.12345), score(12.34, ".1f"), score(7, "d")) == ("0.12", "12.34", "7")


# --- below the table


def test_tables_say_what_they_are_of(tmp_path: Path) -> None:
    rows = json.loads(Path(demo_path("good")).read_text())[:50]
    (tmp_path / "part.json").write_text(json.dumps(rows))
    shown = run("score", REFS, str(tmp_path / "part.json"), "-m", "BLEU-1,ROUGE-L", "--subset", "--signature")
    assert "50 images, 5 references per image; 10 of 60 images left out (--subset)" in shown
    assert "ROUGE-L|beta:1.2|refs:50x5@" in shown
    quiet = run("score", REFS, str(tmp_path / "part.json"), "-m", "BLEU-1", "--subset", "--quiet")
    assert "left out" not in quiet and "BLEU-1" in quiet


def test_stars_only_where_numbers_can_be_compared(tmp_path: Path) -> None:
    good, poor = str(demo_path("good")), str(demo_path("poor"))
    run("score", REFS, good, "-m", "BLEU-1", "-o", str(tmp_path / "a.scores"))
    run("score", REFS, poor, "-m", "BLEU-1", "-o", str(tmp_path / "b.scores"))
    run("score", REFS, poor, "-m", "BLEU-1", "--tokenizer", "simple", "-o", str(tmp_path / "c.scores"))
    assert "*" in run("show", str(tmp_path / "a.scores"), str(tmp_path / "b.scores"))
    assert "*" not in run("show", str(tmp_path / "a.scores"), str(tmp_path / "c.scores"))


def test_no_star_where_all_are_equal(tmp_path: Path) -> None:
    shutil.copy(demo_path("good"), tmp_path / "again.json")
    shutil.copy(demo_path("sampling"), tmp_path / "again.jsonl")
    good, sampling = str(demo_path("good")), str(demo_path("sampling"))
    assert "*" not in run("score", REFS, good, str(tmp_path / "again.json"), "-m", "BLEU-1")
    assert "*" not in run("diversity", REFS, sampling, str(tmp_path / "again.jsonl"), "-m", "")
    assert "*" in run(
        "score",
        REFS,
        str(demo_path("good")),
        str(tmp_path / "again.json"),
        str(demo_path("poor")),
        "-m",
        "BLEU-1",
    )


def test_intervals_as_asked_for() -> None:
    words = (
        "score",
        REFS,
        str(demo_path("good")),
        "-m",
        "ROUGE-L",
        "--ci",
        "--signature",
        "--resamples",
        "200",
        "--seed",
        "7",
    )
    shown = run(*words, "--level", "0.9")
    assert "90 % intervals, 200 bootstrap resamples" in shown and "|ci:90%|bootstrap:200|seed:7" in shown
    found = json.loads(run(*words, "--level", "0.9", "--json", "-"))["systems"][0]["scores"]["ROUGE-L"]
    assert found["signature"].endswith("|ci:90%|bootstrap:200|seed:7")
    done = CliRunner().invoke(app, [*words, "--level", "0"])
    assert "level lies between" in str(done.exception)


# --- names of metrics


def test_names_that_other_tools_have() -> None:
    found = json.loads(
        run("score", REFS, str(demo_path("good")), "-m", "Bleu_4,ROUGE_L,bleu1,cider_d", "--json", "-")
    )
    assert list(found["systems"][0]["scores"]) == ["BLEU-4", "ROUGE-L", "BLEU-1", "CIDEr-D"]


def test_cider_by_name_hints_at_cider_d_once() -> None:
    import captious
    from captious.io import CaptionWarning
    from captious.metrics import registry as making

    making._hint_at_cider_d.cache_clear()
    with pytest.warns(CaptionWarning, match="CIDEr-D"):
        making.make_measures("cider", {})
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        making.make_measures("CIDEr", {})
        making._hint_at_cider_d.cache_clear()
        making.make_measures("CIDEr,CIDEr-D", {})
    scores = captious.score({1: ["a dog"], 2: ["a cat"]}, {1: "a dog", 2: "a cat"}, "Bleu_1")
    assert scores["Bleu_1"] is scores["BLEU-1"] and "bleu1" in scores and "Bleu_2" not in scores


def test_a_base_install_leaves_out_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from captious.io import CaptionWarning
    from captious.metrics.registry import make_measures

    monkeypatch.delenv("CAPTIOUS_METEOR_DATA", raising=False)
    monkeypatch.setattr("captious.text.meteor_data.installed_folder", lambda: None)
    with pytest.warns(CaptionWarning, match="left out METEOR"):
        made = [measure.name for measure in make_measures("coco", {})]
    assert "METEOR" not in made and "SPICE" in made


# --- help


def test_help_says_nothing_of_bool() -> None:
    for words in (["score", "-h"], ["df", "build", "--help"], ["--help"]):
        done = command.run(*words)
        assert "bool" not in done.stdout.casefold() and "Usage" in done.stdout
    assert "--install-completion" in done.stdout
