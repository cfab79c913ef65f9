"""Rows of shards, read lazily: a batch at a time, never a whole shard."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

from captious.core.errors import InputError, printable
from captious.core.limits import LINE
from captious.io.caption_files import kind, show
from captious.io.columns import Columns, caption_names, columns, id_names
from captious.io.content import loads
from captious.scale.shards import Shard, ShardError, opened, parquet_columns, parquet_file, reading

#: Rows that are scored at once. Larger batches are hardly faster, and take more memory.
BATCH = 16_384


class Bad(NamedTuple):
    """Placeholder for a caption that cannot be read, with the reason."""

    why: str


class Rows(NamedTuple):
    """Consecutive rows as found: nothing is checked yet. Where a shard has no ids at all there are none."""

    start: int
    ids: list[Any] | None
    captions: list[Any]


def batches(shard: Shard, named: Columns, size: int = BATCH) -> Iterator[Rows]:
    """The rows of a shard in their order, at most ``size`` at a time."""
    with reading(shard.path):
        yield from {"parquet": _parquet, "jsonl": _jsonl, "tar": _tar}[shard.kind](shard, named, size)


def _keys(named: Columns) -> Columns:
    """The names to look for, in their order: those given, or all that are known."""
    with columns(named.captions, named.ids):
        return Columns(id_names(), caption_names("predictions"))


def _parquet(shard: Shard, named: Columns, size: int) -> Iterator[Rows]:
    with closing(parquet_file(shard.path)) as file:
        image, caption = parquet_columns(file, shard.path, named)
        start = 0
        for table in file.iter_batches(
            batch_size=size,
            columns=[name for name in (image, caption) if name is not None],
            use_threads=False,
        ):
            texts = _values(table.column(caption))
            yield Rows(start, None if image is None else _values(table.column(image)), texts)
            start += len(texts)


def _values(column: Any) -> list[Any]:
    """Values of a column; a text that is no UTF-8 is a bad row and not the end of the shard."""
    try:
        found: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        found = []
        for value in column:
            try:
                found.append(value.as_py())
            except UnicodeDecodeError:
                found.append(Bad("the text is not UTF-8"))
    return found


def _jsonl(shard: Shard, named: Columns, size: int) -> Iterator[Rows]:
    limit, keys = LINE.value(), _keys(named)
    start, ids, captions = 0, list[Any](), list[Any]()
    with opened(shard.path) as stream:
        while line := stream.readline(limit + 1):
            if len(line) > limit and not line.endswith(b"\n"):
                raise ShardError(
                    str(LINE.exceeded(f"the shard {shard.path}, row {start + len(captions) + 1}"))
                )
            if not line.strip():
                continue
            image, caption = _line(line, keys)
            ids.append(image)
            captions.append(caption)
            if len(captions) == size:
                yield Rows(start, ids, captions)
                start, ids, captions = start + size, [], []
    if captions:
        yield Rows(start, ids, captions)


def _line(line: bytes, keys: Columns) -> tuple[Any, Any]:
    try:
        row = loads(line.decode("utf-8-sig"), "the line")
    except UnicodeDecodeError:
        return None, Bad("the line is not UTF-8")
    except json.JSONDecodeError as error:
        return None, Bad(f"the line is not JSON ({error.msg})")
    except InputError as error:
        return None, Bad(str(error))
    if not isinstance(row, dict):
        return None, Bad(f"the line is {kind(row)}, not an object")
    return _picked(row, keys)


def _picked(row: dict[str, Any], keys: Columns) -> tuple[Any, Any]:
    image = next((row[key] for key in keys.ids if key in row and not isinstance(row[key], dict | list)), None)
    for key in keys.captions:
        if key in row:
            return image, row[key]
    return image, Bad(f"there is no caption among the keys {show(list(row))}")


def _tar(shard: Shard, named: Columns, size: int) -> Iterator[Rows]:
    """Samples as WebDataset keeps them: files of one name with different endings, one after another.

    The caption is the ``.txt``, or a key of the ``.json`` if that is asked for or all there is; the image is
    a key of it, or the sample's name.
    """
    keys = _keys(named)
    start, ids, captions = 0, list[Any](), list[Any]()
    with opened(shard.path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for name, parts in _samples(archive):
            row = parts.get("json", {})
            image, caption = (None, row) if isinstance(row, Bad) else _picked(row, keys)
            if "txt" in parts and (isinstance(caption, Bad) or not named.captions):
                caption = parts["txt"]
            ids.append(name if image is None else image)
            captions.append(caption)
            if len(captions) == size:
                yield Rows(start, ids, captions)
                start, ids, captions = start + size, [], []
    if captions:
        yield Rows(start, ids, captions)


def _samples(archive: tarfile.TarFile) -> Iterator[tuple[str, dict[str, Any]]]:
    current: str | None = None
    parts: dict[str, Any] = {}
    for member in archive:
        archive.members = []  # type: ignore[attr-defined] # it would remember all of them
        if not member.isfile():
            continue
        folder, slash, file = member.name.rpartition("/")
        key, _, ending = file.partition(".")
        key = folder + slash + key
        if key != current:
            if current is not None and parts:
                yield current, parts
            current, parts = key, {}
        if ending in ("json", "txt"):
            parts[ending] = _content(archive, member, ending)
    if current is not None and parts:
        yield current, parts


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, ending: str) -> Any:
    if member.size > LINE.value():
        return Bad(f"{printable(member.name)} is longer than {LINE.value():,} bytes")
    stream = archive.extractfile(member)
    try:
        text = stream.read().decode("utf-8-sig") if stream is not None else ""
    except UnicodeDecodeError:
        return Bad(f"{printable(member.name)} is not UTF-8")
    if ending == "txt":
        return text.strip()
    try:
        row = loads(text, member.name)
    except (json.JSONDecodeError, InputError) as error:
        return Bad(f"{printable(member.name)} is not JSON ({printable(str(error))[:80]})")
    return row if isinstance(row, dict) else Bad(f"{printable(member.name)} is {kind(row)}, not an object")
