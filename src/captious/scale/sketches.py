"""Mergeable summaries of large sets: number of different items, frequent items, and membership.

Each states its error.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core import container
from captious.kernels import kernel
from captious.kernels.types import Bool, Int64, Out, UInt8

Keys = NDArray[np.uint64]


def mixed(keys: Keys, salt: int = 0) -> Keys:
    """Return 64 well-mixed bits of each key (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        bits: Keys = keys + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(bits ^ (bits >> np.uint64(31)))


class DistinctCount:
    """HyperLogLog (Flajolet et al. 2007) with 64-bit hashes: the number of different keys, with a standard
    error of 1.04/√registers.
    """

    def __init__(self, registers: NDArray[np.uint8] | None = None, bits: int = 14) -> None:
        self.registers = registers if registers is not None else np.zeros(1 << bits, dtype=np.uint8)
        self.bits = len(self.registers).bit_length() - 1

    def add(self, keys: Keys) -> None:
        """Add keys. Duplicates do not count."""
        hashed = mixed(keys)
        place = (hashed >> np.uint64(64 - self.bits)).astype(np.int64)
        rest = hashed << np.uint64(self.bits) | np.uint64(1 << (self.bits - 1))
        # Each half is exact as a floating-point number, whose exponent is its length in bits.
        high, low = (
            (rest >> np.uint64(32)).astype(np.float64),
            (rest & np.uint64(0xFFFFFFFF)).astype(np.float64),
        )
        length = np.where(high > 0, 32 + np.frexp(high)[1], np.frexp(low)[1])
        rank = 64 - length + 1
        np.maximum.at(self.registers, place, rank.astype(np.uint8))

    def merge(self, other: DistinctCount) -> None:
        """Add all keys of another sketch."""
        np.maximum(self.registers, other.registers, out=self.registers)

    @property
    def value(self) -> float:
        """Estimated number. Small sets are counted by empty registers, as in the paper."""
        m = len(self.registers)
        raw = (
            0.7213 / (1 + 1.079 / m) * m * m / float(np.sum(np.ldexp(1.0, -self.registers.astype(np.int64))))
        )
        empty = int(np.sum(self.registers == 0))
        return m * math.log(m / empty) if raw <= 2.5 * m and empty else raw

    @property
    def error(self) -> float:
        """Relative standard error."""
        return 1.04 / math.sqrt(len(self.registers))


class Frequent:
    """Frequent items with at most ``size`` counters (Misra and Gries 1982).

    Counts are too low by at most :attr:`error`, and every item that occurs more often has a counter.
    Summaries of parts merge into one with the same bound (Agarwal et al. 2012).
    """

    def __init__(
        self, size: int, counts: Mapping[str, int] | None = None, error: int = 0, total: int = 0
    ) -> None:
        self.size, self.error, self.total = size, error, total
        self.counts: dict[str, int] = dict(counts or {})

    def add(self, counts: Iterable[tuple[str, int]]) -> None:
        """Add the counts of a batch, then cut to the size."""
        totals = self.counts
        for item, count in counts:
            totals[item] = totals.get(item, 0) + count
            self.total += count
        self._cut()

    def merge(self, other: Frequent) -> None:
        """Add another summary."""
        totals = self.counts
        for item, count in other.counts.items():
            totals[item] = totals.get(item, 0) + count
        self.total += other.total
        self.error += other.error
        self._cut()

    def _cut(self) -> None:
        if len(self.counts) <= self.size:
            return
        # Subtract the largest count beyond the size from all. Counters that reach zero are dropped.
        values = np.fromiter(self.counts.values(), np.int64, len(self.counts))
        pay = int(np.partition(values, len(values) - self.size - 1)[len(values) - self.size - 1])
        self.counts = {item: count - pay for item, count in self.counts.items() if count > pay}
        self.error += pay

    @property
    def bound(self) -> int:
        """Largest possible error: total/(size + 1)."""
        return self.total // (self.size + 1)


@kernel
def _set_bits(words: Out[UInt8], first: Int64, second: Int64, probes: int, bits: int) -> None:
    """Set the bits of keys, at first + i·second (Kirsch & Mitzenmacher 2006)."""
    for k in range(first.shape[0]):
        at = first[k]
        for _ in range(probes):
            place = at % bits
            words[place >> 3] = words[place >> 3] | (1 << (place & 7))
            at = (at + second[k]) & 0x3FFFFFFFFFFFFFFF


@kernel
def _test_bits(words: UInt8, first: Int64, second: Int64, probes: int, bits: int, out: Out[Bool]) -> None:
    """Whether all bits of each key are set."""
    for k in range(first.shape[0]):
        at = first[k]
        there = True
        for _ in range(probes):
            place = at % bits
            if (words[place >> 3] >> (place & 7)) & 1 == 0:
                there = False
                break
            at = (at + second[k]) & 0x3FFFFFFFFFFFFFFF
        out[k] = there


class Bloom:
    """Bloom filter (Bloom 1970): contains every key that was added, and others with probability ``rate`` at
    most, if no more than ``capacity`` different keys were added.
    """

    KIND, VERSION = "seen n-grams", 1

    def __init__(
        self,
        capacity: int,
        rate: float,
        words: NDArray[np.uint8] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.capacity, self.rate = max(capacity, 1), rate
        self.bits = max(64, math.ceil(-self.capacity * math.log(rate) / math.log(2) ** 2))
        self.probes = max(1, round(self.bits / self.capacity * math.log(2)))
        self.words = words if words is not None else np.zeros((self.bits + 7) // 8, dtype=np.uint8)
        #: Description of the content, as JSON.
        self.meta = dict(meta or {})

    def _hashes(self, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first, second = mixed(keys, 1) >> np.uint64(2), (mixed(keys, 2) >> np.uint64(2)) | np.uint64(1)
        return first.astype(np.int64), second.astype(np.int64)

    def add(self, keys: Keys) -> None:
        """Add keys."""
        _set_bits(self.words, *self._hashes(keys), self.probes, self.bits)

    def __contains__(self, key: int) -> bool:
        return bool(self.has(np.array([key], dtype=np.uint64))[0])

    def has(self, keys: Keys) -> NDArray[np.bool_]:
        """Return which keys were (most probably) added."""
        out = np.zeros(len(keys), dtype=np.bool_)
        _test_bits(self.words, *self._hashes(keys), self.probes, self.bits, out)
        return out

    def merge(self, other: Bloom) -> None:
        """Add all keys of a filter of the same size."""
        if (self.bits, self.probes) != (other.bits, other.probes):
            raise ValueError("filters of different sizes cannot be merged")
        np.bitwise_or(self.words, other.words, out=self.words)

    @property
    def digest(self) -> str:
        """Digest of the content."""
        return hashlib.blake2b(self.words.data, digest_size=16).hexdigest()[:8]

    def save(self, path: str | Path) -> None:
        """Write a file that workers map into memory."""
        meta = {"capacity": self.capacity, "rate": self.rate, "meta": self.meta, "digest": self.digest}
        container.write(path, self.KIND, self.VERSION, meta, {"bits": self.words})

    @classmethod
    def load(cls, path: str | Path) -> Bloom:
        """Map a file into memory."""
        file = container.read(path, cls.KIND, cls.VERSION, "run the command again")
        return cls(
            int(file.meta["capacity"]), float(file.meta["rate"]), file.arrays["bits"], file.meta["meta"]
        )
