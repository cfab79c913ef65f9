"""One shard: read, scored, written. This is what runs on workers."""

from __future__ import annotations

import hashlib
import itertools
import json
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious._version import __version__
from captious.core.errors import CaptiousError, InputError, MissingExtraError, WriteError, printable
from captious.core.progress import silenced
from captious.core.threads import one_blas_thread, working
from captious.core.writing import atomic_write
from captious.io import saved_files as container
from captious.metrics.base import FloatArray, Measure
from captious.metrics.statistics import arranged
from captious.scale import counting
from captious.scale.shard_checks import checked
from captious.scale.shard_job import Job, Ready, is_countable, ready
from captious.scale.shard_reading import Rows, batches
from captious.scale.shards import SCORES, Shard, ShardError, digest
from captious.scale.whole_corpus import GROUPS, Whole

KIND = "scores of a shard"
VERSION = 1
PART = ".part"
WORDS = ".words"
#: Bad rows that are listed; all are counted.
LISTED = 20
#: Batches in a row group of the columns of scores.
_ROW_GROUP = 8


@dataclass(frozen=True)
class Task:
    """A shard and where its results go: ``target`` without endings."""

    shard: Shard
    target: str

    @property
    def scores(self) -> str:
        """The column of scores of each metric."""
        return self.target + SCORES

    @property
    def part(self) -> str:
        """Write the summary of this shard. It is written last and marks the shard as done."""
        return self.target + PART

    @property
    def words(self) -> str:
        """The words of the shard, counted."""
        return self.target + WORDS


@dataclass(frozen=True)
class Done:
    """A shard that is finished."""

    name: str
    rows: int
    bad: int
    #: The first bad rows: number in the shard (from 1), and why.
    listed: list[tuple[int, str]] = field(default_factory=list)
    #: Whether an earlier run had done it.
    kept: bool = False
    seconds: float = 0.0
    #: The most memory that the worker had taken when it was done.
    peak: int = 0


def score_shard(job: Job, task: Task) -> Done:
    """Score one shard, unless it was scored already as it is asked for now.

    Nothing half-written is left behind.
    """
    start = time.process_time()
    # A worker is one of many: it uses one processor.
    with silenced(), working(1), one_blas_thread():
        content = digest(task.shard, job.columns)
        known = finished(job, task, content)
        if known is not None:
            return known
        Path(task.part).unlink(missing_ok=True)
        done = _score(ready(job), task, content)
    return Done(**{**done.__dict__, "seconds": time.process_time() - start, "peak": _peak()})


@dataclass(frozen=True)
class Failed:
    """A shard that was not scored.

    It is a value and no exception, because not every exception survives the way to the client.
    """

    name: str
    message: str
    #: Whether the shard is at fault, and others may go on.
    skippable: bool


def attempt(job: Job, task: Task) -> Done | Failed:
    """:func:`score_shard`, with everything that goes wrong as a value."""
    try:
        return score_shard(job, task)
    except ShardError as error:
        return Failed(task.shard.name, str(error), True)
    except (CaptiousError, OSError) as error:
        return Failed(task.shard.name, str(error), False)
    except Exception as error:  # a shard may hold anything, and shall be named
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        return Failed(
            task.shard.name,
            f"the shard {printable(task.shard.path)} cannot be scored ({printable(what)[:300]})",
            True,
        )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def finished(job: Job, task: Task, content: str) -> Done | None:
    """Return an earlier run's result of this shard, if it is complete, of the same content and measures."""
    try:
        part = container.read(task.part, KIND, VERSION, "it is made again")
        for name in part.arrays:
            part.arrays[name]
        meta = part.meta
        if meta["job"] != job.key or meta["shard"] != content:
            return None
        if job.metrics and file_digest(task.scores) != meta["scores"]:
            return None
        if "words" in meta["whole"] and counting.digest(task.words) != meta["whole"]["words"]:
            return None
        return Done(
            task.shard.name,
            int(meta["rows"]),
            int(meta["bad"]),
            [(int(row), str(why)) for row, why in meta["listed"]],
            True,
        )
    except (InputError, OSError, KeyError, TypeError, ValueError):
        return None


def file_digest(path: str) -> str:
    """Names the bytes of a file."""
    with Path(path).open("rb") as stream:
        state = hashlib.blake2b(digest_size=16)
        while piece := stream.read(1 << 20):
            state.update(piece)
        return state.hexdigest()


class Sums:
    """Sums of statistics by group of images; measures that share their rows share their sums."""

    def __init__(self, measures: list[Measure]) -> None:
        self.tables: list[FloatArray] = []
        self.table_of: list[int] = []
        self.counts = np.zeros(GROUPS, dtype=np.int64)
        self._measures = measures

    def add(self, groups: NDArray[np.int64], found: list[Any]) -> None:
        """The rows of a batch, one table for each measure."""
        if not self.table_of:
            shared: dict[int, int] = {}
            self.table_of = [shared.setdefault(id(rows), len(shared)) for rows in found]
            widths = {number: rows.shape[1] for rows, number in zip(found, self.table_of)}
            self.tables = [np.zeros((GROUPS, widths[number])) for number in range(len(shared))]
        self.counts += np.bincount(groups, minlength=GROUPS)
        for number, table in enumerate(self.tables):
            rows: Any = arranged(found[self.table_of.index(number)])
            for column in range(table.shape[1]):
                table[:, column] += np.bincount(groups, weights=rows[:, column], minlength=GROUPS)


