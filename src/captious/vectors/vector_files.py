"""Files of word vectors: GloVe and word2vec text, word2vec binary, fastText ``.vec``.

They are converted into the cache folder, where they open in milliseconds. A converted copy is named by a
digest of its source and has checksums, so edited sources and damaged copies are converted again.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from captious.core import container, limits
from captious.core.cache import VECTORS, content_digest, derived
from captious.core.errors import InputError, printable
from captious.core.progress import track
from captious.vectors.vector_table import MappedWords, PlainRows, digest_of

_HEADER = re.compile(rb"(\d+)[ \t]+(\d+)\s*")
_MOST_DIMENSIONS = 100_000


def header_of(line: bytes) -> tuple[int, int] | None:
    """Return words and dimension from the header of a word2vec or fastText file, None for another line."""
    match = _HEADER.fullmatch(line)
    return (int(match[1]), int(match[2])) if match else None


def looks_binary(path: Path) -> bool:
    """Return whether a file is in word2vec's binary format: a text header, then bytes that are not text."""
    with path.open("rb") as handle:
        if header_of(handle.readline(200)) is None:
            return False
        sample = handle.read(4096)
    return any(byte < 9 or 13 < byte < 32 for byte in sample)


def convert_text(path: Path, out: BinaryIO) -> tuple[list[bytes], int]:
    """Convert GloVe (no header), word2vec or fastText text (header): one word and its numbers per line."""
    words: list[bytes] = []
    with path.open("rb") as handle:
        longest = limits.LINE.value()
        first = handle.readline(longest + 1)
        limits.LINE.check(len(first), f"{path}, line 1")
        header = header_of(first)
        if header is None:
            dimension, stated = len(first.split()) - 1, None
            handle.seek(0)
        else:
            stated, dimension = header
        skipped = 0 if header is None else 1
        if not 1 <= dimension <= _MOST_DIMENSIONS:
            raise InputError(
                f"{path}, line 1: a word and its vector were expected, found '{_shown(first)}'; "
                "give a GloVe, word2vec or fastText file"
            )
        lines = iter(lambda: handle.readline(longest + 1), b"")
        for number, line in enumerate(track(lines, f"reading {path.name}"), start=skipped + 1):
            limits.LINE.check(len(line), f"{path}, line {number:,}")
            if not line.strip():
                continue
            # From the right, since a few words of the large GloVe tables contain spaces.
            parts = line.rstrip().rsplit(None, dimension)
            if len(parts) != dimension + 1:
                raise InputError(
                    f"{path}, line {number:,}: a word and {dimension} numbers were expected, found "
                    f"{len(parts):,} "
                    f"fields ('{_shown(line)}'); the file is damaged or cut off"
                )
            out.write(_numbers(parts[1:], path, number, line).tobytes())
            words.append(parts[0])
    if stated is not None and stated != len(words):
        raise InputError(
            f"{path}: its first line announces {stated:,} words, but it has {len(words):,}; "
            "the file is cut off"
        )
    return words, dimension


def _numbers(
    fields: list[bytes], path: Path, number: int, line: bytes
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # NumPy's report of text that is not a number
            values = np.fromstring(b" ".join(fields).decode("ascii"), dtype=np.float32, sep=" ")
        if len(values) != len(fields) or not np.isfinite(values).all():
            raise ValueError
    except (ValueError, DeprecationWarning):
        raise InputError(
            f"{path}, line {number:,}: {len(fields)} finite numbers were expected after the word, found "
            f"'{_shown(line)}'; the file is damaged"
        ) from None
    return values


def convert_word2vec_binary(path: Path, out: BinaryIO) -> tuple[list[bytes], int]:
    """Convert word2vec's binary format: a header, then each word's bytes, a space and raw 32-bit floats."""
    words: list[bytes] = []
    with path.open("rb") as handle:
        header = header_of(handle.readline(200))
        if header is None or not 1 <= header[1] <= _MOST_DIMENSIONS:
            raise InputError(
                f"{path}, line 1: 'words dimension' was expected; this is not a word2vec binary file"
            )
        count, dimension = header
        buffer, position = b"", 0
        for number in track(range(1, count + 1), f"reading {path.name}"):
            space = buffer.find(b" ", position)
            while space < 0 or len(buffer) < space + 1 + 4 * dimension:
                more = handle.read(1 << 22)
                if not more or len(buffer) - position > (1 << 24):
                    raise InputError(
                        f"{path}: word {number:,} of {count:,} is incomplete; the file is cut off or damaged"
                    )
                buffer, position = buffer[position:] + more, 0
                space = buffer.find(b" ", position)
            # Some writers end a record with a newline, which then precedes the next word.
            words.append(buffer[position:space].lstrip(b"\n"))
            values = np.frombuffer(buffer, "<f4", dimension, space + 1)
            if not np.isfinite(values).all():
                raise InputError(
                    f"{path}: the vector of word {number:,} ('{_shown(words[-1])}') is not made of finite "
                    "numbers; "
                    "the file is damaged"
                )
            out.write(values.astype(np.float32).tobytes())
            position = space + 1 + 4 * dimension
        if (buffer[position:] + handle.read(16)).strip():
            raise InputError(
                f"{path}: more bytes follow its {count:,} words; the header or the file is damaged"
            )
    return words, dimension


def _shown(line: bytes) -> str:
    text = printable(line[:60].decode("utf-8", "replace").strip())
    return text + ("…" if len(line) > 60 else "")


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
