"""One file for arrays with a description: what prepared references, saved scores and caches are kept in.

Layout (little-endian): ``captious``, the length of the header (8 bytes), the header's checksum (16 bytes), the header (JSON),
then the arrays, each at a multiple of 64 bytes. The header says what kind of file it is, in which version, how long it is, and
for each array its type, shape, place and checksum. Checksums are BLAKE2b of 128 bits, those of arrays include the filling
behind them, so every byte of the file is covered. Arrays are mapped into memory and checked when they are first looked at.
Nothing in such a file is ever executed.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import mmap
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from captious.cache import remember, remembered, stamp
from captious.errors import InputError
from captious.ragged import IntArray, offsets_of, runs
from captious.threads import side_by_side
from captious.writing import atomic_write

_MAGIC = b"captious"
_ALIGNMENT = 64
#: A header is a description; what would be larger than this belongs into an array.
_LARGEST_HEADER = 1 << 26
_KINDS = "biuf"


def _checksum(data: Any) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def write(path: str | Path, kind: str, version: int, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file, atomically. ``meta`` is JSON; arrays are of numbers or truth values."""
    rows: list[dict[str, Any]] = []
    blocks: list[tuple[Any, bytes]] = []
    position = 0
    for name, values in arrays.items():
        data = np.ascontiguousarray(values)
        if data.dtype.kind not in _KINDS:
            raise ValueError(f"an array of {data.dtype} cannot be kept: {name}")
        data = data.astype(data.dtype.newbyteorder("<"), copy=False)
        raw = data.reshape(-1).view(np.uint8).data if data.size else memoryview(b"")
        filling = bytes(-raw.nbytes % _ALIGNMENT)
        state = hashlib.blake2b(raw, digest_size=16)
        state.update(filling)
        rows.append(
            {"name": name, "type": data.dtype.str, "shape": list(data.shape), "at": position, "check": state.hexdigest()}
        )
        blocks.append((raw, filling))
        position += raw.nbytes + len(filling)
    described = {"kind": kind, "version": version, "size": position, "arrays": rows, "meta": meta}
    header = json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    head = len(_MAGIC) + 8 + 16
    header += b" " * (-(head + len(header)) % _ALIGNMENT)
    with atomic_write(path) as temporary, temporary.open("wb") as stream:
        stream.write(_MAGIC + len(header).to_bytes(8, "little") + bytes.fromhex(_checksum(header)))
        stream.write(header)
        for raw, filling in blocks:
            stream.write(raw)
            stream.write(filling)


class Container:
    """An opened file: ``meta``, and arrays that are checked when they are first looked at."""

    def __init__(self, path: Path, kind: str, meta: dict[str, Any], arrays: Arrays, check: str = "") -> None:
        self.path = path
        self.kind = kind
        self.meta = meta
        self.arrays = arrays
        #: The checksum of the header, and with it, because it holds the others, of all.
        self.check = check

    def texts(self, name: str) -> Texts:
        """Texts that were written as :func:`text_arrays` gives them."""
        return Texts(self.arrays[name], self.arrays[name + "/offsets"])


class Arrays(Mapping[str, NDArray[Any]]):
    """Arrays of a mapped file by name."""

    def __init__(self, path: Path, mapped: Any, start: int, rows: Sequence[Mapping[str, Any]]) -> None:
        self._path, self._mapped, self._start = path, mapped, start
        self._rows = {row["name"]: row for row in rows}
        self._opened: dict[str, NDArray[Any]] = {}
        self._trusted = False

    def trust(self) -> None:
        """Take the arrays as they are: somebody has checked them."""
        self._trusted = True

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._opened:
            self._opened[name] = self._open(self._rows[name])
        return self._opened[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def _open(self, row: Mapping[str, Any]) -> NDArray[Any]:
        dtype, shape, at = np.dtype(row["type"]), tuple(row["shape"]), self._start + row["at"]
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        block = memoryview(self._mapped)[at : at + size + (-size % _ALIGNMENT)]
        if not self._trusted and _checksum(block) != row["check"]:
            raise _damaged(self._path, f"its part '{row['name']}' does not have its checksum")
        values: NDArray[Any] = np.frombuffer(block[:size], dtype=dtype).reshape(shape)
        return values


def _damaged(path: Path, why: str) -> InputError:
    return InputError(f"{path}: damaged ({why}); make the file again")


def begins(content: bytes) -> bool:
    """Whether content begins as these files do."""
    return content.startswith(_MAGIC)


def is_container(path: str | Path) -> bool:
    """Whether a file begins as these files do."""
    try:
        if not Path(path).is_file():  # a pipe can be read once only, and not by us
            return False
        with Path(path).open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):  # a NUL in the name, say: whoever reads the file says so
        return False


