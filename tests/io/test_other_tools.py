"""Files of other tools and data sets, and objects of other libraries."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from captious.core.errors import InputError
from captious.io import CaptionWarning, align, columns, read
from captious.io.id_matching import plain_id
from tests.command import run_bytes


def found(source: Any, role: str = "references", **options: Any) -> dict[str, list[str]]:
    file = read(source, role, **options)  # type: ignore[arg-type]
    return dict(zip(file.ids, map(list, file.captions)))


def test_karpathy(tmp_path: Path) -> None:
    path = tmp_path / "dataset_coco.json"
    sentences = [
        {"tokens": ["a", "dog"], "raw": "A dog.", "imgid": 0, "sentid": 770337},
        {"raw": "One dog, running."},
    ]
    images = [
        {
            "filename": "COCO_val2014_000000391895.jpg",
            "imgid": 0,
            "split": "test",
            "cocoid": 391895,
            "sentences": sentences,
        },
        {
            "filename": "COCO_val2014_000000000042.jpg",
            "imgid": 1,
            "split": "val",
            "cocoid": 42,
            "sentences": [{"raw": "A cat."}],
        },
    ]
    path.write_text(json.dumps({"images": images, "dataset": "coco"}))
    assert found(path) == {"391895": ["A dog.", "One dog, running."], "42": ["A cat."]}
    for image in images:
        del image["cocoid"]
    path.write_text(json.dumps({"images": images, "dataset": "flickr30k"}))
    assert list(found(path)) == ["COCO_val2014_000000391895.jpg", "COCO_val2014_000000000042.jpg"]
    with pytest.raises(InputError, match="references first"):
        read(path, "predictions")
    path.write_text(json.dumps({"images": [{"sentences": [{"raw": "A cat."}]}]}))
    with pytest.raises(InputError, match="image 1: expected 'filename'"):
        read(path, "references")


def test_flickr_token(tmp_path: Path) -> None:
    path = tmp_path / "results_20130124.token"
    path.write_text(
        "1000092795.jpg#0\tTwo young, White males .\n1000092795.jpg#1\tTwo "
        '"guys"\there\n\n10002456.jpg#0\tWorkers .\n'
    )
    assert found(path) == {
        "1000092795.jpg": ["Two young, White males .", 'Two "guys"\there'],
        "10002456.jpg": ["Workers ."],
    }
    path.write_text("1000092795.jpg#0\tTwo men\nno number\n")
    with pytest.raises(InputError, match="line 2: expected 'image#number'"):
        read(path, "references")


def test_flickr30k_with_bars(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(
        'image_name| comment_number| comment\n1.jpg| 0| Two guys , "hair" | long .\n1.jpg| 1| Two men '
        ".\n2.jpg| 4   A dog runs .\n"
    )
    assert found(path) == {"1.jpg": ['Two guys , "hair" | long .', "Two men ."], "2.jpg": ["A dog runs ."]}


def test_captions_with_commas_that_are_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    path.write_text(
        'image,caption\n1.jpg,A child in pink , on stairs .\n1.jpg,"Quoted, with ""marks"""\n2.jpg,He says '
        '"hi" , twice\n'
    )
    with pytest.warns(CaptionWarning, match="2 captions hold ',' without being quoted"):
        assert found(path) == {
            "1.jpg": ["A child in pink , on stairs .", 'Quoted, with "marks"'],
            "2.jpg": ['He says "hi" , twice'],
        }


@pytest.mark.parametrize(
    "name",
    ["image_name,comment", "filename,text", "file_name,sentence", "cocoid,raw", "Image_Path,Description"],
)
def test_common_names(name: str, tmp_path: Path) -> None:
    path = tmp_path / "captions.csv"
    path.write_text(f"{name}\n1,a dog\n2,a cat\n")
    assert found(path) == {"1": ["a dog"], "2": ["a cat"]}


def test_named_columns(tmp_path: Path) -> None:
    path = tmp_path / "captions.csv"
    path.write_text("picture,caption,what it shows\n1,no,a dog\n2,no,a cat\n")
    expected = {"1": ["a dog"], "2": ["a cat"]}
    assert found(path, caption_column="What it shows", id_column="picture") == expected
    rows = [
        {"picture": 1, "caption": "no", "says": "a dog"},
        {"picture": 2, "caption": "no", "says": "a cat"},
    ]
    with columns(caption=["what it shows", "says"], id="picture"):
        assert found(path) == expected
        assert found(rows) == expected
    with pytest.raises(InputError, match=r"no caption \('said'\); found: 'picture'"):
        read(path, "references", caption_column="said", id_column="picture")


