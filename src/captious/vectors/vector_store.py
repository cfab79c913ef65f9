"""Converted word-vector files in the cache folder, which open in milliseconds.

A converted copy is named by a digest of its source and has checksums, so edited sources and damaged copies
are converted again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from captious.core import container
from captious.core.cache import content_digest, derived
from captious.core.cache_files import VECTORS
from captious.core.errors import InputError
from captious.vectors.vector_table import MappedWords, PlainRows, digest_of

_ARRAYS = ("text", "offsets", "hashes", "order")


class Converted(NamedTuple):
    """A converted table."""

    words: MappedWords
    rows: PlainRows
    #: Digest of words and vectors, which does not depend on the source's format.
    digest: str


#: Reader of a source: writes the vectors to the file and returns words (UTF-8) and dimension.
Converter = Callable[[Path, BinaryIO], tuple[list[bytes], int]]


def converted(source: Path, convert: Converter) -> Converted:
    """Return the words and vectors of a file, converted into the cache folder if necessary."""
    return derived(
        VECTORS,
        content_digest(source),
        f"the converted copy of {source}",
        _open,
        lambda path: _write(path, source, convert),
    )


def _write(path: Path, source: Path, convert: Converter) -> None:
    # Not in the system's temporary folder, which may be too small for the vectors.
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path.parent) as out:
        words, dimension = convert(source, out)
        size = out.tell()
        if size != 4 * len(words) * dimension:
            raise InputError(
                f"{source}: {size:,} bytes of vectors for {len(words):,} words of {dimension} numbers; "
                "the file is damaged, get a fresh copy"
            )
        out.flush()
        shape = (len(words), dimension)
        rows = np.memmap(out, np.float32, "r", shape=shape) if size else np.zeros(shape, np.float32)
        digest = digest_of([word.decode("utf-8", "replace") for word in words], PlainRows(rows))
        container.write_kept(
            path,
            VECTORS,
            {
                "vectors": rows,
                "digest": np.frombuffer(digest.encode(), np.uint8),
                **MappedWords.arrays(words),
            },
        )


def _open(path: Path) -> Converted | None:
    arrays = container.open_kept(
        path,
        VECTORS,
        lambda arrays: set(arrays) == {"vectors", "digest", *_ARRAYS} and arrays["vectors"].ndim == 2,
    )
    if arrays is None:
        return None
    return Converted(
        MappedWords(*(arrays[name] for name in _ARRAYS)),
        PlainRows(arrays["vectors"]),
        arrays["digest"].tobytes().decode("ascii"),
    )
