"""Precomputed vectors of images by id and of captions by text.

Files: ``.npz`` with ``vectors`` and ``ids`` (or ``texts``); ``.parquet`` with such columns; ``.npy`` and
``.safetensors`` with the names in a JSON list beside them (``F.npy``, ``F.json``) or, for the latter, in the
metadata. Files are checked when they are read.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.cache import content_digest
from captious.core.errors import InputError, some
from captious.io.content import loads, read_json, read_raw, shown_name
from captious.io.id_matching import plain_id
from captious.io.npz import read_npy, read_npz
from captious.io.table_files import parquet_file
from captious.vectors.bert import read_safetensors
from captious.vectors.clip_encoders import row_lengths, unit_rows

Floats = NDArray[np.float32]

_NAMES = ("ids", "texts", "id", "image_id", "image", "text", "caption")
_VECTORS = ("vectors", "vector", "embeddings", "embedding", "features")
_EXPECTED = "vectors with names"
#: Vectors shorter than this have no direction.
_NOTHING = 1e-12


class KeyedVectors(NamedTuple):
    """Unit vectors by name."""

    source: str
    places: dict[str, int]
    rows: Floats
    digest: str

    @property
    def label(self) -> str:
        """Number of vectors and dimensions, for signatures."""
        return f"{len(self.rows)}x{self.width}"

    @property
    def width(self) -> int:
        """Number of dimensions."""
        return int(self.rows.shape[1])

    def of_images(self, ids: Sequence[str]) -> Floats:
        """Return the vectors of images. File names and image numbers are matched with each other."""
        wanted: Sequence[str] = ids
        if any(image not in self.places for image in ids):
            plain = {plain_id(name): name for name in self.places}
            if len(plain) == len(self.places):
                wanted = [
                    image if image in self.places else plain.get(plain_id(image), image) for image in ids
                ]
        return self._rows(wanted, "image", "pass a file with the vectors of all images")

    def of_texts(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of captions by text. Spaces at the ends are ignored."""
        wanted = [text if text in self.places else text.strip() for text in texts]
        return self._rows(
            wanted, "the caption", "the file needs one vector for each distinct caption, including references"
        )

    def _rows(self, names: Sequence[str], what: str, remedy: str) -> Floats:
        missing = list(dict.fromkeys(name for name in names if name not in self.places))
        if missing:
            shown = some((repr(name[:80]) for name in missing), 3)
            raise InputError(f"{self.source} has no vector for {what} {shown}; {remedy}")
        return self.rows[np.array([self.places[name] for name in names], np.int64)]


def read_vectors(path: str | Path) -> KeyedVectors:
    """Read the vectors of a file. They are cached as long as the file does not change."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise InputError(f"no vectors at {file}; pass a file (.npz, .npy, .safetensors or .parquet)")
    names = _names_file(file)
    return _read(file.resolve(), content_digest(file), content_digest(names) if names.is_file() else "")


@lru_cache(maxsize=4)
def _read(path: Path, content: str, names: str) -> KeyedVectors:
    where = shown_name(path)
    data = read_raw(path)
    if zipfile.is_zipfile(path):
        fields: dict[str, Any] = dict(read_npz(data, where, _EXPECTED, "biufU"))
    elif data.startswith(b"\x93NUMPY"):
        fields = {"vectors": read_npy(data, where)}
    elif data.startswith(b"PAR1"):
        fields = _parquet(data, where)
    elif path.suffix == ".safetensors":
        fields = {**read_safetensors(np.frombuffer(data, np.uint8), where, halves=True), **_metadata(data)}
    else:
        raise InputError(f"{where} is neither .npz, .npy, .safetensors nor .parquet; pass one of these")
    return from_arrays(_vectors_of(fields, where), _names_of(fields, path, where), where)


def from_arrays(vectors: Any, names: Iterable[Any], source: str = "the vectors") -> KeyedVectors:
    """Build vectors with names.

    Both have to be equally many, the vectors finite and nonzero, the names unique.
    """
    table = np.asarray(vectors)
    keys = [name if isinstance(name, str) else str(name) for name in names]
    if table.ndim != 2 or table.dtype.kind not in "fiu" or not table.shape[1]:
        raise InputError(
            f"{source}: {table.dtype} of the shape {table.shape}; a table with one row per vector is needed"
        )
    if len(keys) != len(table):
        raise InputError(f"{source}: {len(table):,} vectors, but {len(keys):,} names; each vector needs one")
    rows = table.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        raise InputError(
            f"{source}: the vector of {keys[wrong[0]]!r} has values that are not finite ({len(wrong):,} "
            "such vectors); "
            "compute them again"
        )
    lengths = row_lengths(rows)
    wrong = np.flatnonzero(lengths < _NOTHING)
    if len(wrong):
        raise InputError(
            f"{source}: the vector of {keys[wrong[0]]!r} is zero ({len(wrong):,} such vectors); "
            "compute them again"
        )
    rows = unit_rows(rows)
    places: dict[str, int] = {}
    for place, key in enumerate(keys):
        first = places.setdefault(key, place)
        if first != place and not np.allclose(rows[first], rows[place], atol=1e-5):
            raise InputError(f"{source}: {key!r} has two different vectors; keep one")
    return KeyedVectors(source, places, rows, digest.together(digest.of_lines(keys), digest.of_arrays(rows)))


def _vectors_of(fields: dict[str, Any], where: str) -> Any:
    for name in _VECTORS:
        if name in fields:
            return fields[name]
    raise InputError(
        f"{where} has no '{_VECTORS[0]}' but {some(fields) or 'nothing'} (see docs/reference/metrics/clip.md)"
    )


def _names_file(path: Path) -> Path:
    """Return the file beside a file of vectors that can have their names."""
    return path.with_suffix(".json")


def _names_of(fields: dict[str, Any], path: Path, where: str) -> list[Any]:
    for name in _NAMES:
        if name in fields:
            return list(np.asarray(fields[name]).ravel().tolist())
    file = _names_file(path)
    if not file.is_file():
        raise InputError(
            f"{where} has no ids or texts for its vectors; add them as a JSON list in {file.name}"
        )
    names = read_json(file, f"write a JSON list of ids or texts, one for each vector of {path.name}")
    if not isinstance(names, list) or not all(isinstance(name, str | int) for name in names):
        raise InputError(f"{file}: not a JSON list of ids or texts; write one for each vector of {path.name}")
    return names


def _metadata(data: bytes) -> dict[str, Any]:
    """Return names in the metadata of a safetensors file, where they are a JSON list as text."""
    size = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + size]).get("__metadata__")
    names = {}
    for name, text in metadata.items() if isinstance(metadata, dict) else ():
        if name in _NAMES and isinstance(text, str):
            with suppress(ValueError):
                names[name] = loads(text, "the metadata")
    return names


def _parquet(data: bytes, where: str) -> dict[str, Any]:
    with parquet_file(data, where) as file:
        wanted = [name for name in file.schema_arrow.names if name in (*_NAMES, *_VECTORS)]
        table = file.read(columns=wanted)
        fields: dict[str, Any] = {name: table.column(name).to_pylist() for name in wanted}
    for name in _VECTORS:
        if name in fields:
            try:
                fields[name] = np.array(fields[name], np.float32)
            except (ValueError, TypeError):
                raise InputError(
                    f"{where}: the vectors in '{name}' have to be lists of equal length"
                ) from None
    return fields
