"""``captious score --group`` and ``--split`` on files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import captious
from captious.cli.app import app
from captious.data import demo_path

GOOD, POOR = str(demo_path("good")), str(demo_path("poor"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """References with domains, the same in the layout of Karpathy's files, and a table of categories."""
    folder = tmp_path_factory.mktemp("groups")
    references = json.loads(demo_path("references").read_text())
    for k, image in enumerate(references["images"]):
        image["domain"] = ("in-domain", "near-domain", "out-domain")[k % 3]
    (folder / "nocaps.json").write_text(json.dumps(references))
    images = [
        {
            "cocoid": image["id"],
            "split": ("test", "val", "restval")[k % 3],
            "sentences": [
                {"raw": row["caption"]} for row in references["annotations"] if row["image_id"] == image["id"]
            ],
        }
        for k, image in enumerate(references["images"])
    ]
    (folder / "dataset.json").write_text(json.dumps({"images": images}))
    chosen = {image["cocoid"] for image in images if image["split"] == "test"}
    rows = [row for row in json.loads(Path(GOOD).read_text()) if row["image_id"] in chosen]
    (folder / "test.json").write_text(json.dumps(rows))
    lines = [
        "image_id,category",
        *(f"{row['image_id']},{'even' if row['image_id'] % 2 == 0 else 'odd'}" for row in rows),
    ]
    (folder / "categories.csv").write_text("\n".join(lines))
    return folder


def run(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def test_a_table_for_each_group_and_macro_means(folder: Path) -> None:
    done = run(
        "score",
        folder / "nocaps.json",
        GOOD,
        POOR,
        "-m",
        "BLEU-4",
        "--group",
        "domain",
        "--ci",
        "-f",
        "markdown",
    )
    assert done.exit_code == 0, done.output
    titles = [line for line in done.stdout.splitlines() if "domain" in line or "macro mean" in line]
    assert [title.strip("*# ") for title in titles] == [
        "domain: in-domain (20 images)",
        "domain: near-domain (20 images)",
        "domain: out-domain (20 images)",
        "macro mean over 3 groups",
    ]
    assert done.stdout.count("| good |") == done.stdout.count("| poor |") == 5


def test_values_of_groups_are_those_of_python(folder: Path) -> None:
    done = run("score", folder / "nocaps.json", GOOD, "-m", "CIDEr-D", "--group", "domain", "-f", "csv")
    rows = {row["metric"]: float(row["value"]) for row in csv.DictReader(io.StringIO(done.stdout))}
    scores = captious.score(folder / "nocaps.json", GOOD, "CIDEr-D")
    grouped = captious.group_scores(scores, captious.read_groups(folder / "nocaps.json", "domain"), "domain")
    expected = {f"CIDEr-D ({name})": part["CIDEr-D"].value for name, part in grouped.groups.items()}
    expected |= {
        "CIDEr-D": scores["CIDEr-D"].value,
        "CIDEr-D (macro mean)": grouped.macro_mean("CIDEr-D").value,
    }
    assert rows == pytest.approx(expected)


def test_a_column_of_another_file(folder: Path) -> None:
    words = ["score", folder / "dataset.json", folder / "test.json", "-m", "BLEU-1", "--split", "test"]
    done = run(*words, "--group", "category", "--group-file", folder / "categories.csv", "--json", "-")
    assert done.exit_code == 0, done.output
    [system] = json.loads(done.stdout)["systems"]
    assert system["scores"]["BLEU-1"]["images"] == 20
    assert list(system["groups"]["groups"]) == ["even", "odd"]
    assert system["groups"]["macro_mean"]["BLEU-1"]["value"] > 0


def test_a_split_is_scored_like_its_images_alone(folder: Path) -> None:
    done = run(
        "score",
        folder / "dataset.json",
        folder / "test.json",
        "-m",
        "CIDEr-D",
        "--split",
        "test",
        "--json",
        "-",
    )
    alone = captious.score(demo_path("references"), folder / "test.json", "CIDEr-D", subset=True)["CIDEr-D"]
    assert json.loads(done.stdout)["systems"][0]["scores"]["CIDEr-D"]["value"] == pytest.approx(alone.value)


def test_prepared_references_of_a_split_serve_other_commands(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "test.prepared"
    assert (
        run("prepare", folder / "dataset.json", "--split", "test", "-m", "BLEU-1", "-o", target).exit_code
        == 0
    )
    done = run("score", target, folder / "test.json", "-m", "BLEU-1", "--json", "-")
    assert json.loads(done.stdout)["systems"][0]["scores"]["BLEU-1"]["images"] == 20


def test_groups_and_splits_are_refused_for_shards(folder: Path) -> None:
    words = ["score", GOOD, "--references", folder / "nocaps.json", "-m", "BLEU-1", "--dry-run"]
    done = run(*words, "--group", "domain", "--split", "test")
    assert "--split, --group are for files of predictions, not for shards" in str(done.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["nocaps.json", GOOD, "--group", "colour"],
            "nocaps.json has no column 'colour' (it has: 'id', 'domain', ",
        ),
        (
            ["nocaps.json", GOOD, "--group-file", "categories.csv"],
            "--group-file needs the name of the column",
        ),
        (["nocaps.json", GOOD, "--split", "test"], "nocaps.json has no column 'split'"),
        (["dataset.json", "test.json", "--split", "tset"], "did you mean 'test'"),
        (["dataset.json", GOOD, "--split", "test"], "40 of the 60 images"),
    ],
)
def test_mistakes_are_one_line(folder: Path, words: list[str], message: str) -> None:
    paths = [str(folder / word) if (folder / word).is_file() else word for word in words]
    done = run("score", *paths, "-m", "BLEU-1")
    assert isinstance(done.exception, captious.InputError), done.output
    assert message in str(done.exception) and "\n" not in str(done.exception)
