"""Shards: the files that a large data set consists of, what is in them, and what names their content."""

from __future__ import annotations

import glob
import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from captious.core.errors import InputError, MissingExtraError, printable, some
from captious.io.columns import Columns, caption_names, columns, id_names, no_caption

Kind = Literal["parquet", "jsonl", "tar"]

#: What our own columns of scores are called: never shards themselves, though they lie beside them.
SCORES = ".scores.parquet"
_ENDINGS = (".parquet", ".jsonl", ".ndjson", ".json", ".tar", ".tgz")
_PIECE = 1 << 20


class ShardError(InputError):
    """A shard that cannot be read, by name."""


@dataclass(frozen=True)
class Shard:
    """One file."""

    path: str
    kind: Kind
    #: What its outputs are called: its path below the folder that all shards share, without endings.
    name: str


def find(sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Shard]:
    """Shards from files, folders (all Parquet, JSONL and tar files below them) and patterns
    (``big/*.parquet``), in the order given. Columns of scores from an earlier run are left out.
    """
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    files = [path for source in given for path in _files(os.fspath(source))]
    if not files:
        raise InputError("there are no shards: give Parquet, JSONL or tar files, or a folder of them")
    seen: dict[str, str] = {}
    for path in files:
        real = os.path.realpath(path)
        if real in seen:
            raise InputError(
                f"{printable(path)} was given twice (also as {printable(seen[real])}); give each shard once"
            )
        seen[real] = path
    return [Shard(path, _kind(path), name) for path, name in zip(files, _names(files))]


def _files(source: str) -> list[str]:
    path = Path(source)
    if path.is_dir():
        found = sorted(
            str(file) for file in path.rglob("*") if file.is_file() and _plain(file.name) != file.name
        )
    elif path.exists():
        return [source] if not source.endswith(SCORES) else []
    else:
        found = sorted(glob.glob(source))  # noqa: PTH207 - an absolute pattern is allowed here
        if not found:
            raise InputError(
                f"cannot read {printable(source)}: there is no such file or folder, and no file fits it as a "
                "pattern"
            )
    return [file for file in found if not file.endswith(SCORES) and not Path(file).name.startswith(".")]


def _plain(name: str) -> str:
    """A file's name without the endings of shards."""
    name = name.removesuffix(".gz")
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def _names(files: Sequence[str]) -> list[str]:
    folders = [os.path.dirname(os.path.abspath(file)) for file in files]  # noqa: PTH120, PTH100 - text in, text out
    shared = os.path.commonpath(folders)
    whole = [os.path.relpath(os.path.abspath(file), shared) for file in files]  # noqa: PTH100
    short = [os.path.join(os.path.dirname(name), _plain(os.path.basename(name))) for name in whole]  # noqa: PTH118, PTH119, PTH120
    # Two files that differ in their endings only keep them.
    return (
        [a if short.count(a) == 1 else b for a, b in zip(short, whole)]
        if len(set(short)) < len(short)
        else short
    )


def _kind(path: str) -> Kind:
    """Detect the format of a file from its content, or from its name if it is empty."""
    with reading(path), opened(path) as stream:
        start = stream.read(512)
    if start[:4] == b"PAR1" or (not start and path.endswith(".parquet")):
        return "parquet"
    if (
        start[257:262] == b"ustar"
        or _plain(path) + ".tar" == path.removesuffix(".gz")
        or path.endswith(".tgz")
    ):
        return "tar"
    return "jsonl"


def opened(path: str) -> Any:
    """A file for reading, unpacked if it is gzip."""
    raw = open(path, "rb")  # noqa: PTH123, SIM115 - whoever asked closes it
    try:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
    except OSError:
        raw.close()
        raise
    return gzip.open(raw, "rb") if packed else raw


