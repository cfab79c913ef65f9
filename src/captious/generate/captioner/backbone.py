"""Features of photographs, by a network of yours in a file of ONNX (``--backbone``).

The features are the last map of the network (images × channels × height × width), averaged over the map, as Cui et al. (2018)
take them from a residual network. A classifier ends in classes: what it averages before them is found in its graph. Where there is
no map, the output is taken as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError, MissingExtraError, some
from captious.generate.captioner.images import Images
from captious.io.align import plain_id
from captious.progress import track
from captious.ragged import offsets_of

#: What photographs are called.
ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif")
#: Mean and spread of the colours of ImageNet, which nearly every classifier expects to be taken out.
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_SPREAD = np.array([0.229, 0.224, 0.225], np.float32)
#: Height and width of a network that takes any.
_SIDE = 224
#: A part of a photograph: left, upper, right and lower edge, in parts of its width and height.
Box = tuple[float, float, float, float]
WHOLE: Box = (0.0, 0.0, 1.0, 1.0)
_AT_ONCE = 16


class Backbone:
    """An image network that onnxruntime runs on the processor."""

    def __init__(self, path: str | Path, output: str | None = None, threads: int = 1) -> None:
        """``output`` names what to take of the network, be it an output or something inside; unless told, the last map."""
        try:
            import onnx
            import onnxruntime
        except ImportError as error:
            raise MissingExtraError("onnxruntime and onnx", "images", "computing features of photographs") from error
        if not Path(path).is_file():
            raise InputError(f"{path}: no such network")
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.log_severity_level = 3
        try:
            model = onnx.load(str(path))
            self.output = _choose(model.graph, output, str(path))
            if self.output not in {one.name for one in model.graph.output}:
                model.graph.output.append(onnx.ValueInfoProto(name=self.output))
            self.session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        except InputError:
            raise
        except Exception as error:  # whatever is found wrong with the file
            raise InputError(f"{path}: not a network that onnxruntime can run ({str(error)[:150]})") from None
        self.where = str(path)
        inputs = self.session.get_inputs()
        shape = inputs[0].shape if len(inputs) == 1 else []
        if len(shape) != 4 or "float" not in inputs[0].type:
            found = ", ".join(f"{one.name}: {one.type} {one.shape}" for one in inputs)
            raise InputError(f"{path}: a network for photographs has one input, images × 3 × height × width, of floats; this one has {found}")
        self.last = shape[3] == 3 and shape[1] != 3
        sides = shape[1:3] if self.last else shape[2:]
        colours = shape[3] if self.last else shape[1]
        if isinstance(colours, int) and colours != 3:
            raise InputError(f"{path}: the network takes pictures of {colours} colours; photographs have 3")
        self.height, self.width = (side if isinstance(side, int) and side > 0 else _SIDE for side in sides)
        self.input = inputs[0].name
        self.single = isinstance(shape[0], int) and shape[0] == 1

    def features(self, photographs: Sequence[Path], boxes: Sequence[Box] | None = None) -> NDArray[np.float32]:
        """A row of numbers for each photograph, or for a part of each (``boxes``)."""
        rows: list[NDArray[np.float32]] = []
        size = 1 if self.single else _AT_ONCE
        wanted = list(zip(photographs, boxes if boxes is not None else [WHOLE] * len(photographs), strict=True))
        for part in track(list(_parts(wanted, size)), "looking at photographs"):
            pixels = np.stack([self._pixels(path, box) for path, box in part])
            found = self.session.run([self.output], {self.input: pixels})[0]
            rows += list(_pooled(np.asarray(found, np.float32), len(part), self.where))
        widths = {len(row) for row in rows}
        if len(widths) != 1 or not np.isfinite(rows).all():
            raise InputError(f"{self.where}: the network's output '{self.output}' is not a fixed row of finite numbers")
        return np.stack(rows)

    def _pixels(self, path: Path, box: Box) -> NDArray[np.float32]:
        try:
            from PIL import Image
        except ImportError as error:
            raise MissingExtraError("pillow", "images", "reading photographs") from error
        try:
            with Image.open(path) as image:
                edges = tuple(part * side for part, side in zip(box, (image.width, image.height) * 2))
                small = image.convert("RGB").resize((self.width, self.height), Image.Resampling.BILINEAR, box=edges)
                found = np.asarray(small, np.float32) / np.float32(255)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise InputError(f"{path}: not a photograph that can be read ({str(error)[:100]})") from None
        scaled: NDArray[np.float32] = ((found - _MEAN) / _SPREAD).astype(np.float32)
        return scaled if self.last else np.ascontiguousarray(scaled.transpose(2, 0, 1))


def _choose(graph: Any, wanted: str | None, where: str) -> str:
    """What to take of a network."""
    outputs = [one.name for one in graph.output]
    inside = {name for node in graph.node for name in node.output if name}
    if wanted is not None:
        if wanted not in inside and wanted not in outputs:
            raise InputError(f"{where}: the network has nothing called '{wanted}'; its outputs are {some(outputs)}")
        return wanted
    maps = [one.name for one in graph.output if len(one.type.tensor_type.shape.dim) == 4]
    pooled = [node.output[0] for node in graph.node if node.op_type == "GlobalAveragePool"]
    return str((maps or pooled or outputs)[-1])


def _parts(items: Sequence[tuple[Path, Box]], size: int) -> Iterator[Sequence[tuple[Path, Box]]]:
    for at in range(0, len(items), size):
        yield items[at : at + size]


def _pooled(found: NDArray[np.float32], count: int, where: str) -> NDArray[np.float32]:
    if found.ndim < 2 or len(found) != count:
        raise InputError(f"{where}: {count} photographs gave an output of shape {found.shape}; rows or maps of features are needed, one for each")
    pooled: NDArray[np.float32] = found.mean(axis=(2, 3)) if found.ndim == 4 else found.reshape(count, -1)
    return pooled


class Photographs:
    """Files in a folder, named by the ids of their images (``42.jpg``, ``COCO_val2014_000000000042.jpg``), and a network that looks at them."""

    def __init__(self, folder: str | Path, network: str | Path, *, output: str | None = None, threads: int = 1) -> None:
        if not Path(folder).is_dir():
            raise InputError(f"{folder}: no such folder of photographs")
        self.folder = Path(folder)
        self.backbone = Backbone(network, output, threads)
        self._named: dict[str, Path] = {}
        #: The images that the folder has.
        self.ids: list[str] = []
        for path in sorted(self.folder.iterdir()):
            if path.suffix.lower() in ENDINGS:
                self.ids.append(plain_id(path.name))
                # By its name as it is, and by the number in it.
                self._named.setdefault(plain_id(path.name), path)
                self._named[path.name] = self._named[path.stem] = path
        if not self.ids:
            raise InputError(f"{folder} has no photographs ({', '.join(ENDINGS)})")

    def _paths(self, ids: Sequence[str]) -> list[Path]:
        missing = [image for image in ids if image not in self._named and plain_id(image) not in self._named]
        if missing:
            raise InputError(f"{self.folder} has no photograph for {len(missing):,} of {len(ids):,} images: {some(missing)}")
        return [self._named[image] if image in self._named else self._named[plain_id(image)] for image in ids]

    def images(self, ids: Sequence[str]) -> Images:
        """The features of some images."""
        return Images(tuple(ids), offsets_of([1] * len(ids)), self.backbone.features(self._paths(ids)))

    def crops(self, ids: Sequence[str], m: int, keep: float, seed: int) -> Images:
        """The features of ``m`` parts of each image: ``keep`` of its area, with its proportions, at a random place."""
        side = math.sqrt(keep)
        corners = np.random.default_rng(seed).random((len(ids) * m, 2)) * (1 - side)
        boxes: list[Box] = [(x, y, x + side, y + side) for x, y in corners.tolist()]
        rows = self.backbone.features([path for path in self._paths(ids) for _ in range(m)], boxes)
        return Images(tuple(f"{image} {k}" for image in ids for k in range(m)), offsets_of([1] * len(rows)), rows)


def look_at(folder: str | Path, network: str | Path, ids: Sequence[str], *, output: str | None = None, threads: int = 1) -> Images:
    """Features of the photographs of some images."""
    return Photographs(folder, network, output=output, threads=threads).images(ids)
