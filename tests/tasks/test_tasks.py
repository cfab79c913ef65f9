"""Named tasks and the diagnosis of numbers that do not match."""

from __future__ import annotations

import json
import random
from dataclasses import replace
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
from captious.tasks import diagnose, load_task, run_task, task_names


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
    # A file of one split has no column of splits.
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


def test_groups_that_are_scored_alone(tmp_path: Path) -> None:
    refs, good = captions("references", "references"), captions("good", "predictions")
    domain = {image: "in" if i % 2 else "out" for i, image in enumerate(refs)}
    source = {
        "images": [{"id": image, "domain": domain[image]} for image in refs],
        "annotations": [{"image_id": i, "caption": text} for i, texts in refs.items() for text in texts],
    }
    results = {}
    for alone in (True, False):
        task = write_task(tmp_path, references={}, metrics=["CIDEr-D"], group="domain", group_alone=alone)
        (grouped,) = run_task(task, [good], source).groups
        assert grouped.alone is alone
        results[alone] = {name: scores["CIDEr-D"].value for name, scores in grouped.groups.items()}
    own = {
        name: captious.score(
            {i: t for i, t in refs.items() if domain[i] == name},
            {i: t for i, t in good.items() if domain[i] == name}, "CIDEr-D",
        )["CIDEr-D"].value
        for name in ("in", "out")
    }  # fmt: skip
    assert results[True] == own
    assert all(results[False][name] != own[name] for name in own)


def test_rules_of_ids_and_columns_of_references(tmp_path: Path) -> None:
    refs, good = captions("references", "references"), captions("good", "predictions")
    source = [{"key": f"set_a/{int(i):012}", "GT_x": t[0], "GT_y": t[1]} for i, t in refs.items()]
    said = {f"photo-{image}.jpeg": texts for image, texts in good.items()}
    named = {"id_column": "key", "caption_column": "GT_*"}
    with pytest.raises(InputError, match="no image in common"):
        run_task(write_task(tmp_path, references=named), [said], source)
    done = run_task(write_task(tmp_path, references=named | {"ids": "number"}), [said], source)
    wanted = captious.score({i: t[:2] for i, t in refs.items()}, good, "BLEU-1")["BLEU-1"].value
    assert done.scores[0]["BLEU-1"].value == wanted
    with pytest.raises(InputError, match="unknown rule of ids 'numbr'; did you mean 'number'"):
        load_task(write_task(tmp_path, references={"ids": "numbr"}))


def test_youcook2_chooses_the_segments_of_its_validation_videos(tmp_path: Path) -> None:
    database = {
        f"v{n}": {
            "subset": "validation" if n < 2 else "training",
            "annotations": [{"sentence": "cut the onion"}],
        }
        for n in range(3)
    }
    said = {"results": {f"v{n}": [{"sentence": "cut an onion", "timestamp": [0, 1]}] for n in range(2)}}
    path = tmp_path / "youcook.json"
    path.write_text(json.dumps({"database": database}))
    done = run_task("youcook2-val", [said], path)
    assert done.scores[0]["BLEU-1"].ids == ("v0#0", "v1#0")


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
        ({"group_alone": 3}, "'group_alone' is the number 3"),
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


@pytest.mark.parametrize("name", ["msr-vtt-test", "msvd-test", "vatex-val"])
def test_video_tasks_with_many_references(name: str, tmp_path: Path) -> None:
    """Video data sets have 10, 20 or more references, some of them different numbers."""
    counts = {"msr-vtt-test": [20, 20, 20], "msvd-test": [81, 18, 41], "vatex-val": [10, 10, 10]}[name]
    videos = {f"vid{1301 + i}": captions_of(count, i) for i, count in enumerate(counts)}
    path = tmp_path / ("refs.txt" if name == "msvd-test" else "refs.json")
    if name == "msvd-test":
        path.write_text("".join(f"{video}\t{text}\n" for video, own in videos.items() for text in own))
    elif name == "vatex-val":
        path.write_text(
            json.dumps([{"videoID": video, "enCap": own, "chCap": ["狗"]} for video, own in videos.items()])
        )
    else:
        rows = [{"video_id": video, "caption": text} for video, own in videos.items() for text in own]
        rows += [{"video_id": "video1", "caption": "a video of the training split"}]
        splits = [{"video_id": video, "split": "test"} for video in videos]
        splits += [{"video_id": "video1", "split": "train"}]
        path.write_text(json.dumps({"videos": splits, "sentences": rows}))
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"video_id": video, "caption": own[-1]} for video, own in videos.items()]))
    task = replace(load_task(name), images=3)
    scores = run_task(task, [results], path).scores[0]
    # The caption is the last reference: all references are used, however many there are.
    assert scores["BLEU-4"].value == pytest.approx(1) and scores["ROUGE-L"].value == pytest.approx(1)
    plain = captious.score(videos, {video: own[-1] for video, own in videos.items()}, list(task.metrics))
    assert {one: score.value for one, score in scores.items()} == {
        one: score.value for one, score in plain.items()
    }


def captions_of(count: int, seed: int) -> list[str]:
    words = ["a", "man", "dog", "cat", "rides", "runs", "sits", "on", "the", "red", "bike", "park", "two"]
    draw = random.Random(seed)
    return [" ".join(draw.choices(words, k=draw.randint(5, 12))) for _ in range(count)]


def test_names_of_tasks() -> None:
    with pytest.raises(InputError, match="did you mean 'coco-karpathy-test'"):
        load_task("coco-karpathy-tes")


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
    assert "as given: your captions give the published numbers" in done.stdout
    digest = captious.prepare(demo_path("references"), "BLEU-1").captions.digest
    refs = str(tmp_path / "refs.json")
    done = run.invoke(app, ["task", task, "--references", refs], catch_exceptions=False)
    assert f"60 images, digest {digest}" in done.output
    with pytest.raises(InputError, match="references are missing"):
        run.invoke(app, ["why", good, "--published", "BLEU-1 89.3"], catch_exceptions=False)
