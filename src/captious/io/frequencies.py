"""Document frequencies in files: our own tables, the pickles of the COCO tools, and plain lists of n-grams with counts."""

from __future__ import annotations

import gzip
import io
import math
import pickle
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from captious.cache import atomic_write
from captious.errors import InputError
from captious.frequencies import FrequencyTable

_HOW = "'captious df build REFS -o FILE' makes one from reference captions"


def read_frequencies(path: str | Path, images: int | None = None) -> FrequencyTable:
    """Document frequencies from a file of any known kind, found by content.

    ``images`` is the number of images counted, for files that do not say it.
    """
    source = Path(path)
    try:
        content = source.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{source}: cannot be read as document frequencies ({error}); {_HOW}") from error
    if not content:
        raise InputError(f"{source}: an empty file, not document frequencies; {_HOW}")
    if content[:2] == b"PK":
        return _from_archive(source)
    if content[:1] == b"\x80" or content[:2] in (b"(d", b"cc", b"cn", b"}q"):
        return _from_pickle(source, content, images)
    return _from_list(source, content, images)


# Our own -------------------------------------------------------------------------------------------------------------

_FORMAT = 1


def save_frequencies(table: FrequencyTable, path: str | Path) -> None:
    """Write a table (a NumPy archive; nothing in it is executable)."""
    arrays: dict[str, NDArray[np.generic]] = {
        "format": np.array([_FORMAT, table.images, *sorted(table.table)], dtype=np.int64),
        "words": np.frombuffer("\n".join(table.vocabulary.words).encode(), dtype=np.uint8),
        "tokenizer": np.frombuffer(table.tokenizer.encode(), dtype=np.uint8),
    }
    for n in table.table:
        arrays[f"grams_{n}"] = table.grams[n]
        arrays[f"counts_{n}"] = table.table[n].astype(np.int32)
    with atomic_write(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]