def _score(job: Ready, task: Task, content: str) -> Done:
    settings = job.job
    sums = Sums(job.measures)
    whole = Whole(
        settings.whole,
        task.shard.name,
        task.words,
        top=settings.top,
        sample=settings.sample,
        seed=settings.seed,
    )
    bad: list[tuple[int, str]] = []
    count = {"rows": 0, "bad": 0}

    def scored() -> Iterator[list[FloatArray]]:
        for batch in batches(task.shard, settings.columns, settings.batch):
            columns, wrong = score_batch(job, batch, sums, whole, task.shard)
            count["rows"] += len(batch.captions)
            count["bad"] += len(wrong)
            bad.extend(wrong[: LISTED - len(bad)])
            if wrong and settings.on_error == "stop":
                row, why = wrong[0]
                raise ShardError(
                    f"the shard {printable(task.shard.path)}, row {row + 1:,}: {printable(why)} "
                    "('--on-error skip' leaves bad rows and shards out, and counts them)"
                )
            yield columns

    written = ""
    if settings.metrics:
        written = _write_scores(task, job, content, scored())
    else:
        for _ in scored():
            pass
    meta, arrays, texts = whole.finish()
    present = np.flatnonzero(sums.counts)
    arrays = {f"whole/{name}": values for name, values in arrays.items()}
    arrays |= {"groups": present.astype(np.int32), "counts": sums.counts[present]}
    arrays |= {f"sums/{number}": table[present] for number, table in enumerate(sums.tables)}
    listed = [(row + 1, why) for row, why in bad]
    described = {
        "job": settings.key,
        "shard": content,
        "scores": written,
        "rows": count["rows"],
        "bad": count["bad"],
        "listed": listed,
        "tables": sums.table_of,
        "whole": meta,
        "captious": __version__,
    }
    container.write(task.part, KIND, VERSION, described, arrays | container.text_arrays("texts", texts))
    return Done(task.shard.name, count["rows"], count["bad"], listed)


def score_batch(
    job: Ready, batch: Rows, sums: Sums, whole: Whole, shard: Shard
) -> tuple[list[FloatArray], list[tuple[int, str]]]:
    """The scores of a batch, a column for each measure (nothing where a row is bad), and its bad rows."""
    if batch.ids is None and job.images.places is not None:
        raise ShardError(
            f"the shard {printable(shard.path)} has no image ids, and references are of images; name their "
            "column (--id-column)"
        )
    good = checked(batch, job.images)
    columns = [np.full(len(batch.captions), np.nan) for _ in job.measures]
    if not len(good.rows):
        return columns, good.bad
    corpus = job.corpus(good.ids, good.captions)
    found: list[Any] = []
    for measure, state, column in zip(job.measures, job.states, columns):
        measure.check(corpus)
        rows: Any = measure.statistics(corpus, state)
        if not is_countable(rows):
            raise InputError(
                f"{measure.name} reads all words of all captions, which no shard has; of such measures there "
                "are Types, Hapax, TTR1, TTR2 and Distinct here"
            )
        found.append(rows)
        # Of a measure of the whole, a caption has a value where the measure is a mean: the length of a
        # caption, say.
        column[good.rows] = (
            measure.per_row(rows)
            if measure.rows == "caption"
            else Measure.value(measure, rows)
            if rows.shape[1] == 2
            else np.nan
        )
    if found:
        sums.add(job.groups(corpus), found)
    if whole.names:
        whole.add(corpus.candidates, batch.start + good.rows)
    return columns, good.bad


def _write_scores(task: Task, job: Ready, content: str, columns: Iterator[list[FloatArray]]) -> str:
    """Write the columns as they come; the digest of the file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "writing columns of scores") from None
    about = {
        "captious": __version__,
        "shard": content,
        "signatures": dict(zip(job.job.metrics, job.signatures)),
    }
    schema = pyarrow.schema(
        [(measure.name, pyarrow.float64()) for measure in job.measures],
        metadata={"captious": json.dumps(about, ensure_ascii=True)},
    )
    with atomic_write(task.scores) as temporary:
        try:
            with (
                temporary.open("wb") as stream,
                pyarrow.parquet.ParquetWriter(stream, schema, use_dictionary=False) as writer,
            ):
                while several := list(itertools.islice(columns, _ROW_GROUP)):
                    whole = map(np.concatenate, zip(*several))
                    writer.write_table(
                        pyarrow.table(
                            [pyarrow.array(column, mask=np.isnan(column)) for column in whole], schema=schema
                        )
                    )
        except pyarrow.ArrowException as error:
            raise WriteError(f"cannot write {printable(task.scores)}: {error}") from error
        return file_digest(str(temporary))
