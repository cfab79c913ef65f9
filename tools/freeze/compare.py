"""Compare two frozen folders."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Folder of the files that may differ by a tolerance.
RELAXED = "relaxed"

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Difference:
    """Difference between two versions of one file."""

    #: Values that differ, and values compared.
    count: int
    total: int
    #: Largest absolute difference.
    largest: float
    #: Difference that is not one of numbers, such as another shape or other words.
    structure: str = ""

    def within(self, tolerance: float) -> bool:
        return not self.structure and self.largest <= tolerance

    def __str__(self) -> str:
        numbers = f"{self.count:,} of {self.total:,} values differ, by up to {self.largest:.3g}"
        return f"{self.structure}; {numbers}" if self.structure else numbers


def compare_folders(old: Path, new: Path) -> Iterator[tuple[str, Difference]]:
    """Yield the path and the difference of every file that is not the same in both folders."""
    before, after = _files(old), _files(new)
    for name in sorted(before | after):
        if name not in after:
            yield name, Difference(0, 0, 0.0, "missing from the new folder")
        elif name not in before:
            yield name, Difference(0, 0, 0.0, "missing from the old folder")
        elif difference := compare_files(old / name, new / name):
            yield name, difference


def compare_files(old: Path, new: Path) -> Difference | None:
    """Return the difference of two files, or None if they have the same content."""
    before, after = old.read_bytes(), new.read_bytes()
    if before == after:
        return None
    if old.suffix == ".npz":
        return _join(*_compare_archives(before, after))
    return _compare_texts(
        before.decode("utf-8", "backslashreplace"), after.decode("utf-8", "backslashreplace")
    )


def report(old: Path, new: Path, tolerance: float) -> int:
    """Print all differences. Return 1 if one is outside its tolerance, else 0."""
    differences = list(compare_folders(old, new))
    failed = 0
    for name, difference in differences:
        is_accepted = Path(name).parts[0] == RELAXED and difference.within(tolerance)
        failed += not is_accepted
        print(f"{'within tolerance' if is_accepted else 'DIFFERENT'}  {name}: {difference}")
    identical = len(_files(old) | _files(new)) - len(differences)
    accepted = len(differences) - failed
    print(f"{identical:,} files identical, {accepted:,} within {tolerance:g}, {failed:,} different")
    return 1 if failed else 0


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _compare_archives(old: bytes, new: bytes) -> Iterator[Difference]:
    """Yield the difference of each array of two npz archives."""
    with np.load(io.BytesIO(old)) as before, np.load(io.BytesIO(new)) as after:
        for name in sorted({*before.files, *after.files}):
            if name not in before.files or name not in after.files:
                yield Difference(0, 0, 0.0, f"array '{name}' is in one folder only")
            else:
                yield _compare_arrays(name, before[name], after[name])


def _compare_arrays(name: str, old: NDArray[Any], new: NDArray[Any]) -> Difference:
    if old.dtype != new.dtype or old.shape != new.shape:
        return Difference(
            0, 0, 0.0, f"array '{name}' was {old.dtype}{old.shape} and is {new.dtype}{new.shape}"
        )
    as_bytes = [
        np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, array.dtype.itemsize)
        for array in (old, new)
    ]
    differs = (as_bytes[0] != as_bytes[1]).any(axis=1)
    if not differs.any():
        return Difference(0, old.size, 0.0)
    if old.dtype.kind not in "iufb":
        return Difference(int(differs.sum()), old.size, math.inf)
    pairs = zip(old.ravel()[differs].tolist(), new.ravel()[differs].tolist())
    return Difference(int(differs.sum()), old.size, max(_distance(a, b) for a, b in pairs))


def _compare_texts(old: str, new: str) -> Difference:
    """Compare the numbers of two texts, or their lines if the words around the numbers differ."""
    if _NUMBER.split(old) != _NUMBER.split(new):
        lines = list(zip_longest(old.splitlines(), new.splitlines()))
        differing = [pair for pair in lines if pair[0] != pair[1]]
        shown = next((f": {a!r:.60} and {b!r:.60}" for a, b in differing), "")
        return Difference(len(differing), len(lines), math.inf, f"the text differs (values are lines){shown}")
    numbers = list(zip(_NUMBER.findall(old), _NUMBER.findall(new)))
    distances = [_distance(float(a), float(b)) for a, b in numbers if a != b]
    return Difference(len(distances), len(numbers), max(distances, default=0.0))


def _distance(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return 0.0 if math.isnan(a) and math.isnan(b) else math.inf
    return 0.0 if a == b else abs(a - b)


def _join(*parts: Difference) -> Difference | None:
    """Return the difference of a file from those of its arrays, or None if all are equal."""
    structure = ", ".join(part.structure for part in parts if part.structure)
    count = sum(part.count for part in parts)
    if not count and not structure:
        return None
    return Difference(
        count, sum(part.total for part in parts), max(part.largest for part in parts), structure
    )