def test_names_of_coco_files_match_numbers() -> None:
    assert (
        plain_id("COCO_val2014_000000000042.jpg")
        == plain_id("val2017/000000000042.jpg")
        == plain_id("42")
        == "42"
    )
    assert plain_id("1000092795.jpg") == "1000092795"
    assert plain_id("sub/a.b.png") == "a.b"
    references = {42: ["a dog"], 7: ["a cat"]}
    predictions = {"COCO_val2014_000000000007.jpg": "one cat", "COCO_val2014_000000000042.jpg": "one dog"}
    aligned = align(read(references, "references"), read(predictions, "predictions"))
    assert (aligned.ids, list(aligned.candidates)) == (["42", "7"], [["one dog"], ["one cat"]])
    aligned = align(
        read(dict.fromkeys(predictions, "a"), "references"), read({42: "x", 7: "y"}, "predictions")
    )
    assert list(aligned.candidates) == [["y"], ["x"]]
    # Ids are not shortened if two files would become one image.
    twins = {"train/1.jpg": "a", "val/1.jpg": "b"}
    with pytest.raises(InputError, match="no image in common"):
        align(read(references, "references"), read(twins, "predictions"))


def test_parallel_lists() -> None:
    aligned = align(
        read([["a dog", "one dog"], ["a cat"]], "references"), read(["dog", "cat"], "predictions")
    )
    assert list(aligned.candidates) == [["dog"], ["cat"]]
    with pytest.raises(InputError, match="2 images have references and 1 have predictions"):
        align(read([["a dog"], ["a cat"]], "references"), read(["dog"], "predictions"))
    with pytest.raises(InputError, match="without ids, and the other side has ids"):
        align(read({"0": ["a dog"]}, "references"), read(["dog"], "predictions"))


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"image_id": [1, 2], "captions": [["a dog", "one dog"], ["a cat"]]})
    assert found(frame) == {"1": ["a dog", "one dog"], "2": ["a cat"]}
    assert found(frame.lazy().collect()) == found(frame)


def test_hugging_face_data_sets() -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict(
        {"filename": ["1.jpg", "2.jpg"], "caption": [["a dog", "one dog"], ["a cat"]]}
    )
    assert found(data) == {"1.jpg": ["a dog", "one dog"], "2.jpg": ["a cat"]}
    with pytest.raises(InputError, match=r"parts 'test'.*dataset\['test'\]"):
        read(datasets.DatasetDict({"test": data}), "references")


def test_standard_input_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from captious.io import content

    monkeypatch.setattr(content, "_standard_taken", False)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"1": "a dog"}')))
    file = read("-", "predictions")
    assert (file.label, list(file.captions)) == ("standard input", [["a dog"]])
    with pytest.raises(InputError, match=r"standard input .* can be read only once"):
        read("-", "references")


def command(*arguments: str | Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return run_bytes(*arguments, stdin=given)


def test_a_dash_is_standard_input_and_output(tmp_path: Path) -> None:
    from captious.data import demo_path

    references, good = demo_path("references"), demo_path("good")
    saved = command("score", references, "-", "-m", "BLEU-1", "-o", "-", given=Path(good).read_bytes())
    assert saved.returncode == 0, saved.stderr
    shown = command("show", "-", "--json", "-", given=saved.stdout)
    assert 0 < json.loads(shown.stdout)["systems"][0]["scores"]["BLEU-1"]["value"] < 1
    table = command("df", "build", "-", "-o", "-", given=Path(references).read_bytes())
    assert b"images" in table.stderr
    again = command("df", "show", "-", given=table.stdout)
    assert b"60 images" in again.stdout, again.stderr
    prepared = command("prepare", "-", "-m", "BLEU-1", "-o", "-", given=Path(references).read_bytes())
    scored = command("score", "-", good, "-m", "BLEU-1", "--per-image", "-", given=prepared.stdout)
    assert scored.stdout.startswith(b"system,image_id,BLEU-1"), scored.stderr
    assert not Path("-").exists()


def test_columns_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "refs.csv").write_text("picture,said\n1,a dog runs\n2,a cat sleeps\n")
    (tmp_path / "pred.csv").write_text("picture,guess\n1,a dog sits\n2,a cat sits\n")
    done = command(
        "score", tmp_path / "refs.csv", tmp_path / "pred.csv", "-m", "BLEU-1", "--json", "-",
        "--id-column", "picture", "--caption-column", "said,guess",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["systems"][0]["scores"]["BLEU-1"]["value"] == pytest.approx(
        4 / 6, abs=1e-6
    )