def read(path: str | Path, kind: str, version: int, how: str, content: bytes | None = None, *, oldest: int | None = None) -> Container:
    """Open a file of one kind; ``how`` tells how to make one, for messages. Its ``content`` may have been read already. Versions from ``oldest``
    on are read, too."""
    source = Path(path)
    try:
        with source.open("rb") if content is None else io.BytesIO(content) as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                raise InputError(f"{source}: not {_article(kind)}; {how}")
            length = int.from_bytes(stream.read(8), "little")
            check = stream.read(16).hex()
            if length > _LARGEST_HEADER:
                raise _damaged(source, f"a header of {length:,} bytes")
            header = stream.read(length)
            start = stream.tell()
            if len(header) != length or _checksum(header) != check:
                raise _damaged(source, "its header does not have its checksum")
            described = _described(source, header)
            if described["kind"] != kind:
                raise InputError(f"{source}: {_article(str(described['kind']))}, not {_article(kind)}; {how}")
            if not (version if oldest is None else oldest) <= described["version"] <= version:
                age = "an older" if described["version"] < version else "a newer"
                raise InputError(
                    f"{source}: {_article(kind)} of {age} captious (format {described['version']}, this one reads {version}); {how}"
                )
            stream.seek(0, 2)
            if stream.tell() != start + described["size"]:
                raise _damaged(source, f"{stream.tell():,} bytes where {start + described['size']:,} were written")
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if content is None else content
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}") from error
    return Container(source, kind, described["meta"], Arrays(source, mapped, start, described["arrays"]), check)


def open_kept(path: Path, kind: str, version: int) -> dict[str, NDArray[Any]] | None:
    """All arrays of a kept file, or nothing if it is missing, damaged, or of another kind or version.

    Every byte is checked, unless it was checked before and nobody touched the file since.
    """
    try:
        opened = read(path, kind, version, "make it again")
        vouch(opened)
        return dict(opened.arrays)
    except (InputError, KeyError, OSError):
        return None


def vouch(opened: Container) -> None:
    """Check every byte of an opened file now, unless it was done before and nobody touched the file since."""
    before = stamp(opened.path)
    if remembered(opened.path) != opened.check:
        # Checksums are made without the interpreter's lock.
        deque(side_by_side(opened.arrays.__getitem__, list(opened.arrays)), maxlen=0)
        if stamp(opened.path) == before:
            remember(opened.path, opened.check)
    opened.arrays.trust()


def _described(source: Path, header: bytes) -> dict[str, Any]:
    """The header, if it describes a file that can be: its checksum says that nobody damaged it, not who wrote it."""
    try:
        found: dict[str, Any] = json.loads(header.decode("utf-8", "surrogatepass"))
        size = int(found["size"])
        for row in found["arrays"]:
            dtype = np.dtype(row["type"])
            extent = dtype.itemsize
            for side in row["shape"]:
                extent *= int(side)
                if int(side) < 0:
                    raise ValueError("a negative shape")
            at = int(row["at"])
            if dtype.kind not in _KINDS or at < 0 or at % _ALIGNMENT or at + extent > size:
                raise ValueError(f"an impossible array '{row['name']}'")
        if not isinstance(found["kind"], str) or not isinstance(found["version"], int) or not isinstance(found["meta"], dict):
            raise TypeError("no kind, version and meta")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(source, f"its header cannot be understood: {error}") from None
    return found


