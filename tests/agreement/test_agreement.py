"""The command, and published figures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from captious.agreement import agreement, compare_metrics, load_judgements, measure
from captious.agreement.study import Study
from captious.cli.app import app
from captious.core.errors import InputError

RUNNER = CliRunner()


def run(*given: object) -> str:
    done = RUNNER.invoke(app, ["agreement", *map(str, given)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_the_command_prints_a_table_and_writes_files(small: Path, tmp_path: Path) -> None:
    data, table = tmp_path / "out.json", tmp_path / "out.md"
    shown = run(small, "-m", "ROUGE-L,BLEU-1", "--json", data)
    assert "Flickr8k-Expert (tau-c)" in shown and "Flickr8k-CF (tau-b)" in shown
    rows = json.loads(data.read_text(encoding="utf-8"))["agreement"]
    assert [(row["metric"], row["judgements"]) for row in rows] == [
        ("ROUGE-L", "Flickr8k-Expert"),
        ("BLEU-1", "Flickr8k-Expert"),
        ("ROUGE-L", "Flickr8k-CF"),
        ("BLEU-1", "Flickr8k-CF"),
    ]
    assert (
        run("flickr8k-cf-all", "--data", small, "-m", "ROUGE-L", "--format", "markdown", "--output", table)
        == ""
    )
    text = table.read_text(encoding="utf-8")
    assert "**Flickr8k-CF-all: agreement × 100; 5 rows of 3 images**" in text and "- `ROUGE-L|" in text
    for message, arguments in (
        ("neither a file or folder nor a set known by name", ["flickr8k-crowd"]),
        ("unknown format 'xml'", [small, "--format", "xml"]),
        ("unknown curve 'size'", [small, "--curves", "size"]),
        ("'METEOR' was not measured", [small, "-m", "BLEU-1", "--compare", "METEOR"]),
    ):
        with pytest.raises(InputError, match=message):
            run(*arguments)


def test_everything_the_command_can_say(many: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plots, out = tmp_path / "plots", tmp_path / "all.json"
    shown = run(
        many,
        "-m",
        "ROUGE-L,BLEU-1,BLEU-4",
        "--ci",
        "--compare",
        "rouge-l,bleu-4",
        "--curves",
        "references,length,level",
        "--relations",
        "--plots",
        plots,
        "--json",
        out,
        "--resamples",
        40,
    )
    for part in (
        "differences between metrics",
        "by references",
        "by words in the caption",
        "by rated",
        "Metrics with each other",
        "pairs of metrics",
    ):
        assert part in shown
    data = json.loads(out.read_text(encoding="utf-8"))
    assert all(row["interval"][0] <= row["value"] <= row["interval"][1] for row in data["agreement"])
    (test,) = data["comparisons"]
    assert (test["a"], test["b"]) == ("ROUGE-L", "BLEU-4") and test["better"] in (None, "ROUGE-L", "BLEU-4")
    assert {curve["axis"] for curve in data["curves"]} == {"references", "words in the caption", "rated"}
    assert len(data["pairs"]) == 3 and len(data["correlations"][0]["matrix"]) == 3
    drawn = {path.name for path in plots.iterdir()}
    assert {
        "agreement_mine.png",
        "agreement_mine_by_references.png",
        "agreement_correlations_over_captions_of_mine.svg",
    } <= drawn
    (row,) = csv.DictReader(io.StringIO(run(many, "-m", "ROUGE-L", "--format", "csv")))
    assert (row["system"], row["metric"]) == ("ROUGE-L", "mine tau-c") and -1 < float(row["value"]) < 1
    over = json.loads(
        run(
            many,
            "-m",
            "ROUGE-L,BLEU-1",
            "--unit",
            "system",
            "--coefficient",
            "pearson",
            "--ci",
            "--format",
            "json",
        )
    )["agreement"]
    assert over[0]["rows"] == 3 and over[0]["level"] == "system"


def test_whole_systems_from_files(tmp_path: Path) -> None:
    row = {"M1": 0.1, "M2": 0.2, "M3": 3, "M4": 2, "M5": 0.1, "c5": {"CIDEr": 0.9}}
    teams = [{"team": name, **row, "M1": k / 10} for k, name in enumerate(["Alpha", "Beta 2", "Gamma"])]
    (tmp_path / "challenge2015.jsonl").write_text(
        "".join(json.dumps(t) + "\n" for t in teams), encoding="utf-8"
    )
    (tmp_path / "refs.json").write_text(json.dumps({"1": ["a dog runs"], "2": ["two men"]}), encoding="utf-8")
    folder = tmp_path / "said"
    folder.mkdir()
    for name, texts in (
        ("alpha", ["a cow", "a bus"]),
        ("beta_2", ["a dog", "a man"]),
        ("gamma", ["a dog runs", "two men sit"]),
    ):
        (folder / f"{name}.json").write_text(json.dumps(dict(zip("12", texts))), encoding="utf-8")
    arguments = [f"coco-2015={tmp_path}", "-m", "ROUGE-L,BLEU-1", "--systems", folder]
    data = json.loads(run(*arguments, "--references", tmp_path / "refs.json", "--format", "json"))[
        "agreement"
    ]
    assert (
        data[0]["metric"] == "ROUGE-L"
        and data[0]["part"] == "M1"
        and data[0]["rows"] == 3
        and data[0]["value"] > 0.9
    )
    with pytest.raises(InputError, match="--references"):
        run(*arguments)


@pytest.mark.shared
def test_the_published_figures_of_flickr8k_expert(shared_data: Path) -> None:
    names = {"BLEU-1": 32.324, "BLEU-4": 30.776, "ROUGE-L": 32.314, "METEOR": 41.822, "CIDEr-D": 43.891}
    study = Study.of(load_judgements("flickr8k-expert", shared_data), [*names, "SPICE"])
    agreements = {item.metric: item for item in agreement(study, ci=True, resamples=200)}
    assert agreements["BLEU-4"].rows == 16_992 and agreements["BLEU-4"].units == 1_000
    for name, value in names.items():
        assert 100 * agreements[name].value == pytest.approx(value, abs=6e-4)
    # Java SPICE has 44.888. The difference comes from our parser.
    assert 100 * agreements["SPICE"].value == pytest.approx(44.6, abs=0.3)
    interval = agreements["CIDEr-D"].interval
    assert interval is not None and interval[0] < 0.439 < interval[1] and interval[1] - interval[0] < 0.06
    verdicts = {
        (c.a, c.b): c.better
        for c in compare_metrics(study.whole, ["BLEU-4", "CIDEr-D", "SPICE"], resamples=200)
    }
    assert verdicts == {
        ("BLEU-4", "CIDEr-D"): "CIDEr-D",
        ("BLEU-4", "SPICE"): "SPICE",
        ("CIDEr-D", "SPICE"): None,
    }


@pytest.mark.shared
def test_word_vectors_agree_better_than_n_grams(shared_data: Path) -> None:
    study = Study.of(load_judgements("flickr8k-expert", shared_data), "WEmbSim,MOWE,WMD")
    agreements = {item.metric: 100 * item.value for item in measure(study.whole)}
    # Values measured here, see docs/results/agreement.md.
    assert agreements == pytest.approx({"WEmbSim": 51.8, "MOWE": 49.8, "WMD": 46.2}, abs=0.3)


@pytest.mark.shared
def test_pascal_as_wang_et_al(shared_data: Path) -> None:
    """Wang et al. (2020), Table 2, with fifty references; ours is a sample of their pairs, so intervals
    decide.
    """
    published = {
        "ROUGE-L": (0.7783, 0.732),
        "METEOR": (0.7900, 0.710),
        "SPICE": (0.8255, 0.749),
        "SPICE-U": (0.8258, 0.767),
    }
    study = Study.of(load_judgements("pascal-50s", shared_data), list(published))
    agreements = {(item.metric, item.part, item.coefficient): item for item in agreement(study, ci=True)}
    for metric, (accuracy, pearson) in published.items():
        for value, coefficient in ((accuracy, "accuracy"), (pearson, "pearson")):
            interval = agreements[metric, "", coefficient].interval
            assert interval is not None and interval[0] - 0.01 < value < interval[1] + 0.01
    assert (
        agreements["SPICE", "HI", "accuracy"].value > 0.97
        and agreements["SPICE", "HC", "accuracy"].rows == 100
    )


@pytest.mark.shared
def test_thumb_as_published(shared_data: Path) -> None:
    """Scores published with the set correlate as printed: CLIP-S above all lexical metrics."""
    study = Study.of(load_judgements("thumb", shared_data), "ROUGE-L", published=True)
    agreements = {item.metric: item for item in measure(study.whole)}
    assert agreements["RefCLIPS (as published)"].undefined == 500 and agreements["ROUGE-L"].undefined == 0
    assert (
        agreements["RefCLIPS (as published)"].value
        > agreements["CIDEr (as published)"].value
        > agreements["SentBLEU (as published)"].value
    )
