"""Images for captioners from every kind of file, and refused files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious import InputError
from captious.generate.captioner.image_features import read_images


def test_objects_become_columns(tmp_path: Path) -> None:
    path = tmp_path / "o.jsonl"
    path.write_text(
        '{"image_id": 1, "objects": ["dog", "cat"]}\n{"image_id": 2, "objects": []}\n'
        '{"image_id": 3, "objects": ["dog"]}\n'
    )
    images = read_images(path)
    assert images.ids == ("1", "2", "3") and images.classes == ("cat", "dog") and images.boxes is None
    assert images.one_each().tolist() == [[1, 1], [0, 0], [0, 1]]
    assert images.take(["3", "1"]).one_each().tolist() == [[0, 1], [1, 1]]
    assert read_images(path, classes=("cat", "dog", "owl")).width == 3
    with pytest.raises(InputError, match="knows no object called dog"):
        read_images(path, classes=("cat",))
    with pytest.raises(InputError, match="no features for 1 of 2 images: 9"):
        images.take(["1", "9"])


def test_instances_have_boxes(tmp_path: Path) -> None:
    instances = {
        "images": [{"id": 7, "width": 100, "height": 50}, {"id": 8, "width": 10, "height": 10}],
        "categories": [{"id": 1, "name": "dog"}, {"id": 5, "name": "cat"}],
        "annotations": [
            {"image_id": 7, "category_id": 5, "bbox": [10, 5, 20, 10]},
            {"image_id": 7, "category_id": 5, "bbox": [50, 5, 50, 25]},
        ],
    }
    path = tmp_path / "instances.json"
    path.write_text(json.dumps(instances))
    images = read_images(path)
    assert images.ids == ("7", "8") and images.offsets.tolist() == [0, 2, 2]
    assert images.boxes is not None and np.allclose(
        images.boxes, [[0.1, 0.1, 0.2, 0.2], [0.5, 0.1, 0.5, 0.5]]
    )
    assert images.one_each().tolist() == [[1], [0]]
    path.write_text(json.dumps({**instances, "annotations": [{"image_id": 7}]}))
    with pytest.raises(InputError, match="COCO instances need"):
        read_images(path)


def _save(kind: str, path: Path, arrays: dict[str, Any]) -> None:
    if kind == "npz":
        np.savez(path, **arrays)
    elif kind == "safetensors":
        pytest.importorskip("safetensors.numpy").save_file(arrays, str(path))
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            for name, array in arrays.items():
                file[name] = array


@pytest.mark.parametrize("kind", ["npz", "safetensors", "h5"])
def test_features_with_ids(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(3, 2, 4)).astype(np.float32)
    path = tmp_path / f"f.{kind}"
    _save(kind, path, {"features": features, "ids": np.array([5, 6, 7])})
    images = read_images(path)
    assert images.ids == ("5", "6", "7") and images.width == 4 and not images.classes
    assert np.allclose(images.one_each(), features.mean(1))
    _save(kind, path, {"5": features[0], "6": features[1, :1]})
    images = read_images(path)
    assert images.ids == ("5", "6") and images.offsets.tolist() == [0, 2, 3]
    _save(kind, path, {"5/features": features[0], "5/boxes": np.full((2, 4), 0.5, np.float32)})
    if kind != "npz":  # whose names are files
        boxed = read_images(path)
        assert boxed.ids == ("5",) and boxed.boxes is not None and boxed.boxes.shape == (2, 4)


def test_bare_arrays_need_ids(tmp_path: Path) -> None:
    path, ids = tmp_path / "f.npy", tmp_path / "ids.txt"
    np.save(path, np.ones((2, 3), np.float32))
    ids.write_text("a\nb\n")
    assert read_images(path, ids).ids == ("a", "b")
    with pytest.raises(InputError, match="the rows have no image ids"):
        read_images(path)
    ids.write_text("a\n")
    with pytest.raises(InputError, match="2 rows of features and 1 ids"):
        read_images(path, ids)
    ids.write_text("a\na\n")
    with pytest.raises(InputError, match="duplicate image ids: a"):
        read_images(path, ids)
    np.save(path, np.array([[1.0, np.nan], [0, 0]]))
    ids.write_text("a\nb\n")
    with pytest.raises(InputError, match="image a have values that are no numbers"):
        read_images(path, ids)
    np.save(path, np.array(["x"], object), allow_pickle=True)
    with pytest.raises(InputError, match="not a NumPy array file"):
        read_images(path, ids)
    with pytest.raises(InputError, match="trained on objects"):
        read_images(path, ids, classes=("dog",))
    with pytest.raises(InputError, match="this is neither"):
        read_images(tmp_path / "f.txt")
    for name in ("f.safetensors", "f.h5", "f.npz"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        with pytest.raises(InputError):
            read_images(tmp_path / name)


def test_ids_may_be_names_and_objects_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "f.npz"
    np.savez(path, ids=np.array(["a.jpg", "ü"]), features=np.eye(2))
    assert read_images(path).ids == ("a.jpg", "ü")
    np.savez(path, ids=np.array([None, {}], dtype=object), features=np.eye(2))
    with pytest.raises(InputError, match="damaged"):
        read_images(path)
    instances = {
        "images": [{"id": 7}, {"id": 8}],
        "categories": [{"id": 1, "name": "dog"}, {"id": 2, "name": "cat"}],
    }
    rows = [
        {"image_id": 7, "category_id": 1},
        {"image_id": 7, "category_id": 1},
        {"image_id": 8, "category_id": 2},
    ]
    (tmp_path / "i.json").write_text(json.dumps({**instances, "annotations": rows}))
    images = read_images(tmp_path / "i.json")
    assert images.counted().tolist() == [[0, 2], [1, 0]] and images.one_each().tolist() == [[0, 1], [1, 0]]


def test_features_in_a_table(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "f.parquet"
    parquet.write_table(pyarrow.table({"image_id": [5, 6], "features": [[1.0, 2.0], [3.0, 4.0]]}), path)
    images = read_images(path)
    assert images.ids == ("5", "6") and images.counted().tolist() == [[1, 2], [3, 4]]
    for columns, message in (
        ({"image_id": [5, 6], "features": [[1.0, 2.0], [3.0]]}, "image 6 are not a list of 2 numbers"),
        ({"image_id": [5], "features": [[float("nan")]]}, "no numbers"),
        ({"image_id": [5], "features": ["x"]}, "not a list of 0 numbers"),
        ({"image_id": [5], "other": [1]}, "a column of ids"),
        ({"image_id": [5, 5], "features": [[1.0], [2.0]]}, "duplicate image ids"),
    ):
        parquet.write_table(pyarrow.table(columns), path)
        with pytest.raises(InputError, match=message):
            read_images(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="the Parquet file is damaged"):
        read_images(path)
