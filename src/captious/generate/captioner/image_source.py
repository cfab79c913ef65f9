"""Images of a captioner or a critic: files of features, or photographs with a network (``--backbone``).

The features of a photograph are the network's last feature map (images × channels × height × width), averaged
over height and width, as Cui et al. (2018) do with a residual network. In a classifier, the input of the
classes is found in its graph. Networks without a feature map contribute their output as it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, MissingExtraError, printable, some
from captious.core.progress import track
from captious.core.ragged import offsets_of
from captious.generate.captioner.image_features import ImageFeatures, read_images
from captious.io.id_matching import plain_id

#: File name extensions of photographs.
ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif")
#: Mean and standard deviation of ImageNet's colours, by which classifiers expect inputs to be normalised.
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_SPREAD = np.array([0.229, 0.224, 0.225], np.float32)
#: Input size for networks that accept any.
_SIDE = 224
#: Crop of a photograph: left, upper, right and lower edge, relative to its width and height.
Box = tuple[float, float, float, float]
WHOLE: Box = (0.0, 0.0, 1.0, 1.0)
_AT_ONCE = 16


class Backbone:
    """Image network, run by onnxruntime on the CPU."""

    def __init__(self, path: str | Path, output: str | None = None, threads: int = 1) -> None:
        """Load a network. ``output`` names the tensor to use (default: the last feature map)."""
        try:
            import onnx
            import onnxruntime
        except ImportError as error:
            raise MissingExtraError(
                "onnxruntime and onnx", "images", "computing features of photographs"
            ) from error
        if not Path(path).is_file():
            raise InputError(f"{path}: no such network; pass an ONNX file")
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.log_severity_level = 4  # errors are raised, too
        try:
            model = onnx.load(str(path))
            self.output = _choose(model.graph, output, str(path))
            if self.output not in {value.name for value in model.graph.output}:
                model.graph.output.append(onnx.ValueInfoProto(name=self.output))
            self.session = onnxruntime.InferenceSession(
                model.SerializeToString(), settings, providers=["CPUExecutionProvider"], enable_fallback=0
            )
        except InputError:
            raise
        except Exception as error:  # damaged files raise many kinds of errors
            raise InputError(
                f"{path}: not a network that onnxruntime can run ({printable(str(error))[:150]})"
            ) from None
        self.where = str(path)
        inputs = self.session.get_inputs()
        shape = inputs[0].shape if len(inputs) == 1 else []
        if len(shape) != 4 or "float" not in inputs[0].type:
            input_list = ", ".join(f"{value.name}: {value.type} {value.shape}" for value in inputs)
            raise InputError(
                f"{path}: a network for photographs has one input, images × 3 × height × width, of floats; "
                f"this one has {input_list}"
            )
        self.last = shape[3] == 3 and shape[1] != 3
        sides = shape[1:3] if self.last else shape[2:]
        colours = shape[3] if self.last else shape[1]
        if isinstance(colours, int) and colours != 3:
            raise InputError(f"{path}: the network expects {colours} colour channels; photographs have 3")
        self.height, self.width = (side if isinstance(side, int) and side > 0 else _SIDE for side in sides)
        self.input = inputs[0].name
        self.single = isinstance(shape[0], int) and shape[0] == 1

    def features(
        self, photographs: Sequence[Path], boxes: Sequence[Box] | None = None
    ) -> NDArray[np.float32]:
        """Return one row of features per photograph, or per part of it (``boxes``)."""
        rows: list[NDArray[np.float32]] = []
        batch_size = 1 if self.single else _AT_ONCE
        inputs = list(
            zip(photographs, boxes if boxes is not None else [WHOLE] * len(photographs), strict=True)
        )
        for batch in track(list(_parts(inputs, batch_size)), "image features"):
            pixels = np.stack([self._pixels(path, box) for path, box in batch])
            output = self.session.run([self.output], {self.input: pixels})[0]
            rows += list(_pooled(np.asarray(output, np.float32), len(batch), self.where))
        widths = {len(row) for row in rows}
        if len(widths) != 1 or not np.isfinite(rows).all():
            raise InputError(
                f"{self.where}: the network's output '{self.output}' is not a row of finite numbers of "
                "fixed size; select another with --output"
            )
        return np.stack(rows)

    def _pixels(self, path: Path, box: Box) -> NDArray[np.float32]:
        try:
            from PIL import Image
        except ImportError as error:
            raise MissingExtraError("pillow", "images", "reading photographs") from error
        try:
            with Image.open(path) as image:
                edges = tuple(part * side for part, side in zip(box, (image.width, image.height) * 2))
                small = image.convert("RGB").resize(
                    (self.width, self.height), Image.Resampling.BILINEAR, box=edges
                )
                pixels = np.asarray(small, np.float32) / np.float32(255)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise InputError(f"{path}: not a readable photograph ({str(error)[:100]})") from None
        scaled: NDArray[np.float32] = ((pixels - _MEAN) / _SPREAD).astype(np.float32)
        return scaled if self.last else np.ascontiguousarray(scaled.transpose(2, 0, 1))


def _choose(graph: Any, requested: str | None, where: str) -> str:
    """Return the name of the network's tensor to use as features."""
    outputs = [value.name for value in graph.output]
    tensors = {name for node in graph.node for name in node.output if name}
    if requested is not None:
        if requested not in tensors and requested not in outputs:
            raise InputError(
                f"{where}: the network has no tensor called '{requested}'; its outputs are {some(outputs)}"
            )
        return requested
    maps = [value.name for value in graph.output if len(value.type.tensor_type.shape.dim) == 4]
    pooled = [node.output[0] for node in graph.node if node.op_type == "GlobalAveragePool"]
    return str((maps or pooled or outputs)[-1])


