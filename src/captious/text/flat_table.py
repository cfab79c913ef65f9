"""Large table of texts in a few arrays, which can be mapped from a file and are read on access."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import offsets_of

#: Names of the arrays of a table.
PARTS = ("keys", "key_ends", "values", "value_ends", "buckets")


def flat_arrays(table: Mapping[str, bytes]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a table. Entries are sorted by bucket, which the checksum of the key selects."""
    keys, values = [_bytes(key) for key in table], list(table.values())
    size = 1 << max(len(keys), 1).bit_length()
    bucket = np.fromiter(map(zlib.crc32, keys), np.int64, len(keys)) & (size - 1)
    order = np.argsort(bucket, kind="stable").tolist()
    keys, values = [keys[i] for i in order], [values[i] for i in order]
    return {
        "keys": np.frombuffer(b"".join(keys), np.uint8),
        "key_ends": _ends(keys),
        "values": np.frombuffer(b"".join(values), np.uint8),
        "value_ends": _ends(values),
        "buckets": offsets_of(np.bincount(bucket, minlength=size)).astype(np.uint32),
    }


class FlatTable(Mapping[str, bytes]):
    """Read-only mapping over the arrays of `flat_arrays`."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> None:
        #: The arrays by name, read-only.
        self.arrays = {part: np.ascontiguousarray(arrays[prefix + part]).view() for part in PARTS}
        for array in self.arrays.values():
            array.flags.writeable = False
        # Indexing a memoryview is several times faster than indexing an array.
        self._keys, self._key_ends, self._values, self._value_ends, self._buckets = (
            self.arrays[part].data for part in PARTS
        )
        self._mask = len(self._buckets) - 2

    def __reduce__(self) -> tuple[type[FlatTable], tuple[dict[str, NDArray[Any]]]]:
        """Pickle arrays, because memoryviews cannot be pickled."""
        return FlatTable, (self.arrays,)

    def find(self, word: str) -> bytes | None:
        """Return the value of a key, or None."""
        key = _bytes(word)
        bucket = zlib.crc32(key) & self._mask
        for row in range(self._buckets[bucket], self._buckets[bucket + 1]):
            if self._keys[self._key_ends[row] : self._key_ends[row + 1]] == key:
                return bytes(self._values[self._value_ends[row] : self._value_ends[row + 1]])
        return None

    def __getitem__(self, word: str) -> bytes:
        value = self.find(word)
        if value is None:
            raise KeyError(word)
        return value

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.find(word) is not None

    def __iter__(self) -> Iterator[str]:
        return (
            bytes(self._keys[self._key_ends[row] : self._key_ends[row + 1]]).decode("utf-8", "surrogatepass")
            for row in range(len(self))
        )

    def __len__(self) -> int:
        return len(self._key_ends) - 1


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _ends(parts: Sequence[bytes]) -> NDArray[np.uint32]:
    return offsets_of([len(part) for part in parts]).astype(np.uint32)
