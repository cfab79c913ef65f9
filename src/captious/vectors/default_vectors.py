"""The shipped word vectors, distilled from MiniLM by :mod:`captious.training.distil_vectors`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from captious.core.errors import InputError
from captious.vectors.vector_table import QuantisedRows, WordList, WordVectors

PATH = Path(__file__).parent / "minilm_words.npz"
NAME = "minilm-words-1"


@lru_cache(maxsize=1)
def load(path: Path = PATH) -> WordVectors:
    """Load the shipped table, or another one written by the distillation script."""
    try:
        with np.load(path, allow_pickle=False) as data:
            words = data["words"].tobytes().decode("utf-8").split("\n")
            codes, scales = data["codes"], data["scales"]
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise InputError(f"cannot read the word vectors {path} ({error}); reinstall captious") from error
    name = NAME if path == PATH else path.name
    return WordVectors(name, WordList(words), QuantisedRows(codes, scales), compounds=True)
