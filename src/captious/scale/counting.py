"""Counts of things that do not fit into memory: sorted runs on disk, merged as a tree.

A run is a file with one line per item, sorted: the item and its count. Merging runs keeps one line of each in
memory, whatever their length.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path

from captious.core.errors import InputError
from captious.core.writing import atomic_write

#: Different items in memory before they are written to a run: about 300 MB of words and n-grams.
HELD = 2_000_000
#: Total size in bytes up to which runs are merged in memory, which is faster.
SMALL = 1 << 25
#: Runs merged at a time.
FAN = 16
_HEAD = b"captious counts 1\n"
#: Separator of the words of an n-gram. No tokenizer leaves it inside a word.
JOIN = "\x1f"


class CountsError(InputError):
    """A damaged file of counts."""


def _line(item: str, count: int) -> bytes:
    return (
        item.encode("utf-8", "surrogatepass")
        .replace(b"\\", b"\\\\")
        .replace(b"\n", b"\\n")
        .replace(b"\t", b"\\t")
        + b"\t%d\n" % count
    )


def _item(line: bytes) -> str:
    if b"\\" in line:
        parts = line.split(b"\\\\")
        line = b"\\".join(part.replace(b"\\n", b"\n").replace(b"\\t", b"\t") for part in parts)
    return line.decode("utf-8", "surrogatepass")


def write(path: str | Path, counts: Iterable[tuple[bytes, int]]) -> str:
    """Write a run from sorted keys (see :func:`read`) atomically, and return its digest."""
    state = hashlib.blake2b(digest_size=16)
    with atomic_write(path) as temporary, temporary.open("wb", buffering=1 << 20) as stream:
        stream.write(_HEAD)
        lines = (key + b"\t%d\n" % count for key, count in counts)
        while piece := b"".join(itertools.islice(lines, 10_000)):
            state.update(piece)
            stream.write(piece)
        stream.write(b"\t" + state.hexdigest().encode() + b"\n")
    return state.hexdigest()


def read(path: str | Path) -> Iterator[tuple[bytes, int]]:
    """Yield the keys of a run with their counts, in order. An incomplete run is an error at its end."""
    state = hashlib.blake2b(digest_size=16)
    with Path(path).open("rb", buffering=1 << 20) as stream:
        if stream.readline() != _HEAD:
            raise CountsError(f"{path}: not a file of counts")
        for line in stream:
            key, tab, count = line.rpartition(b"\t")
            if not key and tab:
                if count.strip().decode() != state.hexdigest():
                    break
                return
            state.update(line)
            try:
                yield key, int(count)
            except ValueError:
                break
    raise CountsError(f"{path}: damaged; remove the file, and run again")


def digest(path: str | Path) -> str:
    """Return the digest of a run, as :func:`write` does. An incomplete run is an error."""
    state = hashlib.blake2b(digest_size=16)
    with Path(path).open("rb", buffering=1 << 20) as stream:
        if stream.readline() == _HEAD:
            for line in stream:
                if line.startswith(b"\t"):
                    return state.hexdigest()
                state.update(line)
    raise CountsError(f"{path}: damaged; remove the file, and run again")


def items(path: str | Path) -> Iterator[tuple[str, int]]:
    """Yield the items of a run with their counts."""
    return ((_item(key), count) for key, count in read(path))


def merged(runs: Sequence[Iterable[tuple[bytes, int]]]) -> Iterator[tuple[bytes, int]]:
    """Yield the keys of sorted runs in order, with the counts of equal keys added."""
    for key, equal in itertools.groupby(heapq.merge(*runs, key=itemgetter(0)), key=itemgetter(0)):
        yield key, sum(count for _, count in equal)


def merge(paths: Sequence[str], target: str) -> str:
    """Merge runs into one file and return its path. At most :data:`FAN` files are open at a time."""
    if sum(Path(path).stat().st_size for path in paths) <= SMALL:
        counts: dict[bytes, int] = {}
        for path in paths:
            for key, count in read(path):
                counts[key] = counts.get(key, 0) + count
        write(target, sorted(counts.items()))
        return target
    if len(paths) <= FAN:
        write(target, merged([read(path) for path in paths]))
        return target
    with tempfile.TemporaryDirectory(dir=Path(target).parent, prefix=".merge-") as folder:
        steps = [
            merge(list(paths[start : start + FAN]), str(Path(folder) / str(start)))
            for start in range(0, len(paths), FAN)
        ]
        return merge(steps, target)


class Counter:
    """Counts items in memory while they fit, then in runs beside the target."""

    def __init__(self, target: str | Path, held: int = HELD) -> None:
        self.target, self.held = Path(target), held
        self._counts: dict[str, int] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._runs: list[str] = []

    def add(self, counts: Iterable[tuple[str, int]]) -> None:
        """Add counts."""
        totals = self._counts
        for item, count in counts:
            totals[item] = totals.get(item, 0) + count
        if len(totals) > self.held:
            self._spill()

    def _sorted(self) -> list[tuple[bytes, int]]:
        return sorted((_line(item, 0)[:-3], count) for item, count in self._counts.items())

    def _spill(self) -> None:
        if self._folder is None:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            self._folder = tempfile.TemporaryDirectory(dir=self.target.parent, prefix=".counts-")
        path = str(Path(self._folder.name) / str(len(self._runs)))
        write(path, self._sorted())
        self._runs.append(path)
        self._counts = {}

    def finish(self) -> str:
        """Write everything to the target, and return its digest."""
        try:
            if len(self._runs) > FAN:
                self._runs = [merge(self._runs, str(self.target) + ".all")]
            written = write(self.target, merged([*map(read, self._runs), self._sorted()]))
            Path(str(self.target) + ".all").unlink(missing_ok=True)
            return written
        finally:
            if self._folder is not None:
                self._folder.cleanup()
