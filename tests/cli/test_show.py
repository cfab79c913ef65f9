"""Saved scores on the command line: shown, compared and merged without scoring again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.data import demo_path

NAMES = ["good", "generic", "poor"]
REFERENCES = str(demo_path("references"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems scored into a folder."""
    made = tmp_path_factory.mktemp("scores")
    done = run(
        "score",
        REFERENCES,
        *(demo_path(name) for name in NAMES),
        "-m",
        "BLEU-4,CIDEr-D,CHAIRs",
        "-o",
        made / "all",
    )
    assert done[0] == 0, done
    return made / "all"


def run(*arguments: Any) -> tuple[int, str, str]:
    """Code, output, message."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    message = str(done.exception) if isinstance(done.exception, captious.CaptiousError) else done.stderr
    if done.exception is not None and not isinstance(done.exception, captious.CaptiousError | SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, message


def rows_of(table: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in table.splitlines()
        if line.startswith("│")
    ]


def test_several_systems_make_a_folder_with_a_file_each(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir())
    found = [captious.load_scores(path) for path in folder.iterdir()]
    assert len(names) == 3
    assert all(
        name == f"{scores.system}.scores"
        for name, scores in zip(names, sorted(found, key=lambda s: s.system))
    )
    assert list(found[0]) == ["BLEU-4", "CIDEr-D", "CHAIRs"]


def test_one_system_makes_a_file(tmp_path: Path) -> None:
    assert (
        run(
            "score", REFERENCES, demo_path("good"), "-m", "BLEU-4", "-o", tmp_path / "x.scores", "--no-texts"
        )[0]
        == 0
    )
    found = captious.load_scores(tmp_path / "x.scores")
    assert found.captions is not None
    assert found.captions.texts is None
    assert list(tmp_path.iterdir()) == [tmp_path / "x.scores"]


def test_show_prints_what_score_printed(folder: Path) -> None:
    files = [next(folder.glob(f"*{name}*")) for name in NAMES]
    for extra in ([], ["--ci"]):
        _, fresh, _ = run(
            "score", REFERENCES, *(demo_path(name) for name in NAMES), "-m", "BLEU-4,CIDEr-D,CHAIRs", *extra
        )
        code, shown, _ = run("show", *files, *extra)
        assert code == 0
        assert shown == fresh
    assert "*" in shown


def test_show_signatures_json_and_images(folder: Path, tmp_path: Path) -> None:
    file = next(folder.glob("*good*"))
    _, shown, _ = run("show", file, "-m", "cider-d", "--signature", "--per-image", tmp_path / "x.csv")
    signature = captious.load_scores(file)["CIDEr-D"].signature
    assert signature in shown.splitlines()
    assert "BLEU" not in shown
    assert len(list(csv.DictReader((tmp_path / "x.csv").open()))) == 60
    _, out, _ = run("show", file, "--json", "-", "--ci")
    score = json.loads(out)["systems"][0]["scores"]["CIDEr-D"]
    assert score["signature"].startswith(signature)
    assert score["interval"][0] < score["value"] < score["interval"][1]
    assert "per_image" not in score
    run("show", file, "--per-image", tmp_path / "x.json", "--percent", "--digits", 3)
    images = json.loads((tmp_path / "x.json").read_text())["systems"][0]["scores"]["CIDEr-D"]["per_image"]
    exact = captious.load_scores(file)["CIDEr-D"].per_image
    assert images == {image: pytest.approx(100 * value, abs=5e-4) for image, value in exact.items()}
    assert all(value == round(value, 3) for value in images.values())


def test_numbers_made_differently_are_shown_but_none_is_the_best(folder: Path, tmp_path: Path) -> None:
    run(
        "score",
        REFERENCES,
        demo_path("poor"),
        "-m",
        "BLEU-4,ROUGE-L",
        "--tokenizer",
        "simple",
        "-o",
        tmp_path / "x.scores",
    )
    _, shown, _ = run("show", next(folder.glob("*good*")), tmp_path / "x.scores", "--signature")
    rows = rows_of(shown)
    assert rows[0][-1] == rows[1][2] == "–"
    assert "*" not in "".join(rows[0][1:2] + rows[1][1:2])
    assert len([line for line in shown.splitlines() if "BLEU-4|" in line]) == 2


def test_compare_saved_scores_without_references(folder: Path) -> None:
    files = [next(folder.glob(f"*{name}*")) for name in NAMES]
    code, shown, _ = run("compare", *files, "--trials", "2000", "-m", "CIDEr-D")
    assert code == 0
    assert [row[0] for row in rows_of(shown)[:3]] == [captious.load_scores(file).system for file in files]
    assert "(2/2)" in rows_of(shown)[0][1]
    assert "corrected for 3 comparisons (3 pairs × 1 metric); ahead: at most 0.05" in " ".join(shown.split())
    fresh = run(
        "compare", REFERENCES, *(demo_path(name) for name in NAMES), "--trials", "2000", "-m", "CIDEr-D"
    )[1]
    assert fresh == shown
    mixed = run("compare", REFERENCES, demo_path("good"), *files[1:], "--trials", "2000", "-m", "CIDEr-D")[1]
    assert mixed == shown


def test_compare_two_shows_a_dash_where_nothing_is_certain(folder: Path, tmp_path: Path) -> None:
    file = next(folder.glob("*good*"))
    _, shown, _ = run("compare", file, file, "--trials", "200", "--json", tmp_path / "x.json")
    assert {row[-1] for row in rows_of(shown)} == {"–"}
    described = json.loads((tmp_path / "x.json").read_text())
    assert described["b"] == f"{described['a']} (2)"
    assert {row["ahead"] for row in described["metrics"]} == {None}
    assert "references" not in described


def test_compare_with_a_baseline(folder: Path) -> None:
    files = [next(folder.glob(f"*{name}*")) for name in NAMES]
    by_name = run(
        "compare",
        *files,
        "--baseline",
        captious.load_scores(files[2]).system,
        "--trials",
        "500",
        "--json",
        "-",
    )
    by_file = run("compare", *files, "--baseline", files[2], "--trials", "500", "--json", "-")
    assert by_name[0] == 0
    assert by_name[1] == by_file[1]
    assert json.loads(by_name[1])["family"] == 2 * 3


def test_parts_are_scored_merged_and_equal_the_whole(tmp_path: Path) -> None:
    whole = captious.io.read(demo_path("good"), "predictions")
    for k in range(2):
        rows = [{"image_id": i, "caption": c[0]} for i, c in zip(whole.ids[k::2], whole.captions[k::2])]
        (tmp_path / f"{k}.json").write_text(json.dumps(rows))
        assert (
            run(
                "score",
                REFERENCES,
                tmp_path / f"{k}.json",
                "--part",
                "-m",
                "lexical",
                "-o",
                tmp_path / f"{k}.scores",
            )[0]
            == 0
        )
    run("score", REFERENCES, demo_path("good"), "-m", "lexical", "-o", tmp_path / "whole.scores")
    name = captious.load_scores(tmp_path / "whole.scores").system
    done = run(
        "merge", tmp_path / "1.scores", tmp_path / "0.scores", "-o", tmp_path / "all.scores", "--name", name
    )
    assert done[0] == 0, done
    assert "60 images from 2 parts" in done[1]
    assert (tmp_path / "all.scores").read_bytes() == (tmp_path / "whole.scores").read_bytes()
    code, _, message = run(
        "merge", tmp_path / "0.scores", tmp_path / "whole.scores", "-o", tmp_path / "no.scores"
    )
    assert code != 0
    assert "share images" in message
    assert not (tmp_path / "no.scores").exists()


def test_diversity_is_saved_with_people(tmp_path: Path) -> None:
    done = run("diversity", REFERENCES, demo_path("sampling"), "-o", tmp_path / "sets")
    assert done[0] == 0, done
    files = {captious.load_scores(path).system: path for path in (tmp_path / "sets").iterdir()}
    assert len(files) == 2
    people = captious.load_scores(files["human"])
    assert {"Self-CIDEr", "F-measure", "oracle CIDEr-D"} <= set(people)
    code, shown, _ = run("show", *files.values(), "-m", "Self-CIDEr,F-measure,mean CIDEr-D")
    assert code == 0
    assert f"{people['F-measure'].value:.4f}" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "missing.scores"], "missing.scores"),
        (["show", REFERENCES], "not a file of scores"),
        (["compare", "GOOD"], "a comparison needs two systems"),
        (["compare", "GOOD", REFERENCES], "need references"),
        (["compare", "GOOD", "GOOD", "--subset"], "are for captions"),
        (["compare", "GOOD", "GOOD", "--baseline", "x"], "not among the systems"),
        (["score", REFERENCES, REFERENCES, REFERENCES, "-o", "x.scores"], "give a folder"),
        (["score", REFERENCES, REFERENCES, "--part", "--subset"], "give one of them"),
        (["score", REFERENCES, REFERENCES, "-o", "combine=max"], "--option combine=max"),
    ],
)
def test_mistakes(folder: Path, arguments: list[str], message: str) -> None:
    good = str(next(folder.glob("*good*")))
    code, out, said = run(*(good if argument == "GOOD" else argument for argument in arguments))
    assert code != 0
    assert out == ""
    assert message in said
