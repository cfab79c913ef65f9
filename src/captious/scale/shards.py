"""Shards: files of a large data set. Find them, recognise formats, compute digests."""

from __future__ import annotations

import glob
import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from captious.core.errors import InputError, MissingExtraError, printable, some
from captious.io.caption_files import Columns, caption_names, columns, id_names, no_caption
from captious.io.table_files import open_parquet

Kind = Literal["parquet", "jsonl", "tar"]
Sources = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

#: Ending of files with columns of scores. They are never shards, though they may be beside them.
SCORES = ".scores.parquet"
_ENDINGS = (".parquet", ".jsonl", ".ndjson", ".json", ".tar", ".tgz")
_PIECE = 1 << 20


class ShardError(InputError):
    """Error of one shard. The others can be processed."""


@dataclass(frozen=True)
class Shard:
    """One file of captions."""

    path: str
    kind: Kind
    #: Name of its outputs: the path below the folder that all shards share, without endings.
    name: str


def find(sources: Sources) -> list[Shard]:
    """Return the shards of files, folders (all Parquet, JSONL and tar files below them) and patterns
    (``big/*.parquet``), in their order. Columns of scores from an earlier run are left out.

    Parameters
    ----------
    sources
        Paths and patterns, or one of them.

    Examples
    --------
    >>> from captious.data import demo_path
    >>> [shard] = find(demo_path("sampling"))
    >>> shard.path.endswith("sampling.jsonl")
    True
    """
    if isinstance(sources, str | os.PathLike):
        sources = [sources]
    files = [path for source in sources for path in _files(os.fspath(source))]
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
        files = sorted(
            str(file) for file in path.rglob("*") if file.is_file() and _plain(file.name) != file.name
        )
    elif path.exists():
        return [source] if not source.endswith(SCORES) else []
    else:
        files = sorted(glob.glob(source))  # noqa: PTH207 - an absolute pattern is allowed here
        if not files:
            raise InputError(
                f"cannot read {printable(source)}: no such file or folder, and no file matches it as a "
                "pattern"
            )
    return [file for file in files if not file.endswith(SCORES) and not Path(file).name.startswith(".")]


def _plain(name: str) -> str:
    """Return the name of a file without the endings of shards."""
    name = name.removesuffix(".gz")
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def _names(files: Sequence[str]) -> list[str]:
    folders = [os.path.dirname(os.path.abspath(file)) for file in files]  # noqa: PTH120, PTH100 - text in, text out
    shared = os.path.commonpath(folders)
    whole = [os.path.relpath(os.path.abspath(file), shared) for file in files]  # noqa: PTH100
    short = [os.path.join(os.path.dirname(name), _plain(os.path.basename(name))) for name in whole]  # noqa: PTH118, PTH119, PTH120
    # Files that differ only in their endings keep them.
    return (
        [a if short.count(a) == 1 else b for a, b in zip(short, whole)]
        if len(set(short)) < len(short)
        else short
    )


def _kind(path: str) -> Kind:
    """Detect the format of a file from its content, or from its name if it is empty."""
    with reading(path), opened(path) as stream:
        start = stream.read(512)
    # A damaged Parquet file is not taken for lines of JSON.
    if start[:4] == b"PAR1" or (path.endswith(".parquet") and start.lstrip()[:1] != b"{"):
        return "parquet"
    if (
        start[257:262] == b"ustar"
        or _plain(path) + ".tar" == path.removesuffix(".gz")
        or path.endswith(".tgz")
    ):
        return "tar"
    return "jsonl"


def opened(path: str) -> Any:
    """Open a file for reading, and decompress gzip."""
    raw = open(path, "rb")  # noqa: PTH123, SIM115 - the caller closes it
    try:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
    except OSError:
        raw.close()
        raise
    return gzip.open(raw, "rb") if packed else raw


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn errors of reading into errors that name the shard."""
    try:
        yield
    except (InputError, MissingExtraError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile) and error.strerror:
            raise ShardError(f"cannot read the shard {printable(path)}: {error.strerror}") from None
        damage = (EOFError, zlib.error, tarfile.TarError, OSError, UnicodeError)
        if isinstance(error, damage) or type(error).__module__.startswith("pyarrow"):
            lines = str(error).splitlines() or [type(error).__name__]
            raise ShardError(f"the shard {printable(path)} is damaged: {printable(lines[0])[:200]}") from None
        raise


# Digests ----------------------------------------------------------------------------------------------------


def digest(shard: Shard, named: Columns) -> str:
    """Return the digest of everything that is scored in a shard.

    Only the footer and the two columns of a Parquet file are read, and only the names and texts of a tar
    file, so images inside cost nothing.
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
            while size > 0 and (piece := stream.read(min(size, _PIECE))):
                yield piece
                size -= len(piece)


def _texts_of_tar(shard: Shard, _: Columns) -> Iterator[bytes]:
    with opened(shard.path) as stream:
        for archive, member in tar_members(stream):
            yield member.name.encode("utf-8", "surrogateescape") + b"\0%d\0" % member.size
            if member.isfile() and member.name.endswith((".json", ".txt")):
                content = archive.extractfile(member)
                while content is not None and (piece := content.read(_PIECE)):
                    yield piece


_PIECES: dict[Kind, Any] = {"parquet": _chosen_columns, "jsonl": _whole, "tar": _texts_of_tar}


# Tar --------------------------------------------------------------------------------------------------------


class _Member(tarfile.TarInfo):
    """Member of an archive. :mod:`tarfile` takes a damaged header for the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> _Member:
        try:
            return super().fromtarfile(archive)
        except tarfile.EmptyHeaderError:  # type: ignore[attr-defined]
            raise tarfile.ReadError("the end mark is missing; the archive is empty or cut off") from None
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError(f"the header at byte {archive.offset:,}: {error}") from None


def tar_members(stream: Any) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield the members of an archive with the archive, in order.

    The stream is read to its end, which verifies the checksum of gzip. An archive without its end mark, and
    bytes after that mark, are damage.
    """
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as archive:
        for member in archive:
            archive.members = []  # type: ignore[attr-defined] # it would store all of them
            yield archive, member
        rest: Any = archive.fileobj
        while block := rest.read(_PIECE):
            if block.strip(b"\0"):
                raise tarfile.ReadError(
                    "more data follows the end of the archive; join archives with tar, not cat"
                )


# Parquet ----------------------------------------------------------------------------------------------------


def parquet_file(path: str) -> Any:
    """Open a Parquet file. Only its footer is read."""
    # Row groups are read one after another, so there is no gain in fetching all bytes at once.
    return open_parquet(path, path, memory_map=False, pre_buffer=False)


def parquet_columns(file: Any, path: str, named: Columns) -> tuple[str | None, str]:
    """Return the names of the image column, which may be missing, and of the caption column."""
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
