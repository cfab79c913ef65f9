"""File format for arrays with a description, used for prepared references, saved scores and caches.

Layout (little-endian): ``captious``, the length of the header (8 bytes), the header's checksum (16 bytes),
the header (JSON), then the arrays, each at a multiple of 64 bytes. The header holds the kind of file, its
version and size, and the type, shape, offset and checksum of each array. Checksums are 128-bit BLAKE2b.
Those of arrays include the padding after them, so every byte of the file is covered. Arrays are mapped into
memory and verified on first access. Nothing in such a file is executed.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from captious.core.cache import Kind, remember, remembered, stamp
from captious.core.errors import InputError
from captious.core.ragged import IntArray, offsets_of, runs
from captious.core.threads import for_each
from captious.core.writing import atomic_write

_MAGIC = b"captious"
_ALIGNMENT = 64
#: Most bytes of a header. Larger data belongs in an array.
_LARGEST_HEADER = 1 << 26
_KINDS = "biuf"


def _checksum(data: Any) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def write(
    path: str | Path, kind: str, version: int, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> str:
    """Write a file atomically and return the checksum of its header.

    ``meta`` is JSON. Arrays hold numbers or booleans.
    """
    rows: list[dict[str, Any]] = []
    blocks: list[tuple[Any, bytes]] = []
    position = 0
    for name, values in arrays.items():
        data = np.ascontiguousarray(values)
        if data.dtype.kind not in _KINDS:
            raise ValueError(f"an array of {data.dtype} cannot be saved: {name}")
        data = data.astype(data.dtype.newbyteorder("<"), copy=False)
        raw = data.reshape(-1).view(np.uint8).data if data.size else memoryview(b"")
        padding = bytes(-raw.nbytes % _ALIGNMENT)
        state = hashlib.blake2b(raw, digest_size=16)
        state.update(padding)
        rows.append(
            {
                "name": name,
                "type": data.dtype.str,
                "shape": list(data.shape),
                "at": position,
                "check": state.hexdigest(),
            }
        )
        blocks.append((raw, padding))
        position += raw.nbytes + len(padding)
    described = {"kind": kind, "version": version, "size": position, "arrays": rows, "meta": meta}
    header = json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    head = len(_MAGIC) + 8 + 16
    header += b" " * (-(head + len(header)) % _ALIGNMENT)
    check = _checksum(header)
    with atomic_write(path) as temporary, temporary.open("wb") as stream:
        stream.write(_MAGIC + len(header).to_bytes(8, "little") + bytes.fromhex(check))
        stream.write(header)
        for raw, padding in blocks:
            stream.write(raw)
            stream.write(padding)
    return check


class Container:
    """Opened file: ``meta``, and arrays that are verified on first access."""

    def __init__(
        self, path: Path, kind: str, meta: dict[str, Any], arrays: MappedArrays, check: str = ""
    ) -> None:
        self.path = path
        self.kind = kind
        self.meta = meta
        self.arrays = arrays
        #: Checksum of the header. The header holds all other checksums, so this one covers the whole file.
        self.check = check

    def texts(self, name: str) -> StoredTexts:
        """Return texts that were written with :func:`text_arrays`."""
        return StoredTexts(self.arrays[name], self.arrays[name + "/offsets"])


class MappedArrays(Mapping[str, NDArray[Any]]):
    """Arrays of a mapped file, by name."""

    def __init__(self, path: Path, mapped: Any, start: int, rows: Sequence[Mapping[str, Any]]) -> None:
        self._path, self._mapped, self._start = path, mapped, start
        self._rows = {row["name"]: row for row in rows}
        self._opened: dict[str, NDArray[Any]] = {}
        self._trusted = False

    def trust(self) -> None:
        """Skip the verification of arrays from now on."""
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
            raise _damaged(self._path, f"its part '{row['name']}' has a wrong checksum")
        values: NDArray[Any] = np.frombuffer(block[:size], dtype=dtype).reshape(shape)
        return values


def _damaged(path: Path, why: str) -> InputError:
    return InputError(f"{path}: damaged ({why}); make the file again")


def begins(content: bytes) -> bool:
    """Whether content starts like a file of this format."""
    return content.startswith(_MAGIC)


def is_container(path: str | Path) -> bool:
    """Whether a file starts like a file of this format."""
    try:
        if not Path(path).is_file():  # a pipe can be read only once
            return False
        with Path(path).open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):  # such as a NUL in the name; reading the file will report it
        return False


def read(
    path: str | Path,
    kind: str,
    version: int,
    how: str,
    content: bytes | None = None,
    *,
    oldest: int | None = None,
) -> Container:
    """Open a file of one kind, in the versions from ``oldest`` (by default ``version``) to ``version``.

    ``how`` completes messages: how to create such a file. ``content`` is the content of the file if it
    was read already.
    """
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
                raise _damaged(source, "wrong checksum of the header")
            described = _described(source, header)
            if described["kind"] != kind:
                raise InputError(f"{source}: {_article(str(described['kind']))}, not {_article(kind)}; {how}")
            if not (version if oldest is None else oldest) <= described["version"] <= version:
                age = "an older" if described["version"] < version else "a newer"
                raise InputError(
                    f"{source}: {_article(kind)} of {age} captious (format {described['version']}, "
                    f"this one reads {version}); {how}"
                )
            stream.seek(0, 2)
            if stream.tell() != start + described["size"]:
                raise _damaged(
                    source, f"{stream.tell():,} bytes where {start + described['size']:,} were written"
                )
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if content is None else content
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}") from error
    return Container(
        source, kind, described["meta"], MappedArrays(source, mapped, start, described["arrays"]), check
    )


def write_kept(path: Path, kind: Kind, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file of the cache and remember it as checked.

    It holds its own name, so that a renamed file is not mistaken for another.
    """
    remember(path, write(path, kind.name, kind.version, {"name": path.name}, arrays))


