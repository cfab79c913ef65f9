"""Comparisons of many systems on the command line and in Python."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError
from captious.data import demo_path
from captious.results.comparison import best_systems, leaders
from captious.results.result_rows import COLUMNS
from captious.results.significance import Bootstrap

REFERENCES = demo_path("references")


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def nine(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Nine systems between good and poor, as captions."""
    folder = tmp_path_factory.mktemp("nine")
    good, poor = (json.loads(Path(demo_path(name)).read_text()) for name in ("good", "poor"))
    paths = []
    for k in range(9):
        generator = random.Random(k)
        rows = [a if generator.random() < (9 - k) / 9 else b for a, b in zip(good, poor)]
        paths.append(folder / f"s{k}.json")
        paths[-1].write_text(json.dumps(rows))
    return paths


WORDS = ("-m", "BLEU-1,ROUGE-L,CHAIRs", "--trials", 500, "--resamples", 50)


def test_many_systems_are_a_matrix_per_metric(nine: list[Path]) -> None:
    shown = run("compare", REFERENCES, *nine, *WORDS, "--trials", 4000)
    lines = [line for line in shown.splitlines() if line.startswith("│")]
    assert len(lines) == 9 + 3 * 9  # the standings, and a matrix for each metric; not 108 rows
    matrix = shown.split("BLEU-1: difference of row − column, * if significant")[1]
    first = next(line for line in matrix.splitlines() if line.startswith("│"))
    rows = captious.compare(
        *map(str, nine), references=REFERENCES, metrics="BLEU-1", trials=500, resamples=50
    )
    best = max(rows.scores, key=lambda scores: scores["BLEU-1"].value)
    assert first.split("│")[1].strip() == best.system
    assert f"{best['BLEU-1'].value:.4f}" in first and "*" in first and "-" not in first
    assert "smallest possible p: 0.00025 (4,000 trials), corrected 0.027; more --trials" in shown
    assert len(run("compare", REFERENCES, *nine, *WORDS, "--pairs").splitlines()) > 108
    summary = run("compare", REFERENCES, *nine, *WORDS, "--summary")
    assert sum(line.startswith("│") for line in summary.splitlines()) == 9 and "row − column" not in summary


def test_the_baseline_is_one_table(nine: list[Path]) -> None:
    shown = run("compare", REFERENCES, *nine[:4], *WORDS, "--baseline", "s0")
    assert "difference to s0, * if significant" in shown
    assert sum(line.startswith("│") for line in shown.splitlines()) == 4 + 3


def test_summary_and_pairs_exclude_each_other(nine: list[Path]) -> None:
    done = CliRunner().invoke(app, ["compare", str(REFERENCES), *map(str, nine[:2]), "--summary", "--pairs"])
    assert isinstance(done.exception, InputError) and "give one of them" in str(done.exception)


def test_csv_has_the_values_and_the_differences(nine: list[Path]) -> None:
    text = run("compare", REFERENCES, *nine[:3], *WORDS, "--format", "csv", "-q")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == COLUMNS and len(rows) == 3 * 3 + 3 * 3
    values = {(row["system"], row["metric"]): float(row["value"]) for row in rows if not row["other_system"]}
    for row in rows[9:]:
        system, other = row["system"], row["other_system"]
        expected = values[system, row["metric"]] - values[other, row["metric"]]
        assert float(row["value"]) == pytest.approx(expected)
        assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
        assert 0 < float(row["p"]) <= float(row["p_corrected"]) <= 1 and row["n"] == "60"
    exact = json.loads(run("compare", REFERENCES, *nine[:3], *WORDS, "--format", "json"))
    percent = json.loads(
        run("compare", REFERENCES, *nine[:3], *WORDS, "--format", "json", "--percent", "--digits", 2)
    )
    for a, b in zip(exact["metrics"], percent["metrics"]):
        assert b["difference"] == pytest.approx(100 * a["difference"], abs=0.0051)
        assert b["difference"] == round(b["difference"], 2) and a["p_corrected"] == b["p_corrected"]
    assert exact["p_floor"] == pytest.approx(1 / 501)


