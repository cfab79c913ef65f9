"""Counts of things that do not fit into memory: sorted runs on disk, merged as a tree.

A run is a file with a line for each item, sorted: the item and how often it was counted. To merge runs takes
a line of each in memory and nothing else, whatever their length.
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

#: Different items held in memory before they are written to a run: about 300 MB of words and n-grams.
HELD = 2_000_000
#: Runs of so many bytes in all are merged in memory, which is quicker.
SMALL = 1 << 25
#: Runs merged at once.
FAN = 16
_HEAD = b"captious counts 1\n"
#: Between the words of an n-gram; no tokenizer leaves it inside a word.
JOIN = "\x1f"


class CountsError(InputError):
    """A file of counts that is not what was written."""


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
    """Write a run from sorted keys (see :func:`read`), atomically; the digest of what was written."""
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
    """The keys of a run with their counts, in order. Half a run is an error, at its end."""
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
    """Parse the summary that :func:`write` made of a run; raise an error if lines are missing."""
    state = hashlib.blake2b(digest_size=16)
    with Path(path).open("rb", buffering=1 << 20) as stream:
        if stream.readline() == _HEAD:
            for line in stream:
                if line.startswith(b"\t"):
                    return state.hexdigest()
                state.update(line)
    raise CountsError(f"{path}: damaged; remove the file, and run again")


def items(path: str | Path) -> Iterator[tuple[str, int]]:
    """The items of a run with their counts."""
    return ((_item(key), count) for key, count in read(path))


def merged(runs: Sequence[Iterable[tuple[bytes, int]]]) -> Iterator[tuple[bytes, int]]:
    """Sorted runs as one, counts of equal items added."""
    for key, equal in itertools.groupby(heapq.merge(*runs, key=itemgetter(0)), key=itemgetter(0)):
        yield key, sum(count for _, count in equal)


def merge(paths: Sequence[str], target: str) -> str:
    """Merge runs into one file; its path. No more than :data:`FAN` files are open at a time."""
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
    """Counts items, in memory as long as they fit, then in runs beside the target."""

    def __init__(self, target: str | Path, held: int = HELD) -> None:
        self.target, self.held = Path(target), held
        self._counts: dict[str, int] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._runs: list[str] = []

    def add(self, counts: Iterable[tuple[str, int]]) -> None:
        """Count more."""
        own = self._counts
        for item, count in counts:
            own[item] = own.get(item, 0) + count
        if len(own) > self.held:
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
        """Write everything to the target; its digest."""
        try:
            if len(self._runs) > FAN:
                self._runs = [merge(self._runs, str(self.target) + ".all")]
            found = write(self.target, merged([*map(read, self._runs), self._sorted()]))
            Path(str(self.target) + ".all").unlink(missing_ok=True)
            return found
        finally:
            if self._folder is not None:
                self._folder.cleanup()