def _article(kind: str) -> str:
    return f"a file of {kind}"


# Texts ---------------------------------------------------------------------------------------------------------------


def text_arrays(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Texts as two arrays: all bytes in a row, and where each begins."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return {
        name: np.frombuffer(b"".join(encoded), np.uint8),
        name + "/offsets": offsets_of([len(text) for text in encoded]),
    }


#: From so many texts on, they are kept as one array: as objects they take twice the memory.
MANY = 100_000
_PORTION = 1 << 15


def compact(texts: Sequence[str]) -> Sequence[str]:
    """The same texts, in an array where there are many."""
    return texts if len(texts) < MANY or isinstance(texts, Texts) else Texts.of(texts)


class Texts(Sequence[str]):
    """Texts in an array; each is decoded when it is asked for."""

    def __init__(self, data: NDArray[np.uint8], offsets: IntArray) -> None:
        self._data, self._offsets = data, offsets

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Texts, put into an array a portion after the other."""
        parts = [text_arrays("", texts[start : start + _PORTION]) for start in range(0, max(len(texts), 1), _PORTION)]
        lengths = np.concatenate([np.diff(part["/offsets"]) for part in parts])
        return cls(np.concatenate([part[""] for part in parts]), offsets_of(lengths))

    @property
    def arrays(self) -> tuple[NDArray[np.uint8], IntArray]:
        """All bytes in a row, and where each text begins."""
        return self._data, self._offsets

    @property
    def size(self) -> int:
        """How many bytes they have together."""
        return int(self._offsets[-1] - self._offsets[0])

    def take(self, index: IntArray) -> Texts:
        """Some of the texts."""
        # Some at a time: the places of bytes take eight times the room of the bytes.
        parts = [self._data[runs(self._offsets, index[start : start + _PORTION])[0]] for start in range(0, max(len(index), 1), _PORTION)]
        return Texts(np.concatenate(parts), offsets_of(np.diff(self._offsets)[index]))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            start, stop, step = i.indices(len(self))
            if step != 1 or stop <= start:
                return [self[k] for k in range(start, stop, step)]
            bounds = self._offsets[start : stop + 1].tolist()
            first = bounds[0]
            data = self._data[first : bounds[-1]].tobytes()
            if data.isascii():
                # A byte is a character: all are decoded at once.
                text = data.decode("ascii")
                return [text[a - first : b - first] for a, b in itertools.pairwise(bounds)]
            return [data[a - first : b - first].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(bounds)]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        i %= len(self)
        return self._data[self._offsets[i] : self._offsets[i + 1]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])


class Grouped(Sequence[Sequence[str]]):
    """Texts in groups, one for each image."""

    def __init__(self, texts: Sequence[str], offsets: IntArray) -> None:
        #: The texts of all groups, one after the other; group i is ``texts[offsets[i]:offsets[i + 1]]``.
        self.texts, self.offsets = texts, np.asarray(offsets)

    def take(self, index: IntArray) -> Grouped:
        """Some of the groups."""
        rows, offsets = runs(self.offsets, index)
        return Grouped(self.texts.take(rows) if isinstance(self.texts, Texts) else [self.texts[i] for i in rows.tolist()], offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, i: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, i: int | slice) -> Sequence[str] | Sequence[Sequence[str]]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        i %= len(self)
        return self.texts[int(self.offsets[i]) : int(self.offsets[i + 1])]

    def __iter__(self) -> Iterator[Sequence[str]]:
        # Some at a time: whoever compares two files mostly needs the first image.
        start, step = 0, 16
        while start < len(self):
            bounds = self.offsets[start : start + step + 1].tolist()
            texts = self.texts[bounds[0] : bounds[-1]]
            yield from (texts[a - bounds[0] : b - bounds[0]] for a, b in itertools.pairwise(bounds))
            start, step = start + step, min(step * 4, 4096)