def test_frames_of_comparisons(nine: list[Path]) -> None:
    pytest.importorskip("pandas")
    rows = captious.compare(*nine[:3], references=REFERENCES, metrics="BLEU-1", trials=100, resamples=20)
    frame = rows.to_frame()
    assert tuple(frame.columns) == COLUMNS and len(frame) == 3
    assert frame["value"].tolist() == [row.difference for row in rows]
    assert (frame["system"] == [row.system_b for row in rows]).all()
    assert repr(rows).startswith("Comparisons(s0, s1, s2; BLEU-1: ")


def test_paths_without_references_are_refused(nine: list[Path]) -> None:
    for systems in ([str(nine[0]), str(nine[1])], nine[:2], [str(nine[0]), nine[1]]):
        with pytest.raises(InputError, match=r"s0.json has captions, which need references: compare\("):
            captious.compare(*systems)


def test_an_unknown_metric_lists_those_that_there_are() -> None:
    scores = captious.score(REFERENCES, demo_path("good"), "CIDEr-D,BLEU-4")
    with pytest.raises(KeyError) as caught:
        scores["CIDER"]
    message = str(caught.value)
    assert message == "good has no measure 'CIDER'; did you mean 'CIDEr-D'?; it has CIDEr-D, BLEU-4"
    assert scores.get("CIDER") is None and "CIDER" not in scores


def test_a_corpus_describes_itself() -> None:
    corpus = captious.load(REFERENCES, demo_path("good"))
    assert repr(corpus) == "Corpus('good', 60 images x 1 captions, 5 references, tokenizer ptb)"
    lines = str(corpus).splitlines()
    assert lines[0] == repr(corpus) and lines[1] == f"  1001, caption: {corpus.candidates.texts[0]}"
    assert lines[2] == f"  1001, reference: {corpus.references.texts[0]}" and len(lines) == 5
    alone = captious.load(None, {"1": ["a \x1b[2J dog", "x"]})
    assert "\x1b" not in str(alone) and "2 captions" in repr(alone) and "references" not in repr(alone)


# --- the mark of the best value


def test_a_small_lead_is_marked_only_without_intervals(nine: list[Path], tmp_path: Path) -> None:
    good = json.loads(Path(demo_path("good")).read_text())
    # One word of one caption differs, so the values differ, but not significantly.
    good[0]["caption"] += " umbrella"
    near = tmp_path / "near.json"
    near.write_text(json.dumps(good))
    words = ("score", REFERENCES, demo_path("good"), near, "-m", "BLEU-1")
    plain, tested = run(*words), run(*words, "--ci", "--resamples", 50)
    assert plain.count("*") == 2 and "*: the best value, which need not be significantly better" in plain
    assert "no *: no system is significantly better than every other" in tested and tested.count("*") == 1
    apart = run("score", REFERENCES, demo_path("good"), nine[8], "-m", "BLEU-1", "--ci", "--resamples", 50)
    assert "*: significantly better than every other system (paired test, Holm, p ≤ 0.05)" in apart
    assert apart.count("*") == 2
    markdown = run(*words, "--format", "markdown")
    assert "bold: the best value" in markdown and "*" not in markdown.replace("**", "")
    samples = captious.load(None, demo_path("sampling")).candidates
    groups = {image: list(samples.texts[10 * i : 10 * i + 10]) for i, image in enumerate(samples.ids)}
    same = tmp_path / "same.json"
    same.write_text(json.dumps({image: [texts[0]] * 10 for image, texts in groups.items()}))
    diversity = ("diversity", REFERENCES, demo_path("sampling"), same, "--accuracy", "")
    assert "*: the best value" in run(*diversity)
    assert "*: significantly better than" in run(*diversity, "--ci", "--resamples", 50)


def test_leaders_are_a_part_of_the_best(nine: list[Path]) -> None:
    systems = captious.score_systems(REFERENCES, nine, "BLEU-1,CHAIRs,ROUGE-L")
    best = best_systems(systems, ["BLEU-1", "CHAIRs", "ROUGE-L", "METEOR"])
    tested = leaders(systems, ["BLEU-1", "CHAIRs", "ROUGE-L"], bootstrap=Bootstrap(resamples=50))
    assert set(best) == {"BLEU-1", "CHAIRs", "ROUGE-L"}
    assert all(best[metric] == top for metric, top in tested.items())
    # A lead over the last is significant, one over all eight others may not be.
    assert set(leaders([systems[0], systems[8]], ["BLEU-1", "CHAIRs"])) == {"BLEU-1", "CHAIRs"}
    assert leaders(systems[:1], ["BLEU-1"]) == {}
