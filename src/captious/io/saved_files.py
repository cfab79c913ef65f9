"""Files of arrays (:mod:`captious.core.container`), also from a pipe or from standard input."""

from __future__ import annotations

from pathlib import Path

from captious.core import container
from captious.core.container import (
    Container,
    StoredTexts,
    begins,
    is_container,
    open_kept,
    text_arrays,
    vouch,
    write,
    write_kept,
)
from captious.core.writing import is_standard
from captious.io.content import read_raw

__all__ = [
    "Container",
    "StoredTexts",
    "begins",
    "is_container",
    "open_kept",
    "read",
    "text_arrays",
    "vouch",
    "write",
    "write_kept",
]


def read(
    path: str | Path,
    kind: str,
    version: int,
    how: str,
    content: bytes | None = None,
    *,
    oldest: int | None = None,
) -> Container:
    """Open a file of one kind (see :func:`captious.core.container.read`).

    Pipes and standard input (``-``) are read into memory.
    """
    source = Path(path)
    if content is None and (
        is_standard(path) or (source.exists() and not source.is_file() and not source.is_dir())
    ):
        content = read_raw(path)
    return container.read(path, kind, version, how, content, oldest=oldest)
