"""Values of images beside their captions: splits, domains, categories."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from captious.core.errors import InputError
from captious.io import read
from captious.io.image_columns import image_values, length_groups, of_split

COCO = {
    "images": [
        {"id": 1, "file_name": "a.jpg", "domain": "in-domain"},
        {"id": 2, "file_name": "b.jpg", "domain": "out-domain"},
        {"id": 3, "file_name": "c.jpg", "domain": None},
    ],
    "annotations": [
        {"id": 7, "image_id": 1, "caption": "a dog", "writer": 4},
        {"id": 8, "image_id": 1, "caption": "the dog", "writer": 5},
        {"id": 9, "image_id": 2, "caption": "a cat", "writer": 4},
        {"id": 10, "image_id": 3, "caption": "a bus", "writer": 4.0},
    ],
}
KARPATHY = {
    "images": [
        {"cocoid": 11, "filename": "x.jpg", "split": "val", "sentences": [{"raw": "a dog"}]},
        {"cocoid": 12, "filename": "y.jpg", "split": "test", "sentences": [{"raw": "a cat"}, {"raw": "cat"}]},
        {"cocoid": 13, "filename": "z.jpg", "split": "restval", "sentences": [{"raw": "a bus"}]},
        {"cocoid": 14, "filename": "w.jpg", "split": "test", "sentences": [{"raw": "a car"}]},
    ]
}
ROWS = [
    {"image_id": 1, "caption": "a dog", "category": ["dog", "grass"], "split": "val"},
    {"image_id": 2, "caption": "a cat", "category": "cat", "split": "test"},
    {"image_id": 3, "caption": "a bus", "category": [], "split": "test"},
]


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_columns_of_coco_files(tmp_path: Path) -> None:
    path = write(tmp_path / "coco.json", COCO)
    assert image_values(path, "domain") == {"1": ("in-domain",), "2": ("out-domain",), "3": ()}
    assert image_values(COCO, "file_name")["2"] == ("b.jpg",)
    # Rows of captions: an image has the values of all its rows, once each.
    assert image_values(path, "writer") == {"1": ("4", "5"), "2": ("4",), "3": ("4",)}


def test_columns_of_rows_lines_and_tables(tmp_path: Path) -> None:
    expected = {"1": ("dog", "grass"), "2": ("cat",), "3": ()}
    assert image_values(ROWS, "category") == expected
    assert image_values(write(tmp_path / "rows.json", ROWS), "category") == expected
    lines = tmp_path / "rows.jsonl.gz"
    lines.write_bytes(gzip.compress("\n".join(map(json.dumps, ROWS)).encode()))
    assert image_values(lines, "category") == expected
    table = tmp_path / "rows.csv"
    table.write_text("image_id,caption,domain\n1,a dog,in\n2,a cat,out\n3,a bus,\n")
    assert image_values(table, "domain") == {"1": ("in",), "2": ("out",), "3": ()}
    frame = pytest.importorskip("pandas").DataFrame(ROWS)
    assert image_values(frame, "split") == {"1": ("val",), "2": ("test",), "3": ("test",)}
    assert image_values(write(tmp_path / "map.json", {"1": "dog", "2": ["cat", 3]}), "any") == {
        "1": ("dog",),
        "2": ("cat", "3"),
    }


@pytest.mark.parametrize("source", [COCO, ROWS, KARPATHY], ids=["coco", "rows", "karpathy"])
def test_a_missing_column_is_named_with_those_that_exist(source: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "refs.json", source)
    with pytest.raises(InputError, match=r"refs\.json has no column 'colour' \(it has: .*(caption|split)"):
        image_values(path, "colour")


def test_values_that_are_no_groups_are_refused() -> None:
    with pytest.raises(InputError, match=r"row 1: 'box' is an object with the keys 'x'"):
        image_values([{"image_id": 1, "caption": "a", "box": {"x": 1}}], "box")
    with pytest.raises(InputError, match="no image has a value of 'box'"):
        image_values([{"image_id": 1, "caption": "a", "box": None}], "box")


def test_splits_of_karpathys_files(tmp_path: Path) -> None:
    path = write(tmp_path / "dataset.json", KARPATHY)
    file = read(path, "references")
    test = of_split(file, path, ["test"])
    assert test.ids == ["12", "14"] and [list(group) for group in test.captions] == [
        ["a cat", "cat"],
        ["a car"],
    ]
    assert of_split(file, path, ["val", "restval"]).ids == ["11", "13"]
    message = (
        r"no images of the split 'tset'; did you mean 'test'\?; its splits are restval \(1\), test \(2\), val"
    )
    with pytest.raises(InputError, match=message):
        of_split(file, path, ["tset"])


def test_splits_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    chosen = of_split(read(path, "references"), path, ["test"])
    assert chosen.ids == ["2", "3"] and [list(group) for group in chosen.captions] == [["a cat"], ["a bus"]]


def test_lengths_divide_images_into_thirds() -> None:
    images = {str(n): ["word " * n, "word " * (n + 2)] for n in range(1, 10)}
    groups = length_groups(images)
    names = list(dict.fromkeys(names[0] for names in groups.values()))
    assert names == ["0 to 4.7 words", "4.7 to 7.3 words", "over 7.3 words"]
    assert [sum(names == (name,) for names in groups.values()) for name in names] == [3, 3, 3]
