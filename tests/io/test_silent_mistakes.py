"""Input that was once misread without a message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import captious
from captious import compat
from captious.core.errors import InputError
from captious.io import CaptionWarning, read
from captious.io.caption_files import printed_list


def found(source: Any, role: str = "references", **options: Any) -> dict[str, list[str]]:
    file = read(source, role, **options)  # type: ignore[arg-type]
    return dict(zip(file.ids, map(list, file.captions)))


@pytest.mark.parametrize("caption", [None, 7, float("nan"), ["a dog"]])
def test_a_caption_that_is_no_text_is_not_a_word(caption: object) -> None:
    with pytest.raises(InputError, match="image 42: the caption is"):
        compat.PTBTokenizer().tokenize({42: [{"caption": caption}]})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="image 42: the caption is the text 'a dog'"):
        compat.PTBTokenizer().tokenize({42: ["a dog"]})  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("['a dog', 'a cat']", ["a dog", "a cat"]),
        ('["a dog\'s toy", \'a "red" cat\']', ["a dog's toy", 'a "red" cat']),
        ('["a d\\u00f6g"]', ["a dög"]),
        (r"['it\'s', 'two\nlines']", ["it's", "two\nlines"]),
        ("['a dog'\n 'a cat']", ["a dog", "a cat"]),  # NumPy prints no commas
        ("['a dog',]", ["a dog"]),
        ("['', 'a cat']", ["", "a cat"]),
        ("[a dog]", None),
        ("['a dog'] runs", None),
        ("[]", None),
        ("[1, 2]", None),
        ("['a dog' and 'a cat']", None),
        (r"['\x']", None),
    ],
)
def test_printed_lists(text: str, items: list[str] | None) -> None:
    assert printed_list(text) == items


def test_printed_lists_are_lists_in_every_format(tmp_path: Path) -> None:
    cells = {"1": "['a dog runs', \"a dog's run\"]", "2": "['a cat']", "3": "one bird"}
    wanted = {"1": ["a dog runs", "a dog's run"], "2": ["a cat"], "3": ["one bird"]}
    rows = [{"id": key, "answer": text} for key, text in cells.items()]
    files = {
        "rows.json": json.dumps(rows),
        "rows.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "dict.json": json.dumps(cells),
        "table.tsv": "id\tanswer\n" + "".join(f"{key}\t{text}\n" for key, text in cells.items()),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
        assert found(tmp_path / name) == wanted, name
    assert found(cells) == wanted
    (tmp_path / "references.csv").write_text("id,references\n1,\"['a dog', 'a cat']\"\n")
    assert found(tmp_path / "references.csv") == {"1": ["a dog", "a cat"]}


def test_a_caption_in_brackets_stays_a_caption(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"image_id": 1, "caption": "[UNK] dog"}, {"image_id": 2, "caption": "[]"}]))
    assert found(path, "predictions") == {"1": ["[UNK] dog"], "2": ["[]"]}


def test_numbered_columns_are_all_taken(tmp_path: Path) -> None:
    path = tmp_path / "clotho.csv"
    path.write_text(
        "file_name,caption_1,caption_2,caption_10\nrain.wav,it rains,rain falls,water\nbird.wav,a bird,,\n"
    )
    wanted = {"rain.wav": ["it rains", "rain falls", "water"], "bird.wav": ["a bird"]}
    assert found(path) == wanted
    assert found(path, caption_column="caption_2,caption_1,caption_10") == wanted
    assert found(path, caption_column="caption_*") == wanted
    assert found(path, caption_column="caption_1,caption_2") == {
        "rain.wav": ["it rains", "rain falls"],
        "bird.wav": ["a bird"],
    }
    rows = [{"id": 1, "ref1": "a dog", "ref2": "one dog"}, {"id": 2, "ref1": "a cat", "ref2": None}]
    assert found(rows) == {"1": ["a dog", "one dog"], "2": ["a cat"]}
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    assert found(tmp_path / "rows.json") == found(rows)
    pandas = pytest.importorskip("pandas")
    assert found(pandas.DataFrame(rows)) == found(rows)
    # Other names keep their meaning: the first that exists.
    assert found([{"id": 1, "said": "a", "guess": "b"}], caption_column="guess,said") == {"1": ["b"]}


def vizwiz(**marks: object) -> dict[str, Any]:
    texts = ["a can of soup", "Quality issues are too severe to recognize visual content.", "soup"]
    rows = [{"image_id": 1, "id": i, "caption": text, "is_rejected": False, "is_precanned": i == 1}
            for i, text in enumerate(texts)]  # fmt: skip
    rows.append(
        {"image_id": 2, "id": 3, "caption": "a keyboard", "is_rejected": False, "is_precanned": False}
    )
    rows.append({"image_id": 2, "id": 4, "caption": "spam", "is_rejected": True, "is_precanned": False})
    rows.append({"image_id": 3, "id": 5, "caption": "Too dark.", "is_rejected": False, "is_precanned": True})
    return {"images": [{"id": i} for i in (1, 2, 3)], "annotations": rows}


def test_rejected_and_precanned_captions_of_vizwiz_are_no_references(tmp_path: Path) -> None:
    path = tmp_path / "val.json"
    path.write_text(json.dumps(vizwiz()))
    for source in (path, vizwiz()):
        with pytest.warns(CaptionWarning, match=r"3 of 6 captions .* 1 images have no other reference \(3\)"):
            assert found(source) == {"1": ["a can of soup", "soup"], "2": ["a keyboard"]}
    nothing = vizwiz()
    for row in nothing["annotations"]:
        row["is_rejected"] = True
    with pytest.raises(InputError, match="all captions are marked"):
        read(nothing, "references")


def test_a_table_of_answers_and_predictions_scores_as_its_lists_do(tmp_path: Path) -> None:
    lists = {"0": ["a dog runs", "the dog is running"], "1": ["a cat sits", "one cat"]}
    said = {"0": "a dog is running", "1": "a cat"}
    path = tmp_path / "model_COCO_VAL.tsv"
    path.write_text("index\tanswer\tprediction\n" + "".join(f"{i}\t{lists[i]}\t{said[i]}\n" for i in lists))
    wanted = captious.score(lists, said, "BLEU-1")["BLEU-1"].value
    got = captious.score(read(path, "references", id_column="index"), said, "BLEU-1")["BLEU-1"].value
    assert got == wanted
