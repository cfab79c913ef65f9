"""Image features: a set of vectors per image, one for each object or region, with optional boxes.

Objects come as lists of names (``objects.jsonl``) or as COCO's instances JSON, and become one-hot vectors of
their class. Other features come from npy, npz, safetensors, HDF5 or Parquet files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, MissingExtraError, printable, some
from captious.core.limits import CONTENT
from captious.core.ragged import IntArray, offsets_of, runs
from captious.io.content import decode, loads, read_bytes, read_raw, shown_name
from captious.io.npz import read_npy, read_npz
from captious.io.object_files import read_objects
from captious.io.table_files import parquet_file

Floats = NDArray[np.float32]

_SHAPES = (
    "features are an array of images × numbers or images × regions × numbers with the ids of the images (an "
    "array 'ids' beside "
    "'features', or --ids FILE), or one array per image under its id (ID, or ID/features with ID/boxes)"
)


#: Accepted names of the columns of a table.
_COLUMNS = {
    "ids": ("image_id", "id", "ids", "image"),
    "features": ("features", "feature", "vector", "embedding"),
}


@dataclass(frozen=True, eq=False)
class ImageFeatures:
    """Features of images by id. The vectors of image i are ``vectors[offsets[i]:offsets[i + 1]]``."""

    ids: tuple[str, ...]
    offsets: IntArray
    vectors: Floats
    #: x, y, width and height of each vector's region, if known.
    boxes: Floats | None = None
    #: Object classes of the columns. Empty for other features.
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def width(self) -> int:
        return int(self.vectors.shape[1])

    def take(self, ids: Sequence[str], where: str = "the images") -> ImageFeatures:
        """Select images, in the order of ``ids``."""
        row_of = {image: i for i, image in enumerate(self.ids)}
        missing_ids = [image for image in ids if image not in row_of]
        if missing_ids:
            raise InputError(
                f"{where}: no features for {len(missing_ids):,} of {len(ids):,} images: {some(missing_ids)}"
            )
        rows, offsets = runs(self.offsets, np.array([row_of[image] for image in ids], np.int64))
        return ImageFeatures(
            tuple(ids),
            offsets,
            self.vectors[rows],
            None if self.boxes is None else self.boxes[rows],
            self.classes,
        )

    def one_each(self) -> Floats:
        """Return one vector per image: which classes are present, or the mean of the regions' features."""
        counts = np.diff(self.offsets)
        owner = np.repeat(np.arange(len(self)), counts)
        sums = np.zeros((len(self), self.width), np.float32)
        if self.classes:
            np.maximum.at(sums, owner, self.vectors)
            return sums
        np.add.at(sums, owner, self.vectors)
        sums /= np.maximum(counts, 1)[:, None]
        return sums

    def counted(self) -> Floats:
        """Return one vector per image: the number of objects per class, or the mean of the features."""
        if not self.classes:
            return self.one_each()
        sums = np.zeros((len(self), self.width), np.float32)
        np.add.at(sums, np.repeat(np.arange(len(self)), np.diff(self.offsets)), self.vectors)
        return sums


def read_images(
    path: str | Path, ids: str | Path | None = None, classes: Sequence[str] = ()
) -> ImageFeatures:
    """Read the features of images from a file.

    ``ids`` is a file with the image ids of an array without ids. ``classes`` are the classes of a trained
    model in their order; other objects raise InputError.
    """
    where = shown_name(path)
    suffixes = "".join(Path(path).suffixes[-2:]).lower()
    if any(kind in suffixes for kind in (".json", ".jsonl")):
        return _objects(path, where, classes)
    if classes:
        raise InputError(
            f"{where}: the model was trained on objects (classes by name), and this file has features; give "
            "objects"
        )
    if suffixes.endswith(".npy"):
        arrays = {"features": read_npy(read_raw(path), where)}
    elif suffixes.endswith(".npz"):
        arrays = read_npz(read_raw(path), where, "an archive of features", "biufU")
    elif suffixes.endswith(".safetensors"):
        arrays = _safetensors(path, where)
    elif suffixes.endswith((".h5", ".hdf5")):
        arrays = _hdf5(path, where)
    elif suffixes.endswith(".parquet"):
        arrays = _parquet(path, where)
    else:
        raise InputError(
            f"{where}: objects are JSON or JSONL, features are npy, npz, safetensors, h5 or Parquet; this "
            "is neither"
        )
    return _features(arrays, where, _read_ids(ids) if ids is not None else None)


