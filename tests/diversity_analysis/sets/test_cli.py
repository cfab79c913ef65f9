"""``captious diversity`` on files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError
from captious.data import demo_path
from captious.diversity_analysis.sets import measure_diversity
from captious.io import CaptionWarning
from tests import command

REFERENCES, SAMPLES, GOOD = (str(demo_path(name)) for name in ("references", "sampling", "good"))


def run(*arguments: str) -> str:
    result = CliRunner().invoke(
        app, ["diversity", *arguments, "--tokenizer", "simple"], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def table(text: str) -> dict[str, list[str]]:
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in text.splitlines()
        if line.startswith("│")
    ]
    return {row[0]: row[1:] for row in rows}


def test_table_has_a_column_for_each_system_and_for_people() -> None:
    out = run(REFERENCES, SAMPLES, GOOD, "--training", GOOD)
    rows = table(out)
    assert "sampling (10)" in out and "good (1)" in out and "human (5)" in out
    sampling, good, people = rows["Self-CIDEr"]
    # Sets of ten and of one do not compare: no star.
    assert 0.9 < float(sampling) < 1 and good == "0.0000" and 0.9 < float(people) < 1
    assert float(rows["Novel"][1].rstrip("*")) == 0.0
    assert not any(cell.endswith("*") for cell in rows["mean CIDEr-D"]) and "F-measure" in rows
    assert rows["1-mBLEU-4"][2] == "1.0000"


def test_json_holds_everything(tmp_path: Path) -> None:
    scores = {
        "sampling": {str(i): float(i % 7) for i in range(1001, 1061)},
        "good": {str(i): float(i % 3) for i in range(1001, 1061)},
    }
    (tmp_path / "human.json").write_text(json.dumps(scores))
    out = run(
        REFERENCES,
        SAMPLES,
        GOOD,
        "--json",
        "-",
        "--best",
        "--ci",
        "--metrics",
        "ROUGE-L,CIDEr-D",
        "--kernel",
        "cider-d",
        "--human-scores",
        str(tmp_path / "human.json"),
        "--per-image",
        str(tmp_path / "out.csv"),
    )
    data: dict[str, Any] = json.loads(out)
    system = data["systems"][0]
    assert system["captions"] == 600 and system["images"] == 60
    self_cider = system["scores"]["Self-CIDEr"]
    assert "kernel:CIDEr-D" in self_cider["signature"] and "per_image" not in self_cider
    assert self_cider["interval"][0] < self_cider["value"] < self_cider["interval"][1]
    assert {"mean ROUGE-L", "oracle CIDEr-D"} <= set(system["scores"])
    assert "acc:mean ROUGE-L" in system["scores"]["F-measure"]["signature"]
    assert "leave-one-out" in data["human"]["scores"]["mean CIDEr-D"]["signature"]
    assert [row["m"] for row in data["best"]["sampling"]] == [2, 5, 8, 10]
    assert {row["measure"] for row in data["agreement"]} >= {"Self-CIDEr", "LSA", "1-mBLEU-mix"}
    # With two systems no image has enough of them to rank.
    assert data["agreement"][0]["sets"] == 120 and data["agreement"][0]["per_image_spearman"] is None
    with (tmp_path / "out.csv").open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 180
    means: dict[str, list[float]] = {row["system"]: [] for row in rows}
    for row in rows:
        means[row["system"]].append(float(row["Self-CIDEr"]))
    assert sum(means["sampling"]) / 60 == pytest.approx(self_cider["value"])


def test_document_frequencies_from_a_file(tmp_path: Path) -> None:
    import captious
    from captious.io.frequency_files import save_frequencies

    corpus = captious.load(REFERENCES, SAMPLES, tokenizer="simple")
    table = captious.FrequencyTable.build(corpus.references)
    save_frequencies(table, tmp_path / "df.npz")
    data = json.loads(run(REFERENCES, SAMPLES, "--df", str(tmp_path / "df.npz"), "--json", "-"))
    assert f"|df:table@{table.digest}|" in data["systems"][0]["scores"]["Self-CIDEr"]["signature"]
    own = json.loads(run(REFERENCES, SAMPLES, "--json", "-"))
    assert own["systems"][0]["scores"]["Self-CIDEr"]["value"] == pytest.approx(
        data["systems"][0]["scores"]["Self-CIDEr"]["value"]
    )


def test_figures(tmp_path: Path) -> None:
    out = run(
        REFERENCES, SAMPLES, GOOD, "--plots", str(tmp_path / "plots"), "--image", "1003", "--image", "1004"
    )
    names = ["plane", "best_m", "word_frequencies", "latent_lsa", "latent_self_cider", "map"]
    names += ["plane_lsa", "best_m_lsa", "f_measure", "vocabulary", "measures", "ranking"]
    found = {path.name: path for path in (tmp_path / "plots").iterdir()}
    assert set(found) == {f"diversity_{name}.{ending}" for name in names for ending in ("png", "pdf", "svg")}
    assert f"12 figures (36 files) in {tmp_path / 'plots'}" in out
    for path in found.values():
        content = path.read_bytes()
        assert len(content) > 5000
        start = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}[path.suffix]
        assert content.startswith(start)
    # Text stays text: it can be searched.
    assert "1003" in found["diversity_map.svg"].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kernel", "cidr"], "unknown kernel 'cidr'"),
        (["--metrics", "CIDRE"], "unknown metric 'CIDRE'"),
        (["--beta2", "0"], "β² must be positive"),
        (["--human-scores", "list.json"], "expected"),
        (["--human-scores", "text.json"], "is 'much', not a number"),
        (["--human-scores", "missing.json"], "there is no such file"),
        (["--plots", "list.json"], "it is a file; name a folder"),
        (["--plots", "plots", "--image", "7"], "no image '7'"),
        (["--df", "text.json"], "df build"),
    ],
)
def test_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "text.json").write_text('{"sampling": {"1001": "much"}}')
    with pytest.raises(InputError, match=message):
        run(REFERENCES, SAMPLES, *arguments, "--json", "out.json")
    assert not (tmp_path / "out.json").exists()
    assert not (tmp_path / "plots").exists()


def test_a_mistake_is_one_line_and_exit_code_2() -> None:
    done = command.run("diversity", REFERENCES, "missing.json")
    assert done.returncode == 2
    assert done.stderr.startswith("captious: ") and len(done.stderr.splitlines()) == 1


def test_one_caption_per_image_is_refused() -> None:
    result = CliRunner().invoke(app, ["diversity", REFERENCES, GOOD], catch_exceptions=True)
    assert isinstance(result.exception, InputError)
    assert "good: every image has one caption" in str(result.exception)
    assert "pass several captions per image" in str(result.exception)


def test_one_caption_per_image_beside_sets_is_a_warning() -> None:
    with pytest.warns(CaptionWarning, match="good: every image has one caption.* 0 by definition"):
        measure_diversity(REFERENCES, [SAMPLES, GOOD], tokenizer="simple")
    with pytest.warns(CaptionWarning, match="captions: every image has one caption"):
        captious.diversity({"1": "a dog", "2": "a cat"}, df=None)


def test_people_are_a_judged_set(tmp_path: Path) -> None:
    images = [str(i) for i in range(1001, 1061)]
    scores = {
        "sampling": {image: float(k % 7) for k, image in enumerate(images)},
        "human": {image: float(k % 5) for k, image in enumerate(images)},
    }
    (tmp_path / "judged.json").write_text(json.dumps(scores))
    words = (REFERENCES, SAMPLES, "-m", "", "--human-scores", str(tmp_path / "judged.json"), "--json", "-")
    assert {row["sets"] for row in json.loads(run(*words))["agreement"]} == {120}
    (tmp_path / "judged.json").write_text(json.dumps({"humans": scores["human"]}))
    with pytest.raises(
        InputError, match=r"not measured: humans; did you mean 'human'\? \(measured: human, sampling\)"
    ):
        run(*words)
