"""Files of document frequencies: tables of captious, pickles of the COCO tools, and lists of n-grams with
counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from reprlib import repr as shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.cache import stamp
from captious.core.errors import InputError
from captious.core.writing import atomic_write, is_standard
from captious.corpus.frequencies import LARGEST, FrequencyTable
from captious.io import pickled
from captious.io.content import check_lines, is_number, read_raw, shown_name
from captious.io.npz import read_npz

_HOW = "'captious df build REFS -o FILE' makes one from reference captions"


def read_frequencies(path: str | Path, images: int | None = None) -> FrequencyTable:
    """Read document frequencies from a file. The format is detected from the content.

    ``images`` is the number of counted images, for files that lack it. Files are cached until they change,
    because training loops request them in every step.
    """
    place = Path(path)
    if not is_standard(path) and place.is_file():
        return _read_cached(place.resolve(), stamp(place), str(path), images)
    return _read(path, images)


@lru_cache(maxsize=2)
def _read_cached(place: Path, touched: str, path: str, images: int | None) -> FrequencyTable:
    return _read(path, images)


def _read(path: str | Path, images: int | None) -> FrequencyTable:
    source, content = shown_name(path), read_raw(path)
    if not content:
        raise InputError(f"{source}: an empty file, not document frequencies; {_HOW}")
    try:
        if content[:2] == b"PK":
            return _from_archive(source, content)
        if content[:1] == b"\x80" or content[:2] in (b"(d", b"cc", b"cn", b"}q", b"c_"):
            return _from_pickle(source, content, images)
        return _from_list(source, content, images)
    except InputError as error:
        raise error if str(error).startswith(source) else InputError(f"{source}: {error}; {_HOW}") from None


# Tables of captious -----------------------------------------------------------------------------------------

_FORMAT = 1


def save_frequencies(table: FrequencyTable, path: str | Path) -> None:
    """Write a table (a NumPy archive; nothing in it is executable)."""
    arrays: dict[str, NDArray[np.generic]] = {
        "format": np.array([_FORMAT, table.images, *sorted(table.table)], dtype=np.int64),
        "words": np.frombuffer("\n".join(table.vocabulary.words).encode(), dtype=np.uint8),
        "tokenizer": np.frombuffer(table.tokenizer.encode(), dtype=np.uint8),
    }
    for n, counts in table.table.items():
        arrays[f"grams_{n}"] = table.grams[n]
        # Four bytes suffice for every known corpus.
        arrays[f"counts_{n}"] = counts.astype(np.int32 if counts.max(initial=0) < 2**31 else np.int64)
    with atomic_write(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]


def _from_archive(source: str, content: bytes) -> FrequencyTable:
    archive = read_npz(content, source, "a table of document frequencies")
    try:
        version, images, *orders = archive["format"].tolist()
        if version != _FORMAT:
            raise InputError(
                f"{source}: document frequencies of format {version}; this version reads {_FORMAT}"
            )
        words = archive["words"].tobytes().decode().split("\n")
        tokenizer = archive["tokenizer"].tobytes().decode()
        grams = {n: archive[f"grams_{n}"] for n in orders}
        counts = {n: archive[f"counts_{n}"] for n in orders}
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{source}: not a table of document frequencies ({error}); {_HOW}") from error
    return FrequencyTable(words, grams, counts, images, tokenizer)


# Pickles ------------------------------------------------------------------------------------------


def _from_pickle(source: str, content: bytes, images: int | None) -> FrequencyTable:
    loaded = pickled.load(content, source, _HOW)
    table = loaded
    if isinstance(loaded, dict) and "document_frequency" in loaded:
        table = loaded["document_frequency"]
        images = images or _number_of_images(loaded.get("ref_len"), table)
    if not isinstance(table, dict) or not table:
        raise InputError(f"{source}: a pickled {type(table).__name__}, not a table of n-grams; {_HOW}")
    return _table(source, _pickled_rows(source, table), images)


def _number_of_images(stated: object, table: object) -> int | None:
    """Return the number of images. Some tools store its logarithm, which is less than the largest count."""
    if not is_number(stated) or stated <= 0:
        return None
    largest = max((c for c in table.values() if is_number(c)), default=0) if isinstance(table, dict) else 0
    return round(math.exp(stated)) if stated < largest and stated < 40 else round(stated)


def _pickled_rows(source: str, table: dict[Any, Any]) -> Iterator[tuple[tuple[str, ...], float]]:
    for gram, count in table.items():
        words = tuple(gram.split(" ")) if isinstance(gram, str) else gram
        if not isinstance(words, tuple) or not words or not all(isinstance(word, str) for word in words):
            raise InputError(f"{source}: {shorten(gram)} is not an n-gram (a tuple of words); {_HOW}")
        if not is_number(count):
            shown = "too large" if isinstance(count, int) else f"{shorten(count)}, not a number"
            raise InputError(f"{source}: the count of {shorten(words)} is {shown}; {_HOW}")
        yield words, count


# Lists --------------------------------------------------------------------------------------------


def _from_list(source: str, content: bytes, images: int | None) -> FrequencyTable:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source}: neither a table of document frequencies nor text "
            f"(byte {error.start} is not UTF-8); {_HOW}"
        ) from error
    return _table(source, _listed_rows(source, text), images)


def _listed_rows(source: str, text: str) -> Iterator[tuple[list[str], float]]:
    lines = text.split("\n")
    check_lines(lines, source)
    for number, line in enumerate(lines, 1):
        if not line.strip("\r"):
            continue
        gram, tab, count = line.rstrip("\r").rpartition("\t")
        try:
            yield gram.split(" "), float(count) if tab else float("nan")
        except ValueError:
            raise InputError(
                f"{source}, line {number}: expected an n-gram, a tab and a count, found {line[:80]!r}"
            ) from None
        if not tab:
            raise InputError(
                f"{source}, line {number}: expected an n-gram, a tab and a count, found {line[:80]!r}; {_HOW}"
            )


def _table(source: str, rows: Iterator[tuple[Any, float]], images: int | None) -> FrequencyTable:
    listed = list(rows)
    if images is None:
        raise InputError(
            f"{source}: the number of images is not in the file; "
            "give it with --images N (in 'captious df import')"
        )
    for gram, count in listed:
        if not is_number(count) or count < 0 or count > LARGEST or count != round(count):
            raise InputError(
                f"{source}: the count of {shorten(' '.join(gram))} is {count:g}; "
                "counts are whole numbers of images"
            )
    try:
        return FrequencyTable.from_counts(listed, images)
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