# Objects


def _objects(path: str | Path, where: str, classes: Sequence[str]) -> ImageFeatures:
    instances = _instances(path, where)
    if instances is None:
        named = {
            image: [(name, None) for name in sorted(names)] for image, names in read_objects(path).items()
        }
    else:
        named = instances
    if not named:
        raise InputError(f"{where}: the file has no images")
    listed = tuple(classes) or tuple(sorted({name for rows in named.values() for name, _ in rows}))
    if not listed:
        raise InputError(f"{where}: no image has any object")
    column = {name: i for i, name in enumerate(listed)}
    unknown = sorted({name for rows in named.values() for name, _ in rows} - column.keys())
    if unknown:
        raise InputError(
            f"{where}: the model knows no object called {some(unknown)}; it was trained on {len(listed)} "
            "classes"
        )
    flat = [row for rows in named.values() for row in rows]
    vectors = np.zeros((len(flat), len(listed)), np.float32)
    vectors[np.arange(len(flat)), [column[name] for name, _ in flat]] = 1
    boxes = None
    if flat and all(box is not None for _, box in flat):
        boxes = np.array([box for _, box in flat], np.float32)
    return ImageFeatures(
        tuple(named), offsets_of([len(rows) for rows in named.values()]), vectors, boxes, listed
    )


def _instances(path: str | Path, where: str) -> dict[str, list[tuple[str, Any]]] | None:
    """Read COCO's instances: regions with boxes relative to the image. Return None for other files."""
    content = read_bytes(path)
    if b'"annotations"' not in content or b'"categories"' not in content:
        return None
    try:
        value = loads(decode(content, where), where)
    except json.JSONDecodeError:
        return None
    if not isinstance(value, dict) or "annotations" not in value:
        return None
    try:
        names = {row["id"]: str(row["name"]) for row in value["categories"]}
        sizes = {row["id"]: (row.get("width"), row.get("height")) for row in value.get("images", [])}
        by_image: dict[str, list[tuple[str, Any]]] = {str(image): [] for image in sizes}
        for row in value["annotations"]:
            width, height = sizes.get(row["image_id"], (None, None))
            box = None
            if row.get("bbox") is not None and width and height:
                x, y, w, h = (float(side) for side in row["bbox"])
                box = (x / width, y / height, max(w / width, 1e-3), max(h / height, 1e-3))
            by_image.setdefault(str(row["image_id"]), []).append((names[row["category_id"]], box))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{where}: COCO instances need images, categories and annotations with boxes: {error!r}"
        ) from None
    return by_image


# Features


def _features(arrays: dict[str, NDArray[Any]], where: str, ids: list[str] | None) -> ImageFeatures:
    if "features" in arrays:
        features = arrays["features"]
        if ids is None and "ids" in arrays:
            ids = [str(image) for image in arrays["ids"].tolist()]
        if features.ndim not in (2, 3) or not features.size:
            raise InputError(f"{where}: 'features' has the shape {features.shape}; {_SHAPES}")
        if ids is None:
            raise InputError(f"{where}: the rows have no image ids; {_SHAPES}")
        if len(ids) != len(features):
            raise InputError(
                f"{where}: {len(features):,} rows of features and {len(ids):,} ids of images; there must be "
                "as many"
            )
        rows = [row.reshape(-1, features.shape[-1]) for row in features]
        boxes = arrays.get("boxes")
        parts = (
            None
            if boxes is None
            else [box.reshape(-1, 4) for box in boxes]
            if boxes.shape[-1:] == (4,)
            else [boxes]
        )
    else:
        if ids is not None:
            raise InputError(
                f"{where}: it has an array for each image under its id, so --ids is not needed; leave it out"
            )
        own = {
            name.removesuffix("/features"): array
            for name, array in arrays.items()
            if not name.endswith("/boxes")
        }
        ids = list(own)
        rows = [array.reshape(1, -1) if array.ndim == 1 else array for array in own.values()]
        parts = (
            [arrays[f"{name}/boxes"] for name in ids]
            if ids and all(f"{name}/boxes" in arrays for name in ids)
            else None
        )
    return _checked(ids, rows, parts, where)


