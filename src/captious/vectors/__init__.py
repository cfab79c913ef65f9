"""Word vectors: the embedded default, an installed package, or a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from captious.errors import InputError, did_you_mean
from captious.vectors.table import WordVectors

__all__ = ["NAMES", "WordVectors", "get"]

#: Tables that can be asked for by name.
NAMES = ("default", "glove-6b-50d")

Source = str | os.PathLike[str] | WordVectors | Mapping[str, Sequence[float]]


def get(source: Source | None = None) -> WordVectors:
    """Word vectors by name ("default", "glove-6b-50d"), from a file, or from any ``{word: vector}``.

    Files: GloVe text, word2vec text and binary, fastText ``.vec`` and ``.bin``; the format is found by looking inside.
    """
    if isinstance(source, WordVectors):
        return source
    if isinstance(source, Mapping):
        return WordVectors.from_mapping(source)
    name = "default" if source is None else str(source)
    if name.casefold() == "default":
        return _default()
    if name.casefold() == "glove-6b-50d":
        return _glove()
    path = Path(name).expanduser()
    if not path.is_file():
        raise InputError(
            f"no word vectors called '{name}'{did_you_mean(name, NAMES)}: give 'default', 'glove-6b-50d' or the path "
            "of a GloVe, word2vec or fastText file"
        )
    from captious.cache import content_digest

    return _file(path.resolve(), content_digest(path)[:8])


@lru_cache(maxsize=1)
def _default() -> WordVectors:
    from captious.vectors.default import load

    return load()


@lru_cache(maxsize=1)
def _glove() -> WordVectors:
    from captious.vectors.glove import load

    return load()


@lru_cache(maxsize=4)
def _file(path: Path, digest: str) -> WordVectors:
    from captious.vectors import fasttext, files, store

    try:
        name = path.name
        with path.open("rb") as handle:
            if handle.read(2) == b"\x1f\x8b":
                raise InputError(f"the word vectors {path} are gzip-compressed; unpack the file first (gunzip)")
        if fasttext.is_fasttext(path):
            return fasttext.read(path, name, digest)
        convert: Any = files.convert_word2vec_binary if files.looks_binary(path) else files.convert_text
        words, rows, found = store.converted(path, convert)
    except OSError as error:
        raise InputError(f"cannot read the word vectors {path}: {error.strerror or error}") from error
    return WordVectors(name, words, rows, digest=found)
