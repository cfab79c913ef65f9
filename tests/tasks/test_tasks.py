"""Named tasks and the diagnosis of numbers that do not match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError
from captious.data import demo_path
from captious.io import CaptionWarning, read
from captious.metrics import registry
from captious.tasks import cut_off_share, diagnose, load_task, parse_published, run_task, task_names


def captions(name: str, role: Any) -> dict[str, list[str]]:
    file = read(demo_path(name), role)
    return dict(zip(file.ids, map(list, file.captions)))


def write_task(folder: Path, **changes: Any) -> Path:
    path = folder / "mine.json"
    task = {
        "name": "mine",
        "about": "a task of ours",
        "references": {"path": "refs.json"},
        "metrics": ["BLEU-1"],
    }
    path.write_text(json.dumps(task | changes))
    (folder / "refs.json").write_bytes(demo_path("references").read_bytes())
    return path


@pytest.mark.parametrize("name", task_names())
def test_shipped_tasks_are_sound(name: str) -> None:
    task = load_task(name)
    assert task.name == name and task.about and task.what
    known = set(registry.names())
    assert set(task.metrics) <= known
    for row in task.published:
        assert row.source and set(row.scores) <= known


def test_a_task_of_our_own(tmp_path: Path) -> None:
    done = run_task(write_task(tmp_path), [demo_path("good")])
    wanted = captious.score(demo_path("references"), demo_path("good"), "BLEU-1")["BLEU-1"]
    assert done.scores[0]["BLEU-1"].value == wanted.value
    digest = captious.prepare(demo_path("references"), "BLEU-1").captions.digest
    same = write_task(tmp_path, references={"path": "refs.json", "digest": digest, "images": 60})
    assert run_task(same, [demo_path("good")]).scores[0]["BLEU-1"].value == wanted.value
    with pytest.raises(InputError, match=rf"have the digest {digest}, those of the task 'mine' 0000"):
        run_task(
            write_task(tmp_path, references={"path": "refs.json", "digest": "0000"}), [demo_path("good")]
        )
    with pytest.warns(CaptionWarning, match="60 images, and the task 'mine' has 5,000"):
        run_task(write_task(tmp_path, references={"path": "refs.json", "images": 5000}), [demo_path("good")])
    # A file that holds the split alone has no column of splits.
    alone = write_task(tmp_path, references={"path": "refs.json", "split": "test"})
    assert run_task(alone, [demo_path("good")]).scores[0]["BLEU-1"].value == wanted.value


def test_groups_and_splits(tmp_path: Path) -> None:
    refs, good = captions("references", "references"), captions("good", "predictions")
    rows = [
        {
            "id": image,
            "references": texts,
            "split": "test" if i < 20 else "train",
            "domain": "in" if i % 2 else "out",
        }
        for i, (image, texts) in enumerate(refs.items())
    ]
    path = tmp_path / "refs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = write_task(tmp_path, references={"split": "test", "what": "refs.jsonl"}, group="domain")
    chosen = {row["id"]: good[row["id"]][0] for row in rows[:20]}
    done = run_task(task, [chosen], path)
    wanted = captious.score({row["id"]: row["references"] for row in rows[:20]}, chosen, "BLEU-1")[
        "BLEU-1"
    ].value
    assert done.scores[0]["BLEU-1"].value == wanted and len(done.groups) == 1
    with pytest.raises(InputError, match=r"needs its references: give --references FILE \(refs.jsonl\)"):
        run_task(task, [chosen])
    # 'why' finds the wrong split
    published = {"BLEU-1": 100 * wanted}
    nearest = diagnose(path, good, published, "train")[0]
    assert nearest.name == "split 'test'" and nearest.distance < 1e-9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": []}, "unknown key 'metric'; did you mean 'metrics'"),
        ({"metrics": []}, "'metrics' is a list of names"),
        ({"references": {"images": "many"}}, "'images' is the text"),
        ({"references": {"file": "x"}}, "unknown key 'file'"),
        ({"references": []}, None),
        ({"references": {"split": 3}}, "'split' of the references is the number 3"),
        ({"name": 3}, "'name' is the number 3"),
        ({"group": 3}, "'group' is the number 3"),
        ({"published": [{"scores": {"BLEU-1": "x"}}]}, "each entry of 'published'"),
    ],
)
def test_task_files_that_are_refused(changes: dict[str, Any], message: str | None, tmp_path: Path) -> None:
    path = write_task(tmp_path, **changes)
    if message is None:
        assert load_task(path).path is None
        return
    with pytest.raises(InputError, match=message):
        load_task(path)


def test_names_of_tasks() -> None:
    with pytest.raises(InputError, match="did you mean 'coco-karpathy-test'"):
        load_task("coco-karpathy-tes")


def test_published_scores() -> None:
    assert parse_published("CIDEr 131.2 BLEU-4 39.1") == {"CIDEr-D": 131.2, "BLEU-4": 39.1}
    assert parse_published("CIDEr: 1.312, b@4=0.391") == pytest.approx({"CIDEr-D": 131.2, "BLEU-4": 39.1})
    with pytest.raises(InputError, match="published scores are written"):
        parse_published("good")


def changed(kind: str) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, float], str]:
    """Return references, captions, the values of another evaluation, and the name of that evaluation."""
    refs, good = captions("references", "references"), captions("good", "predictions")

    def value(r: Any, p: Any, metric: str = "CIDEr-D", **options: Any) -> dict[str, float]:
        return {"CIDEr-D": 100 * captious.score(r, p, metric, **options)[metric].value}

    few = dict(list(good.items())[:50])
    said = {image: [f"The image shows {texts[0]}. It is nice."] for image, texts in good.items()}
    return {
        "given": (refs, good, value(refs, good), "as given"),
        "raw": (refs, good, value(refs, good, tokenizer="raw"), "captions not tokenized"),
        "plain": (refs, good, value(refs, good, "CIDEr"), "CIDEr without clipping and length penalty, not CIDEr-D"),
        "missing": (refs, few, value(refs, {i: few.get(i, [""]) for i in refs}), "10 missing images as empty captions"),
        "frequencies": (refs, few, value(refs, few, part=True), "document frequencies of all references, not of the scored images"),
        "references": (refs, good, value({i: t[:1] for i, t in refs.items()}, good), "only 1 reference per image"),
        "openings": (refs, {i: [f"The image shows {t[0]}"] for i, t in good.items()}, value(refs, good), "openings such as 'The image shows' removed"),
        "sentence": (refs, said, value(refs, {i: [t[0].partition(" It is")[0]] for i, t in said.items()}), "first sentence only"),
    }[kind]  # fmt: skip


@pytest.mark.filterwarnings("ignore::captious.io.CaptionWarning")
@pytest.mark.parametrize(
    "kind", ["given", "raw", "plain", "missing", "frequencies", "references", "openings", "sentence"]
)
def test_why_finds_the_difference(kind: str) -> None:
    refs, said, published, name = changed(kind)
    nearest = diagnose(refs, said, published)[0]
    assert (nearest.name, nearest.distance) == (name, pytest.approx(0, abs=1e-9))


def test_captions_that_were_cut_off() -> None:
    said = {1: "The image shows a dog, which runs on a", 2: "A cat sits on a mat. It", 3: "Two men talk."}
    assert cut_off_share(said) == pytest.approx(2 / 3)
    assert cut_off_share({1: "a dog runs", 2: "a cat"}) == 0


def test_commands(tmp_path: Path) -> None:
    run = CliRunner()
    assert "nocaps-val" in run.invoke(app, ["task"], catch_exceptions=False).stdout
    assert "Cornia" in run.invoke(app, ["task", "coco-karpathy-test"], catch_exceptions=False).stdout
    task, good = str(write_task(tmp_path)), str(demo_path("good"))
    done = json.loads(run.invoke(app, ["task", task, good, "--json", "-"], catch_exceptions=False).stdout)
    assert done["task"] == "mine" and done["systems"][0]["scores"]["BLEU-1"]["value"] > 0.8
    done = run.invoke(
        app, ["why", good, "--published", "BLEU-1 89.3", "--task", task], catch_exceptions=False
    )
    assert "nearest: as given" in done.stdout
    with pytest.raises(InputError, match="references are missing"):
        run.invoke(app, ["why", good, "--published", "BLEU-1 89.3"], catch_exceptions=False)