def _parts(items: Sequence[tuple[Path, Box]], size: int) -> Iterator[Sequence[tuple[Path, Box]]]:
    for at in range(0, len(items), size):
        yield items[at : at + size]


def _pooled(output: NDArray[np.float32], count: int, where: str) -> NDArray[np.float32]:
    if output.ndim < 2 or len(output) != count:
        raise InputError(
            f"{where}: {count} photographs gave an output of shape {output.shape}; rows or maps of features "
            "are needed, one for each"
        )
    pooled: NDArray[np.float32] = output.mean(axis=(2, 3)) if output.ndim == 4 else output.reshape(count, -1)
    return pooled


class Photographs:
    """Photographs in a folder, with a network that computes their features.

    Files are named after image ids (``42.jpg``, ``COCO_val2014_000000000042.jpg``).
    """

    def __init__(
        self, folder: str | Path, network: str | Path, *, output: str | None = None, threads: int = 1
    ) -> None:
        if not Path(folder).is_dir():
            raise InputError(f"{folder}: no such folder of photographs")
        self.folder = Path(folder)
        self.backbone = Backbone(network, output, threads)
        self._named: dict[str, Path] = {}
        #: Ids of the images in the folder.
        self.ids: list[str] = []
        for path in sorted(self.folder.iterdir()):
            if path.suffix.lower() in ENDINGS:
                self.ids.append(plain_id(path.name))
                # Find a photograph by its file name and by the id in the name.
                self._named.setdefault(plain_id(path.name), path)
                self._named[path.name] = self._named[path.stem] = path
        if not self.ids:
            raise InputError(f"{folder}: the folder has no photographs ({', '.join(ENDINGS)})")

    def _paths(self, ids: Sequence[str]) -> list[Path]:
        missing_ids = [
            image for image in ids if image not in self._named and plain_id(image) not in self._named
        ]
        if missing_ids:
            raise InputError(
                f"{self.folder} has no photograph for {len(missing_ids):,} of {len(ids):,} images: "
                f"{some(missing_ids)}"
            )
        return [self._named[image] if image in self._named else self._named[plain_id(image)] for image in ids]

    def images(self, ids: Sequence[str]) -> ImageFeatures:
        """Return the features of images."""
        return ImageFeatures(tuple(ids), offsets_of([1] * len(ids)), self.backbone.features(self._paths(ids)))

    def crops(self, ids: Sequence[str], m: int, keep: float, seed: int) -> ImageFeatures:
        """Return the features of ``m`` random crops per image.

        A crop has ``keep`` of the image's area, and its proportions.
        """
        side = math.sqrt(keep)
        corners = np.random.default_rng(seed).random((len(ids) * m, 2)) * (1 - side)
        boxes: list[Box] = [(x, y, x + side, y + side) for x, y in corners.tolist()]
        rows = self.backbone.features([path for path in self._paths(ids) for _ in range(m)], boxes)
        return ImageFeatures(
            tuple(f"{image} {k}" for image in ids for k in range(m)), offsets_of([1] * len(rows)), rows
        )


@dataclass(frozen=True)
class ImageSource:
    """A file of objects or features, or photographs with a network that computes features."""

    path: str | Path
    #: ONNX network for photographs, and the name of the output to use (default: its last feature map).
    backbone: str | Path | None = None
    backbone_output: str | None = None
    #: File with the image ids of a bare array, one per line.
    ids: str | Path | None = None
    #: Threads of the network.
    threads: int = 1

    @classmethod
    def of(cls, images: str | Path | ImageSource) -> ImageSource:
        """Return the source itself, or the source of a path."""
        return images if isinstance(images, ImageSource) else cls(images)

    def photographs(self, classes: Sequence[str] = ()) -> Photographs | None:
        """Open the folder of photographs; None for files.

        ``classes`` are those of the model that reads the images.
        """
        if self.backbone is None:
            if Path(self.path).is_dir():
                raise InputError(
                    f"{self.path} is a folder of photographs; "
                    "name a network that computes their features with --backbone"
                )
            return None
        photographs = Photographs(self.path, self.backbone, output=self.backbone_output, threads=self.threads)
        if classes:
            raise InputError(
                f"{self.path}: the model was trained on objects (classes by name), "
                "and these are photographs; give objects"
            )
        return photographs

    def read(self, wanted: Sequence[str] | None = None, classes: Sequence[str] = ()) -> ImageFeatures:
        """Return the features of the wanted images, or of all."""
        photographs = self.photographs(classes)
        if photographs is not None:
            return photographs.images(photographs.ids if wanted is None else wanted)
        images = read_images(self.path, self.ids, classes)
        return images if wanted is None else images.take(wanted, str(self.path))