def _from_archive(source: Path) -> FrequencyTable:
    try:
        with np.load(source, allow_pickle=False) as archive:
            version, images, *orders = archive["format"].tolist()
            if version != _FORMAT:
                raise InputError(f"{source}: document frequencies of format {version}; this version reads {_FORMAT}")
            words = archive["words"].tobytes().decode().split("\n")
            tokenizer = archive["tokenizer"].tobytes().decode()
            grams = {n: archive[f"grams_{n}"].astype(np.int32) for n in orders}
            counts = {n: archive[f"counts_{n}"].astype(np.int64) for n in orders}
    except (OSError, ValueError, KeyError, zlib.error, EOFError, BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{source}: not a table of document frequencies ({error}); {_HOW}") from error
    return FrequencyTable(words, grams, counts, images, tokenizer)


# Pickles -------------------------------------------------------------------------------------------------------------


class _Plain(dict[Any, Any]):
    """Stands in for collections.defaultdict: a dictionary whatever its default factory was."""

    def __init__(self, *_: object) -> None:
        super().__init__()


def _scalar(kind: _Kind, data: bytes = b"") -> float | int:
    """A NumPy scalar, from its bytes, without NumPy's own unpickling."""
    raw = data.encode("latin-1") if isinstance(data, str) else data
    if kind.code[:1] not in ("f", "i", "u") or not 0 < len(raw) <= 8:
        raise pickle.UnpicklingError(f"a number of kind {kind.code!r}")
    return np.frombuffer(raw, dtype=np.dtype("<" + kind.code), count=1)[0].item()  # type: ignore[no-any-return]


def _as_bytes(text: str, encoding: str = "latin1") -> bytes:
    """How older pickles write bytes: as text in Latin-1."""
    return text.encode("latin-1")


class _Kind:
    """Stands in for numpy.dtype: remembers the code, nothing else."""

    def __init__(self, code: str, *_: object) -> None:
        self.code = str(code)

    def __setstate__(self, state: object) -> None:
        """Byte order and the like; little-endian numbers are what these files hold."""


_HARMLESS: dict[tuple[str, str], Any] = {
    ("collections", "defaultdict"): _Plain,
    ("collections", "OrderedDict"): _Plain,
    ("collections", "Counter"): _Plain,
    ("_codecs", "encode"): _as_bytes,
    ("numpy", "dtype"): _Kind,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("numpy._core.multiarray", "scalar"): _scalar,
}
for _module in ("builtins", "__builtin__"):
    _HARMLESS |= {(_module, "float"): float, (_module, "int"): int, (_module, "dict"): dict}


class _RestrictedUnpickler(pickle.Unpickler):
    """Builds dictionaries, tuples, lists, strings and numbers; refuses whatever could run code."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _HARMLESS[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}") from None


def _from_pickle(source: Path, content: bytes, images: int | None) -> FrequencyTable:
    try:
        # Python 2 wrote most of the tables that circulate: their words are bytes, and so are their NumPy numbers,
        # which need not be UTF-8.
        try:
            loaded = _RestrictedUnpickler(io.BytesIO(content), encoding="utf-8").load()
        except UnicodeDecodeError:
            loaded = _RestrictedUnpickler(io.BytesIO(content), encoding="latin-1").load()
    except Exception as error:
        raise InputError(
            f"{source}: a pickle that was not loaded: {error}. Only tables of n-grams and numbers are read, because "
            f"a pickle can run any code; {_HOW}"
        ) from error
    table = loaded
    if isinstance(loaded, dict) and "document_frequency" in loaded:
        table = loaded["document_frequency"]
        images = images or _number_of_images(source, loaded.get("ref_len"), table)
    if not isinstance(table, dict) or not table:
        raise InputError(f"{source}: a pickled {type(table).__name__}, not a table of n-grams; {_HOW}")
    return _table(source, _pickled_rows(source, table), images)


def _number_of_images(source: Path, stated: object, table: object) -> int | None:
    """Some tools store the number of images, others its logarithm, which is smaller than the largest count."""
    if not isinstance(stated, int | float) or isinstance(stated, bool) or not stated > 0 or math.isinf(stated):
        return None
    largest = max((c for c in table.values() if isinstance(c, int | float)), default=0) if isinstance(table, dict) else 0
    return round(math.exp(stated)) if stated < largest and stated < 40 else round(stated)


def _pickled_rows(source: Path, table: dict[Any, Any]) -> Iterator[tuple[tuple[str, ...], float]]:
    for gram, count in table.items():
        words = tuple(gram.split(" ")) if isinstance(gram, str) else gram
        if not isinstance(words, tuple) or not words or not all(isinstance(word, str) for word in words):
            raise InputError(f"{source}: {gram!r} is not an n-gram (a tuple of words); {_HOW}")
        if isinstance(count, bool) or not isinstance(count, int | float):
            raise InputError(f"{source}: the count of {' '.join(words)!r} is {count!r}, not a number; {_HOW}")
        yield words, count


# Lists ---------------------------------------------------------------------------------------------------------------


def _from_list(source: Path, content: bytes, images: int | None) -> FrequencyTable:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source}: neither a table of document frequencies nor text (byte {error.start} is not UTF-8); {_HOW}"
        ) from error
    return _table(source, _listed_rows(source, text), images)


def _listed_rows(source: Path, text: str) -> Iterator[tuple[list[str], float]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip("\r"):
            continue
        gram, tab, count = line.rstrip("\r").rpartition("\t")
        try:
            yield gram.split(" "), float(count) if tab else float("nan")
        except ValueError:
            raise InputError(f"{source}, line {number}: expected an n-gram, a tab and a count, found {line[:80]!r}") from None
        if not tab:
            raise InputError(f"{source}, line {number}: expected an n-gram, a tab and a count, found {line[:80]!r}; {_HOW}")


def _table(source: Path, rows: Iterator[tuple[Any, float]], images: int | None) -> FrequencyTable:
    listed = list(rows)
    if images is None:
        raise InputError(
            f"{source}: does not say how many images were counted: name the number (--images N with 'captious df import')"
        )
    for gram, count in listed:
        if not math.isfinite(count) or count < 0:
            raise InputError(f"{source}: the count of {' '.join(gram)!r} is {count}")
    try:
        return FrequencyTable.from_counts(listed, images)
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
