"""Vectors that others made, each with a name: of images by their ids, of captions by their texts.

Files: ``.npz`` with ``vectors`` and ``ids`` (or ``texts``); ``.parquet`` with such columns; ``.npy`` and ``.safetensors`` with the names
in a JSON list beside them (``F.npy``, ``F.json``), or in the metadata of the latter. What is wrong with a file is said when it is read.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious import digest
from captious.cache import content_digest
from captious.errors import InputError, MissingExtraError, some
from captious.io.align import plain_id
from captious.io.content import decode, loads, read_raw, shown_name
from captious.io.npz import read_array, read_npz
from captious.vectors.bert import read_safetensors

Floats = NDArray[np.float32]

_NAMES = ("ids", "texts", "id", "image_id", "image", "text", "caption")
_VECTORS = ("vectors", "vector", "embeddings", "embedding", "features")
_WHAT = "vectors with names"
#: Shorter than this, a vector has no direction.
_NOTHING = 1e-12


class KeyedVectors(NamedTuple):
    """Unit vectors by name."""

    source: str
    places: dict[str, int]
    rows: Floats
    digest: str

    @property
    def label(self) -> str:
        return f"{len(self.rows)}x{self.width}"

    @property
    def width(self) -> int:
        return int(self.rows.shape[1])

    def of_images(self, ids: Sequence[str]) -> Floats:
        """The vectors of images; a picture may go by its file's name on one side and by its number on the other."""
        wanted: Sequence[str] = ids
        if any(image not in self.places for image in ids):
            plain = {plain_id(name): name for name in self.places}
            if len(plain) == len(self.places):
                wanted = [image if image in self.places else plain.get(plain_id(image), image) for image in ids]
        return self._rows(wanted, "image", "give a file with the vectors of all images")

    def of_texts(self, texts: Sequence[str]) -> Floats:
        """The vectors of captions, by their text; spaces at the ends do not count."""
        wanted = [text if text in self.places else text.strip() for text in texts]
        return self._rows(wanted, "the caption", "the file needs one vector for each different caption, references included")

    def _rows(self, names: Sequence[str], what: str, remedy: str) -> Floats:
        missing = list(dict.fromkeys(name for name in names if name not in self.places))
        if missing:
            shown = some((repr(name[:80]) for name in missing), 3)
            raise InputError(f"{self.source} has no vector for {what} {shown}; {remedy}")
        return self.rows[np.array([self.places[name] for name in names], np.int64)]


def read_vectors(path: str | Path) -> KeyedVectors:
    """The vectors of a file; one that is there already is read again only if it has changed."""
    found = Path(path).expanduser()
    if not found.is_file():
        raise InputError(f"no vectors at {found}; give a file (.npz, .npy, .safetensors or .parquet)")
    beside = _beside(found)
    return _read(found.resolve(), content_digest(found), content_digest(beside) if beside.is_file() else "")


@lru_cache(maxsize=4)
def _read(path: Path, content: str, names: str) -> KeyedVectors:
    where = shown_name(path)
    data = read_raw(path)
    if zipfile.is_zipfile(path):
        held: dict[str, Any] = dict(read_npz(data, where, _WHAT, "biufU"))
    elif data.startswith(b"\x93NUMPY"):
        try:
            held = {"vectors": read_array(data)}
        except (ValueError, TypeError, KeyError, OSError, EOFError, SyntaxError) as error:
            raise InputError(f"{where}: {_WHAT} were expected, but the array is damaged ({error})") from None
    elif data.startswith(b"PAR1"):
        held = _parquet(data, where)
    elif path.suffix == ".safetensors":
        held = {**read_safetensors(np.frombuffer(data, np.uint8), where, halves=True), **_metadata(data)}
    else:
        raise InputError(f"{where} is neither .npz, .npy, .safetensors nor .parquet; {_WHAT} were expected")
    return made(_picked(held, _VECTORS, where), _names_of(held, path, where), where)


def made(vectors: Any, names: Iterable[Any], source: str = "the vectors") -> KeyedVectors:
    """Vectors with their names, checked: as many of them, finite, none without a direction, no name for two of them."""
    table = np.asarray(vectors)
    keys = [name if isinstance(name, str) else str(name) for name in names]
    if table.ndim != 2 or table.dtype.kind not in "fiu" or not table.shape[1]:
        raise InputError(f"{source}: a table with one row per vector was expected, found {table.dtype} of the shape {table.shape}")
    if len(keys) != len(table):
        raise InputError(f"{source}: {len(table):,} vectors, but {len(keys):,} names; each vector needs one")
    rows = table.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        raise InputError(f"{source}: the vector of {keys[wrong[0]]!r} is not made of finite numbers ({len(wrong):,} such); make it again")
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    wrong = np.flatnonzero(lengths < _NOTHING)
    if len(wrong):
        raise InputError(f"{source}: the vector of {keys[wrong[0]]!r} is zero ({len(wrong):,} such), and has no direction; make it again")
    rows = (rows / lengths[:, None]).astype(np.float32)
    places: dict[str, int] = {}
    for place, key in enumerate(keys):
        first = places.setdefault(key, place)
        if first != place and not np.allclose(rows[first], rows[place], atol=1e-5):
            raise InputError(f"{source}: {key!r} has two different vectors; keep one")
    return KeyedVectors(source, places, rows, digest.together(digest.of_lines(keys), digest.of_arrays(rows)))


def _picked(held: dict[str, Any], wanted: Sequence[str], where: str) -> Any:
    for name in wanted:
        if name in held:
            return held[name]
    raise InputError(f"{where} has no '{wanted[0]}'; it holds {some(held) or 'nothing'} (see docs/clip.md)")


def _beside(path: Path) -> Path:
    return path.with_suffix(".json")


def _names_of(held: dict[str, Any], path: Path, where: str) -> list[Any]:
    for name in _NAMES:
        if name in held:
            return list(np.asarray(held[name]).ravel().tolist())
    beside = _beside(path)
    if not beside.is_file():
        raise InputError(f"{where} does not say what its vectors are of; put their ids or texts beside it, as a JSON list in {beside.name}")
    names = loads(decode(read_raw(beside), str(beside)), str(beside))
    if not isinstance(names, list) or not all(isinstance(name, str | int) for name in names):
        raise InputError(f"{beside}: a JSON list of ids or texts was expected, one for each vector of {path.name}")
    return names


def _metadata(data: bytes) -> dict[str, Any]:
    """Names in the metadata of a safetensors file, which are texts: a JSON list in one of them."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    found = {}
    for name, text in (header.get("__metadata__") or {}).items():
        if name in _NAMES:
            try:
                found[name] = json.loads(text)
            except ValueError:
                continue
    return found


def _parquet(data: bytes, where: str) -> dict[str, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", f"{where} is a Parquet file; reading it") from None
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
        wanted = [name for name in file.schema_arrow.names if name in (*_NAMES, *_VECTORS)]
        table = file.read(columns=wanted)
        held: dict[str, Any] = {name: table.column(name).to_pylist() for name in wanted}
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{where}: the Parquet file is damaged ({str(problem).splitlines()[0]})") from None
    for name in _VECTORS:
        if name in held:
            try:
                held[name] = np.array(held[name], np.float32)
            except (ValueError, TypeError):
                raise InputError(f"{where}: the vectors in '{name}' are not all lists of as many numbers") from None
    return held