def open_kept(
    path: Path, kind: Kind, is_sound: Callable[[Mapping[str, NDArray[Any]]], bool]
) -> dict[str, NDArray[Any]] | None:
    """Return all arrays of a file of the cache, or None if it is missing, damaged, or of another kind,
    version or name.

    Unless the file is unchanged since the last time, every byte is verified, and ``is_sound`` checks
    the arrays.
    """
    try:
        opened = read(path, kind.name, kind.version, "create it again")
        if opened.meta.get("name") != path.name:
            return None
        vouch(opened, is_sound)
        return dict(opened.arrays)
    except (InputError, KeyError, OSError):
        return None


def vouch(
    opened: Container, is_sound: Callable[[Mapping[str, NDArray[Any]]], bool] = lambda arrays: True
) -> None:
    """Verify every byte of an opened file now, and its arrays with ``is_sound``, unless it is unchanged
    since the last time."""
    before = stamp(opened.path)
    if remembered(opened.path) != opened.check:
        # Hashing releases the interpreter's lock.
        for_each(opened.arrays.__getitem__, list(opened.arrays))
        if not is_sound(opened.arrays):
            raise _damaged(opened.path, "its arrays do not fit together")
        if stamp(opened.path) == before:
            remember(opened.path, opened.check)
    opened.arrays.trust()


def _described(source: Path, header: bytes) -> dict[str, Any]:
    """Return the header if it is valid.

    A right checksum means that it is undamaged, not that it can be trusted.
    """
    try:
        header_fields: dict[str, Any] = json.loads(header.decode("utf-8", "surrogatepass"))
        size = int(header_fields["size"])
        for row in header_fields["arrays"]:
            dtype = np.dtype(row["type"])
            extent = dtype.itemsize
            for side in row["shape"]:
                extent *= int(side)
                if int(side) < 0:
                    raise ValueError("a negative shape")
            at = int(row["at"])
            if dtype.kind not in _KINDS or at < 0 or at % _ALIGNMENT or at + extent > size:
                raise ValueError(f"an impossible array '{row['name']}'")
        if (
            not isinstance(header_fields["kind"], str)
            or not isinstance(header_fields["version"], int)
            or not isinstance(header_fields["meta"], dict)
        ):
            raise TypeError("no kind, version and meta")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(source, f"invalid header: {error}") from None
    return header_fields


