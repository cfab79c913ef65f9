"""Word-vector files converted once: afterwards a table opens in milliseconds, mapped from the cache folder.

A converted copy is named by the content of the file it was made from, the whole of it, and has checksums of its own: a file
that was edited is converted again, and so is a copy that was damaged.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from captious.cache import content_digest, derived
from captious.errors import InputError
from captious.io import container
from captious.vectors.table import MappedWords, PlainRows, digest_of

KIND = "converted word vectors"
#: Changes whenever the layout of a copy does.
LAYOUT = 3
_ARRAYS = ("text", "offsets", "hashes", "order")


class Converted(NamedTuple):
    """A table as it is kept."""

    words: MappedWords
    rows: PlainRows
    #: Of words and vectors, so that it does not depend on the format they came in.
    digest: str


#: Reads a source: writes its vectors to the file, and returns words (UTF-8) and dimension.
Converter = Callable[[Path, BinaryIO], tuple[list[bytes], int]]


def converted(source: Path, convert: Converter) -> Converted:
    """The words and vectors of a file, from the cache or converted into it."""
    return derived(
        f"vectors/{content_digest(source)}-v{LAYOUT}",
        f"the converted copy of {source}",
        _open,
        lambda path: _make(path, source, convert),
    )


def _make(path: Path, source: Path, convert: Converter) -> None:
    # Beside the copy: the vectors may be larger than what a folder for temporary files can take.
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path.parent) as out:
        words, dimension = convert(source, out)
        size = out.tell()
        if size != 4 * len(words) * dimension:
            raise InputError(f"{source}: {len(words):,} words of {dimension} numbers expected, {size:,} bytes found")
        out.flush()
        shape = (len(words), dimension)
        rows = np.memmap(out, np.float32, "r", shape=shape) if size else np.zeros(shape, np.float32)
        digest = digest_of([word.decode("utf-8", "replace") for word in words], PlainRows(rows))
        meta = {"words": len(words), "dimension": dimension, "source": source.name}
        container.write(path, KIND, LAYOUT, meta, {"vectors": rows, "digest": np.frombuffer(digest.encode(), np.uint8), **MappedWords.arrays(words)})


def _open(path: Path) -> Converted | None:
    arrays = container.open_kept(path, KIND, LAYOUT)
    if arrays is None or set(arrays) != {"vectors", "digest", *_ARRAYS} or arrays["vectors"].ndim != 2:
        return None
    return Converted(
        MappedWords(*(arrays[name] for name in _ARRAYS)), PlainRows(arrays["vectors"]), arrays["digest"].tobytes().decode("ascii")
    )
