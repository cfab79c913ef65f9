"""Rows of shards: read batch by batch, and checked."""

from __future__ import annotations

import itertools
import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, printable
from captious.core.limits import LINE
from captious.io.caption_files import Columns, caption_names, columns, id_names, kind, show
from captious.io.content import loads
from captious.io.id_matching import plain_id
from captious.scale.shards import (
    Shard,
    ShardError,
    opened,
    parquet_columns,
    parquet_file,
    reading,
    tar_members,
)

#: Rows scored at a time. Larger batches are hardly faster and take more memory.
BATCH = 16_384


class Bad(NamedTuple):
    """Placeholder for a caption that cannot be read, with the reason."""

    why: str


class Rows(NamedTuple):
    """Consecutive rows, not checked yet. ``ids`` is None if the shard has no ids at all."""

    start: int
    ids: list[Any] | None
    captions: list[Any]


def batches(shard: Shard, named: Columns, size: int = BATCH) -> Iterator[Rows]:
    """Yield the rows of a shard in their order, at most ``size`` at a time."""
    with reading(shard.path):
        yield from {"parquet": _parquet, "jsonl": _jsonl, "tar": _tar}[shard.kind](shard, named, size)


def _keys(named: Columns) -> Columns:
    """Return the names of columns to look for, in their order: those of the user, or all usual ones."""
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
    """Return the values of a column. A text that is not UTF-8 is a bad row, not the end of the shard."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        values: list[Any] = []
        for value in column:
            try:
                values.append(value.as_py())
            except UnicodeDecodeError:
                values.append(Bad("the text is not UTF-8"))
        return values


def _batched(pairs: Iterator[tuple[Any, Any]], size: int) -> Iterator[Rows]:
    start = 0
    while batch := list(itertools.islice(pairs, size)):
        yield Rows(start, [image for image, _ in batch], [caption for _, caption in batch])
        start += len(batch)


def _jsonl(shard: Shard, named: Columns, size: int) -> Iterator[Rows]:
    return _batched(_lines(shard, _keys(named)), size)


def _lines(shard: Shard, keys: Columns) -> Iterator[tuple[Any, Any]]:
    limit, row = LINE.value(), 0
    with opened(shard.path) as stream:
        while line := stream.readline(limit + 1):
            if len(line) > limit and not line.endswith(b"\n"):
                raise ShardError(str(LINE.exceeded(f"the shard {shard.path}, row {row + 1}")))
            if line.strip():
                yield _line(line, keys)
                row += 1


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
    return _batched(_tar_rows(shard, named), size)


def _tar_rows(shard: Shard, named: Columns) -> Iterator[tuple[Any, Any]]:
    """Yield the samples of a WebDataset: consecutive files of one name with different endings.

    The caption is the ``.txt``, or a key of the ``.json`` if the user named a column or there is no ``.txt``.
    The image is a key of the ``.json``, or the name of the sample.
    """
    keys = _keys(named)
    with opened(shard.path) as stream:
        for name, parts in _samples(stream):
            row = parts.get("json", {})
            image, caption = (None, row) if isinstance(row, Bad) else _picked(row, keys)
            if "txt" in parts and (isinstance(caption, Bad) or not named.captions):
                caption = parts["txt"]
            yield (name if image is None else image), caption


def _samples(stream: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    current: str | None = None
    parts: dict[str, Any] = {}
    for archive, member in tar_members(stream):
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


# Checks -----------------------------------------------------------------------------------------------------


class Images:
    """Images that have references, by any form of their ids."""

    def __init__(self, places: Mapping[str, int] | None) -> None:
        """``places`` is None if no references are needed."""
        self.places = places
        self._plain: dict[str, str] | None = None

    def resolve(self, image: str) -> str | None:
        """Return the id that the references use, or None."""
        if self.places is None or image in self.places:
            return image
        if self._plain is None:
            plain = {plain_id(name): name for name in self.places}
            # Do not guess if two images would become one.
            self._plain = plain if len(plain) == len(self.places) else {}
        return self._plain.get(plain_id(image))


class Checked(NamedTuple):
    """Rows that can be scored (places in the batch, images, captions), and the bad ones."""

    rows: NDArray[np.int64]
    ids: list[str]
    captions: list[str]
    #: Row number in the shard, from 0, and the reason.
    bad: list[tuple[int, str]]


def checked(batch: Rows, images: Images) -> Checked:
    """Separate good and bad rows. An image without references is a bad row if references are needed."""
    captions = batch.captions
    limit = LINE.value()
    texts = set(map(type, captions)) == {str} and max(map(len, captions)) <= limit and _is_text(captions)
    if batch.ids is None and images.places is None:
        ids: list[Any] = [str(batch.start + i) for i in range(len(captions))]
    else:
        ids = batch.ids if batch.ids is not None else [None] * len(captions)
    types = set(map(type, ids))
    if texts and types <= {int} | {str}:
        named = list(map(str, ids)) if types == {int} else [str(image).strip() for image in ids]
        if "" not in named and (images.places is None or all(map(images.places.__contains__, named))):
            return Checked(np.arange(len(captions), dtype=np.int64), named, captions, [])
    rows: list[int] = []
    result = Checked(np.zeros(0, np.int64), [], [], [])
    for row, (image, caption) in enumerate(zip(ids, captions)):
        name = _id(image)
        resolved = images.resolve(name) if name is not None else None
        problem = _caption_problem(caption, limit)
        if problem is None and name is None:
            problem = f"the image id is {kind(image)}"
        elif problem is None and resolved is None:
            problem = f"image {show(name)} has no references"
        if problem is not None:
            result.bad.append((batch.start + row, problem))
            continue
        rows.append(row)
        result.ids.append(str(resolved))
        result.captions.append(caption)
    return result._replace(rows=np.array(rows, dtype=np.int64))


def captions_only(batch: Rows) -> list[str]:
    """Return the captions of a batch that can be read, whatever their ids."""
    return checked(batch._replace(ids=None), Images(None)).captions


def _id(image: Any) -> str | None:
    """Return the id as text: 42, "42", 42.0 and NumPy's 42 are all the image "42"."""
    if isinstance(image, str):
        return image.strip() or None if _is_text([image]) else None
    if isinstance(image, Integral) and not isinstance(image, bool):
        return str(int(image))
    if isinstance(image, Real) and not isinstance(image, bool) and float(image).is_integer():
        return str(int(float(image)))
    return None


def _caption_problem(caption: Any, limit: int) -> str | None:
    if isinstance(caption, Bad):
        return caption.why
    if not isinstance(caption, str):
        return f"the caption is {kind(caption)}; captions are text"
    if len(caption) > limit:
        return f"the caption has more than {limit:,} characters"
    return None if _is_text([caption]) else "the caption holds half a character (a lone surrogate)"


def _is_text(texts: list[str]) -> bool:
    """Whether texts can be encoded. A lone surrogate cannot."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True