def _checked(
    ids: list[str], rows: list[NDArray[Any]], boxes: list[NDArray[Any]] | None, where: str
) -> ImageFeatures:
    if not ids:
        raise InputError(f"{where}: the file has no images; {_SHAPES}")
    if len(set(ids)) < len(ids):
        raise InputError(
            f"{where}: duplicate image ids: {some(sorted({image for image in ids if ids.count(image) > 1}))}"
        )
    width = rows[0].shape[-1]
    for image, row in zip(ids, rows):
        if row.dtype.kind not in "fiu" or row.ndim != 2 or row.shape[1] != width:
            raise InputError(
                f"{where}: image {image} has {row.dtype} of shape {row.shape}, others have vectors of "
                f"{width} numbers"
            )
        if not np.isfinite(row).all():
            raise InputError(
                f"{where}: the features of image {image} have values that are no numbers (NaN or infinite)"
            )
    flat_boxes = None
    if boxes is not None:
        if any(box.shape != (len(row), 4) for box, row in zip(boxes, rows)):
            raise InputError(f"{where}: boxes must be four numbers (x, y, width, height) per region")
        flat_boxes = np.concatenate(boxes).astype(np.float32)
        if not (flat_boxes[:, 2:] > 0).all():
            raise InputError(f"{where}: boxes must have a width and a height above 0")
    return ImageFeatures(
        tuple(ids),
        offsets_of([len(row) for row in rows]),
        np.concatenate(rows).astype(np.float32),
        flat_boxes,
    )


def _read_ids(path: str | Path) -> list[str]:
    return [line.strip() for line in decode(read_bytes(path), shown_name(path)).splitlines() if line.strip()]


def _safetensors(path: str | Path, where: str) -> dict[str, NDArray[Any]]:
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError as error:
        raise MissingExtraError("safetensors", "train", "reading features from safetensors") from error
    try:
        arrays: dict[str, NDArray[Any]] = load_file(str(path))
    except (OSError, SafetensorError) as error:
        raise InputError(f"{where}: not a safetensors file ({error})") from None
    return arrays


def _hdf5(path: str | Path, where: str) -> dict[str, NDArray[Any]]:
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError("h5py", "h5", "reading features from HDF5") from error
    arrays: dict[str, NDArray[Any]] = {}

    def visit(name: str | bytes, item: Any) -> None:
        if isinstance(name, bytes):
            raise ValueError("a name that is not UTF-8")
        if isinstance(item, h5py.Dataset):
            CONTENT.check(item.size * item.dtype.itemsize, where)
            arrays[name] = np.asarray(item.asstr()[:] if item.dtype.kind == "O" else item[...])

    try:
        with h5py.File(Path(path), "r") as file:
            file.visititems(visit)
    except InputError:
        raise
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, MemoryError) as error:
        reason = printable(str(error))[:200]
        raise InputError(f"{where}: not an HDF5 file, or a damaged one ({reason})") from None
    return arrays


def _parquet(path: str | Path, where: str) -> dict[str, NDArray[Any]]:
    """Read a column of ids and a column of features (a list of numbers per image)."""
    with parquet_file(read_raw(path), where) as file:
        table = file.read()
        rows_of = {name: table.column(name).to_pylist() for name in table.column_names}
    names = {
        name: next((column for column in candidates if column in rows_of), None)
        for name, candidates in _COLUMNS.items()
    }
    if None in names.values():
        raise InputError(
            f"{where}: a column of ids (image_id) and one of lists of numbers (features) are needed; it has "
            f"{some(rows_of)}"
        )
    ids = [str(image) for image in rows_of[str(names["ids"])]]
    rows = rows_of[str(names["features"])]
    width = len(rows[0]) if rows and isinstance(rows[0], list) else 0
    for image, row in zip(ids, rows):
        if (
            not isinstance(row, list)
            or len(row) != width
            or not all(isinstance(value, int | float) for value in row)
        ):
            raise InputError(f"{where}: the features of image {image} are not a list of {width} numbers")
    return {"ids": np.array(ids), "features": np.array(rows, np.float32)}