class reading:  # noqa: N801 - reads as a statement
    """Whatever goes wrong in the block is an error that names the shard."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, InputError | MissingExtraError):
            return
        damage = (EOFError, zlib.error, tarfile.TarError, gzip.BadGzipFile, UnicodeError)
        if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile) and error.strerror:
            raise ShardError(f"cannot read the shard {printable(self.path)}: {error.strerror}") from None
        if (
            isinstance(error, damage)
            or type(error).__module__.startswith("pyarrow")
            or isinstance(error, OSError)
        ):
            what = next(iter(str(error).splitlines()), type(error).__name__)
            raise ShardError(
                f"the shard {printable(self.path)} is damaged: {printable(what)[:200]}"
            ) from None


# Digests ----------------------------------------------------------------------------------------------------


def digest(shard: Shard, named: Columns) -> str:
    """Names what is scored of a shard.

    Of Parquet only the footer and the chosen columns are read, of a tar only the names and what is text, so
    that pictures inside cost nothing.
    """
    state = hashlib.blake2b(shard.kind.encode(), digest_size=16)
    with reading(shard.path):
        for piece in _PIECES[shard.kind](shard, named):
            state.update(piece)
    return state.hexdigest()


def _whole(shard: Shard, _: Columns) -> Iterator[bytes]:
    with open(shard.path, "rb") as stream:  # noqa: PTH123
        while piece := stream.read(_PIECE):
            yield piece


def _chosen_columns(shard: Shard, named: Columns) -> Iterator[bytes]:
    file = parquet_file(shard.path)
    chosen = set(filter(None, parquet_columns(file, shard.path, named)))
    spans: list[tuple[int, int]] = []
    for group in range(file.metadata.num_row_groups):
        row_group = file.metadata.row_group(group)
        for place in range(row_group.num_columns):
            column = row_group.column(place)
            if column.path_in_schema.split(".")[0] in chosen:
                start = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)))
                spans.append((start, column.total_compressed_size))
    footer = file.metadata.serialized_size
    file.close()
    spans.append((Path(shard.path).stat().st_size - footer - 8, footer + 8))
    with open(shard.path, "rb") as stream:  # noqa: PTH123
        for start, size in spans:
            stream.seek(start)
            left = size
            while left > 0 and (piece := stream.read(min(left, _PIECE))):
                yield piece
                left -= len(piece)


def _texts_of_tar(shard: Shard, _: Columns) -> Iterator[bytes]:
    with opened(shard.path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            archive.members = []  # type: ignore[attr-defined]
            yield member.name.encode("utf-8", "surrogateescape") + b"\0%d\0" % member.size
            if member.isfile() and member.name.endswith((".json", ".txt")):
                content = archive.extractfile(member)
                while content is not None and (piece := content.read(_PIECE)):
                    yield piece


_PIECES: dict[Kind, Any] = {"parquet": _chosen_columns, "jsonl": _whole, "tar": _texts_of_tar}


# Parquet ----------------------------------------------------------------------------------------------------


def parquet_file(path: str) -> Any:
    """An opened Parquet file: its footer is read, and nothing else."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", f"{path} is a Parquet file; reading it") from None
    # Row groups are read one after another, so nothing is gained by fetching all of their bytes at once.
    return pyarrow.parquet.ParquetFile(path, memory_map=False, pre_buffer=False)


def parquet_columns(file: Any, path: str, named: Columns) -> tuple[str | None, str]:
    """The columns of the image and of the caption; the first may be missing."""
    present = list(file.schema_arrow.names)
    by_fold = {name.lower(): name for name in present}
    with columns(named.captions, named.ids):
        image = next((by_fold[key.lower()] for key in id_names() if key.lower() in by_fold), None)
        caption = next(
            (by_fold[key.lower()] for key in caption_names("predictions") if key.lower() in by_fold), None
        )
        if image is None and named.ids:
            raise ShardError(
                f"the shard {printable(path)} has no column {' or '.join(map(repr, named.ids))}; it has "
                f"{some(present, 12)}"
            )
        if caption is None:
            raise ShardError(str(no_caption(f"the shard {printable(path)}", "", present)))
    return image, caption
