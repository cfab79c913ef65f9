"""Features of whole photographs and of random crops."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from captious.core.errors import InputError
from tests.generate.test_commands import SMALL, refused, rows, run
from tests.generate.world import write

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
Image = pytest.importorskip("PIL.Image")

from captious.generate.captioner import captioner_checkpoint as checkpoint  # noqa: E402
from captious.generate.captioner.caption_sets import CaptionPlan, generate, generate_from_crops  # noqa: E402
from captious.generate.captioner.image_source import Photographs  # noqa: E402

COLOURS = {"red": (220, 20, 20), "green": (20, 200, 30), "blue": (20, 40, 210), "white": (240, 240, 240)}
MEAN, SPREAD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def network(path: Path) -> Path:
    """A small ONNX network: six rectified colour filters. The reader averages its map."""
    filters = np.concatenate([np.eye(3), -np.eye(3)]).astype(np.float32).reshape(6, 3, 1, 1)
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Conv", ["pixels", "filters"], ["sums"]),
            onnx.helper.make_node("Relu", ["sums"], ["map"]),
        ],
        "colours",
        [onnx.helper.make_tensor_value_info("pixels", onnx.TensorProto.FLOAT, ["n", 3, 16, 16])],
        [onnx.helper.make_tensor_value_info("map", onnx.TensorProto.FLOAT, ["n", 6, 16, 16])],
        [onnx.numpy_helper.from_array(filters, "filters")],
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    made.ir_version = 9
    onnx.save(made, str(path))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photographs of two colours side by side, captions, a network, and a captioner trained on its features."""
    home = tmp_path_factory.mktemp("photographs")
    (home / "pictures").mkdir()
    names, random, captions = list(COLOURS), np.random.default_rng(1), []
    for i in range(40):
        left, right = (names[k] for k in random.choice(len(names), 2, replace=False))
        pixels = np.zeros((24, 32, 3), np.uint8)
        pixels[:, :16], pixels[:, 16:] = COLOURS[left], COLOURS[right]
        Image.fromarray(pixels).save(home / "pictures" / f"{i}.png")
        captions.append(
            {"image_id": str(i), "captions": [f"a {left} and a {right} half", f"{left} beside {right}"]}
        )
    (home / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in captions))
    network(home / "net.onnx")
    run(
        "train",
        "captioner",
        home / "pictures",
        home / "captions.jsonl",
        "--backbone",
        home / "net.onnx",
        "-o",
        home / "m.safetensors",
        *SMALL,
        "--steps",
        "80",
    )
    return home


def test_what_is_seen_is_what_is_there(folder: Path) -> None:
    photographs = Photographs(folder / "pictures", folder / "net.onnx")
    assert photographs.ids == sorted(map(str, range(40)))
    pixels = np.asarray(Image.open(folder / "pictures" / "7.png"), np.float64) / 255
    plain = (pixels - MEAN) / SPREAD
    expected = np.concatenate([np.maximum(plain, 0).mean((0, 1)), np.maximum(-plain, 0).mean((0, 1))])
    assert np.allclose(photographs.images(["7"]).vectors[0], expected, atol=0.05)


def test_crops_are_parts_of_the_picture(folder: Path) -> None:
    photographs = Photographs(folder / "pictures", folder / "net.onnx")
    crops = photographs.crops(["3", "5"], 6, keep=0.2, seed=3)
    assert len(crops) == 12 and crops.ids[0] == "3 0" and crops.ids[-1] == "5 5"
    whole = photographs.images(["3", "5"]).vectors
    # A crop of a fifth of the picture has mostly one colour, the left or the right one; a crop of all of it has
    # both.
    assert len(np.unique(crops.vectors[:6].round(2), axis=0)) > 2
    assert np.allclose(photographs.crops(["3"], 2, keep=1.0, seed=3).vectors, whole[:1], atol=1e-6)
    assert np.array_equal(crops.vectors, photographs.crops(["3", "5"], 6, keep=0.2, seed=3).vectors)
    assert not np.array_equal(crops.vectors, photographs.crops(["3", "5"], 6, keep=0.2, seed=4).vectors)


def test_captions_of_crops(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "crops.jsonl"
    common = ["--backbone", folder / "net.onnx", "-m", 4]
    run(
        "generate",
        folder / "m.safetensors",
        folder / "pictures",
        "-o",
        out,
        "--how",
        "crop",
        "--keep",
        "0.1",
        *common,
    )
    found = rows(out)
    assert len(found) == 40 and all(len(row["captions"]) == len(row["logprobs"]) == 4 for row in found)
    assert any(len(set(row["captions"])) > 1 for row in found)
    trained, photographs = (
        checkpoint.load(folder / "m.safetensors"),
        Photographs(folder / "pictures", folder / "net.onnx"),
    )
    again = generate_from_crops(trained, photographs, photographs.ids, CaptionPlan("crop", 4, keep=0.1))
    assert again.captions == [row["captions"] for row in found]
    # A crop of everything is the picture.
    assert [
        own[0]
        for own in generate_from_crops(
            trained, photographs, ["1", "2"], CaptionPlan("crop", 2, keep=1.0)
        ).captions
    ] == [
        own[0] for own in generate(trained, photographs.images(["1", "2"]), CaptionPlan("greedy", 1)).captions
    ]
    run(
        "generate",
        folder / "m.safetensors",
        folder / "pictures",
        "-o",
        out,
        "--how",
        "rs",
        *common,
        "--only",
        folder / "captions.jsonl",
    )
    assert len(rows(out)) == 40
    run(
        "generate",
        folder / "m.safetensors",
        folder / "pictures",
        "-o",
        out,
        "--score",
        folder / "captions.jsonl",
        "--backbone",
        folder / "net.onnx",
    )
    assert all(max(row["logprobs"]) < 0 for row in rows(out))


def test_a_real_photograph(folder: Path, tmp_path: Path) -> None:
    data = pytest.importorskip("skimage.data", reason="scikit-image carries a real photograph")
    Image.fromarray(data.astronaut()).save(tmp_path / "COCO_val2014_000000000042.jpg")
    photographs = Photographs(tmp_path, folder / "net.onnx")
    assert photographs.ids == ["42"]
    crops = photographs.crops(["42"], 3, 0.5, 1).vectors
    assert np.isfinite(crops).all() and len(np.unique(crops, axis=0)) == 3


def test_mistakes(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert "is a folder of photographs; name a network" in refused(
        "generate", folder / "m.safetensors", folder / "pictures", "-o", out
    )
    write(tmp_path)
    objects = tmp_path / "o.safetensors"
    run(
        "train",
        "captioner",
        tmp_path / "objects.jsonl",
        tmp_path / "captions.jsonl",
        "-o",
        objects,
        *SMALL,
        "--steps",
        "2",
    )
    message = refused("generate", objects, folder / "pictures", "-o", out, "--backbone", folder / "net.onnx")
    assert "the model was trained on objects" in message
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no photographs"):
        Photographs(tmp_path / "empty", folder / "net.onnx")
    with pytest.raises(InputError, match="has no photograph for 1 of 2 images: 99"):
        Photographs(folder / "pictures", folder / "net.onnx").images(["1", "99"])
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "1.jpg").write_bytes(b"no picture")
    with pytest.raises(InputError, match="not a readable photograph"):
        Photographs(tmp_path / "broken", folder / "net.onnx").images(["1"])
    assert not out.exists()
