"""Kinds of files in the cache folder, and their removal.

The folder can hold files of other programs. Only files with names that this or an earlier version of
captious writes are listed or removed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from captious.core import limits
from captious.core.writing import remove_stale


class Kind(NamedTuple):
    """One kind of cached file, ``NAME/KEY-vVERSION``.

    The mtime of the empty ``….lock`` beside it is the time of last use.
    """

    name: str
    #: Incremented whenever the layout of the files changes.
    version: int
    purpose: str

    def file(self, key: str) -> str:
        """Return the name of a file in the cache folder. ``key`` identifies its source."""
        return f"{self.name}/{key}-v{self.version}"


PARAPHRASES = Kind("paraphrases", 5, "METEOR's paraphrase table, indexed")
VECTORS = Kind("vectors", 4, "word vectors, converted")
ENCODERS = Kind("sentences", 2, "sentence encoders, unpacked")
GRAMMAR = Kind("grammar", 2, "the exact parser's grammar, as arrays")
DIGESTS = Kind("digests", 1, "digests of files, valid until the files change")
OLD = Kind("old", 0, "files of earlier versions and of interrupted runs, no longer used")
KINDS = (PARAPHRASES, VECTORS, ENCODERS, GRAMMAR, DIGESTS, OLD)

_DERIVED = (PARAPHRASES, VECTORS, ENCODERS, GRAMMAR)
_CURRENT = {kind: re.compile(rf"[0-9a-f-]{{8,64}}-v{kind.version}(\.lock)?") for kind in _DERIVED} | {
    DIGESTS: re.compile(r"[0-9a-f]{3}\.json")
}
#: Names of files of earlier versions, by folder ('' for the cache folder itself).
_OUTDATED = {
    "": (
        r"meteor-paraphrases-v\d+-[0-9a-f]{8}-\d+\.index|meteor-lists-v1-[0-9a-f]{32}\.table"
        r"|synonyms-v1-[0-9a-f]{32}\.table"
        r"|parser-v\d+-[0-9a-f]{32}\.model|ptb-v1-[0-9a-f]{16}\.table|grammar-[0-9a-f]{16}\.bin"
    ),
    "kernels": r"\w+-[0-9a-f]{16}-[0-9a-f]{16}\.kernel",
    "digests": r"[0-9a-f]{24}\.json|[0-9a-f]{3}\.json",
    **{kind.name: r"[0-9a-f-]{8,64}-v\d+" for kind in _DERIVED},
}
_OLD = {
    folder: re.compile(rf"({names})(\.lock)?|\.({names})\.[0-9a-f]{{12}}\.tmp")
    for folder, names in _OUTDATED.items()
}


class Entry(NamedTuple):
    """A file in the cache folder."""

    path: Path
    kind: Kind
    size: int
    #: Time of last use, in seconds since 1970.
    used: float

    def remove(self) -> None:
        """Remove the file and its lock, unless it is a temporary file that a process is writing."""
        with suppress(OSError):
            if self.path.suffix == ".tmp":
                remove_stale(str(self.path))
                return
            self.path.unlink()
            _lock_of(self.path).unlink(missing_ok=True)


def entries(folder: Path) -> list[Entry]:
    """Return all files of captious in a cache folder. Locks are listed only if their file is gone."""
    return [entry for name in _OLD for entry in _entries(folder, name)]


def _entries(folder: Path, name: str) -> Iterator[Entry]:
    place = folder / name
    if name and place.is_symlink():  # it can lead to files of other programs
        return
    with suppress(OSError), os.scandir(place) as listing:
        files = {file.name: file for file in listing if file.is_file(follow_symlinks=False)}
        for file in files.values():
            kind = _kind(name, file.name)
            if kind is None or (file.name.endswith(".lock") and file.name.removesuffix(".lock") in files):
                continue
            lock = files.get(file.name + ".lock", file)
            yield Entry(
                place / file.name, kind, file.stat().st_size, max(file.stat().st_mtime, lock.stat().st_mtime)
            )


def _kind(folder: str, name: str) -> Kind | None:
    for kind, pattern in _CURRENT.items():
        if kind.name == folder and pattern.fullmatch(name):
            return kind
    return OLD if _OLD[folder].fullmatch(name) else None


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def clear(folder: Path, kinds: Sequence[Kind] = KINDS) -> list[Entry]:
    """Remove all files of some kinds and return them."""
    removed = [entry for entry in entries(folder) if entry.kind in kinds]
    for entry in removed:
        entry.remove()
    for subfolder in {entry.path.parent for entry in removed} - {folder}:
        with suppress(OSError):  # it holds other files
            subfolder.rmdir()
    return removed


def mark_used(path: Path) -> None:
    """Set the time of last use to now."""
    with suppress(OSError):
        os.utime(_lock_of(path))


def tidy(folder: Path, keep: Path) -> None:
    """Remove files of earlier versions, then the least recently used ones down to
    ``CAPTIOUS_CACHE_LIMIT``. ``keep`` stays."""
    clear(folder, [OLD])
    derived = sorted(
        (entry for entry in entries(folder) if entry.kind in _DERIVED), key=lambda entry: entry.used
    )
    total = sum(entry.size for entry in derived)
    for entry in derived:
        if total <= limits.CACHE.value():
            break
        if entry.path != keep:
            entry.remove()
            total -= entry.size