def _article(kind: str) -> str:
    return f"a file of {kind}"


# Texts --------------------------------------------------------------------------------------------


def text_arrays(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return texts as two arrays: their UTF-8 bytes and their offsets."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return {
        name: np.frombuffer(b"".join(encoded), np.uint8),
        name + "/offsets": offsets_of([len(text) for text in encoded]),
    }


#: Number of texts from which `compact` uses an array. As objects, they take twice the memory.
MANY = 100_000
_PORTION = 1 << 15


def compact(texts: Sequence[str]) -> Sequence[str]:
    """Return the same texts, in an array if there are many."""
    return texts if len(texts) < MANY or isinstance(texts, StoredTexts) else StoredTexts.of(texts)


class StoredTexts(Sequence[str]):
    """Texts in an array, decoded on access."""

    def __init__(self, data: NDArray[np.uint8], offsets: IntArray) -> None:
        self._data, self._offsets = data, offsets

    @classmethod
    def of(cls, texts: Sequence[str]) -> StoredTexts:
        """Encode texts, one portion at a time."""
        parts = [
            text_arrays("", texts[start : start + _PORTION])
            for start in range(0, max(len(texts), 1), _PORTION)
        ]
        lengths = np.concatenate([np.diff(part["/offsets"]) for part in parts])
        return cls(np.concatenate([part[""] for part in parts]), offsets_of(lengths))

    @property
    def arrays(self) -> tuple[NDArray[np.uint8], IntArray]:
        """UTF-8 bytes of all texts and their offsets."""
        return self._data, self._offsets

    @property
    def size(self) -> int:
        """Total number of bytes."""
        return int(self._offsets[-1] - self._offsets[0])

    def take(self, index: IntArray) -> StoredTexts:
        """Return some of the texts."""
        # In portions, because the index of bytes takes eight times the memory of the bytes.
        parts = [
            self._data[runs(self._offsets, index[start : start + _PORTION])[0]]
            for start in range(0, max(len(index), 1), _PORTION)
        ]
        return StoredTexts(np.concatenate(parts), offsets_of(np.diff(self._offsets)[index]))

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
                # A byte is a character, so all texts are decoded at once.
                text = data.decode("ascii")
                return [text[a - first : b - first] for a, b in itertools.pairwise(bounds)]
            return [
                data[a - first : b - first].decode("utf-8", "surrogatepass")
                for a, b in itertools.pairwise(bounds)
            ]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        i %= len(self)
        return self._data[self._offsets[i] : self._offsets[i + 1]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])


class Grouped(Sequence[Sequence[str]]):
    """Texts in groups, one group per image."""

    def __init__(self, texts: Sequence[str], offsets: IntArray) -> None:
        #: Texts of all groups. Group i is ``texts[offsets[i]:offsets[i + 1]]``.
        self.texts, self.offsets = texts, np.asarray(offsets)

    def take(self, index: IntArray) -> Grouped:
        """Return some of the groups."""
        rows, offsets = runs(self.offsets, index)
        return Grouped(
            self.texts.take(rows)
            if isinstance(self.texts, StoredTexts)
            else [self.texts[i] for i in rows.tolist()],
            offsets,
        )

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
        # In portions of growing size: comparisons of two files mostly end at the first image.
        start, step = 0, 16
        while start < len(self):
            bounds = self.offsets[start : start + step + 1].tolist()
            texts = self.texts[bounds[0] : bounds[-1]]
            yield from (texts[a - bounds[0] : b - bounds[0]] for a, b in itertools.pairwise(bounds))
            start, step = start + step, min(step * 4, 4096)
