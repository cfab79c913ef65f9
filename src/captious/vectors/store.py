"""Word-vector files converted once: afterwards a table opens in milliseconds, mapped from the cache folder.

An entry is a folder: the vectors as raw 32-bit floats, the words with sorted hashes, and ``meta.json``, which is written
last. An entry without it, or whose files do not have the sizes it states, is made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from captious.cache import atomic_write, cache_directory, lock
from captious.errors import InputError
from captious.vectors.table import MappedWords, PlainRows

#: Changes whenever the layout of an entry does.
LAYOUT = 1
_SAMPLE = 1 << 20
_ARRAYS = {"text": np.uint8, "offsets": np.int64, "hashes": np.uint64, "order": np.int64}

#: Reads a source: writes its vectors to the file, and returns words (UTF-8) and dimension.
Converter = Callable[[Path, BinaryIO], tuple[list[bytes], int]]


def content_key(path: Path) -> str:
    """A key for a file's content, the same on every machine: its size, and its first and last megabyte."""
    try:
        size = path.stat().st_size
        digest = hashlib.blake2b(f"{size}|".encode(), digest_size=16)
        with path.open("rb") as handle:
            digest.update(handle.read(_SAMPLE))
            if size > _SAMPLE:
                handle.seek(max(_SAMPLE, size - _SAMPLE))
                digest.update(handle.read(_SAMPLE))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    return digest.hexdigest()


def fingerprint(path: Path) -> str:
    """A key for the converted copy of a file: its content, the time of its last change, and our layout."""
    content = content_key(path)
    stamp = f"{LAYOUT}|{path.stat().st_mtime_ns}|{content}"
    return hashlib.blake2b(stamp.encode(), digest_size=16).hexdigest()


def converted(source: Path, convert: Converter) -> tuple[MappedWords, PlainRows]:
    """The words and vectors of a file, from the cache or converted into it."""
    folder = cache_directory() / "vectors" / fingerprint(source)
    entry = _open(folder)
    if entry is not None:
        return entry
    with lock(folder.with_suffix(".lock")):
        entry = _open(folder)  # another process may have made it meanwhile
        if entry is None:
            _make(folder, source, convert)
            entry = _open(folder)
    if entry is None:
        raise InputError(f"the converted copy of {source} in {folder} cannot be read back; is the disk full?")
    return entry


def _make(folder: Path, source: Path, convert: Converter) -> None:
    with atomic_write(folder / "vectors.f32") as temporary, temporary.open("wb") as out:
        words, dimension = convert(source, out)
        size = out.tell()
        if size != 4 * len(words) * dimension:
            raise InputError(f"{source}: {len(words):,} words of {dimension} numbers expected, {size:,} bytes found")
    for name, array in MappedWords.arrays(words).items():
        with atomic_write(folder / name) as temporary:
            temporary.write_bytes(array.tobytes())
    meta = {"layout": LAYOUT, "words": len(words), "dimension": dimension, "source": source.name}
    with atomic_write(folder / "meta.json") as temporary:
        temporary.write_text(json.dumps(meta), encoding="utf-8")


def _open(folder: Path) -> tuple[MappedWords, PlainRows] | None:
    try:
        meta: dict[str, Any] = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        count, dimension = int(meta["words"]), int(meta["dimension"])
        if meta["layout"] != LAYOUT or (folder / "vectors.f32").stat().st_size != 4 * count * dimension:
            return None
        arrays = {name: _map(folder / name, kind) for name, kind in _ARRAYS.items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if len(arrays["offsets"]) != count + 1 or int(arrays["offsets"][-1]) != len(arrays["text"]):
        return None
    if len(arrays["hashes"]) != count or len(arrays["order"]) != count:
        return None
    rows = np.memmap(folder / "vectors.f32", dtype=np.float32, mode="r", shape=(count, dimension))
    words = MappedWords(arrays["text"], arrays["offsets"], arrays["hashes"], arrays["order"])
    return words, PlainRows(rows)


def _map(path: Path, kind: Any) -> NDArray[Any]:
    return np.memmap(path, dtype=kind, mode="r") if path.stat().st_size else np.zeros(0, kind)
