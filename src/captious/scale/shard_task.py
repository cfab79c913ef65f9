"""Scoring of one shard, on a worker."""

from __future__ import annotations

import hashlib
import itertools
import json
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious._version import __version__
from captious.core import container
from captious.core.errors import CaptiousError, InputError, MissingExtraError, WriteError, printable
from captious.core.progress import silenced
from captious.core.threads import one_blas_thread, working
from captious.core.writing import atomic_write
from captious.metrics.base import FloatArray, Measure, Sequences, arranged
from captious.scale import counting
from captious.scale.shard_job import Job, PreparedJob, prepared_job
from captious.scale.shard_rows import Rows, batches, checked
from captious.scale.shards import SCORES, Shard, ShardError, digest
from captious.scale.whole_corpus import GROUPS, Whole

KIND = "scores of a shard"
VERSION = 2
PART = ".part"
WORDS = ".words"
#: Bad rows that are listed. All are counted.
LISTED = 20
#: Batches per row group of the columns of scores.
_ROW_GROUP = 8


@dataclass(frozen=True)
class ShardTask:
    """A shard, and the path of its results without endings."""

    shard: Shard
    target: str

    @property
    def scores(self) -> str:
        """File with a column of scores for each metric."""
        return self.target + SCORES

    @property
    def part(self) -> str:
        """File with the summary of the shard. It is written last and marks the shard as done."""
        return self.target + PART

    @property
    def words(self) -> str:
        """File with the counts of words."""
        return self.target + WORDS


@dataclass(frozen=True)
class Done:
    """A finished shard."""

    name: str
    rows: int
    bad: int
    #: The first bad rows: number in the shard (from 1), and the reason.
    listed: list[tuple[int, str]] = field(default_factory=list)
    #: Whether the results are those of an earlier run.
    kept: bool = False
    seconds: float = 0.0
    #: Peak memory of the worker in bytes.
    peak: int = 0


def score_shard(job: Job, task: ShardTask) -> Done:
    """Score one shard, unless an earlier run scored it with the same settings."""
    start = time.process_time()
    try:
        # One processor per worker.
        with silenced(), working(1), one_blas_thread():
            content = digest(task.shard, job.columns)
            earlier = _finished(job, task, content)
            if earlier is not None:
                return earlier
            Path(task.part).unlink(missing_ok=True)
            done = _score(prepared_job(job), task, content)
    except (CaptiousError, OSError):
        raise
    except Exception as error:
        lines = f"{type(error).__name__}: {error}".splitlines()
        raise ShardError(
            f"the shard {printable(task.shard.path)} cannot be scored ({printable(lines[0])[:300]})"
        ) from error
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return replace(done, seconds=time.process_time() - start, peak=peak)


def _finished(job: Job, task: ShardTask, content: str) -> Done | None:
    """Return the result of an earlier run if it is complete, with the same content and settings."""
    try:
        part = container.read(task.part, KIND, VERSION, "run the command again")
        # Reading an array verifies it.
        for name in part.arrays:
            part.arrays[name]
        meta = part.meta
        if meta["job"] != job.key or meta["shard"] != content:
            return None
        if job.metrics and job.columns_saved and _file_digest(task.scores) != meta["scores"]:
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


def _file_digest(path: str) -> str:
    with Path(path).open("rb") as stream:
        state = hashlib.blake2b(digest_size=16)
        while piece := stream.read(1 << 20):
            state.update(piece)
        return state.hexdigest()


class Sums:
    """Sums of statistics by group of images. Measures that share their rows share their sums."""

    def __init__(self, images: int) -> None:
        """``images`` is the number of images with references."""
        self.covered = np.zeros(images, dtype=np.bool_)
        self.tables: list[FloatArray] = []
        self.table_of: list[int] = []
        self.counts = np.zeros(GROUPS, dtype=np.int64)

    def add(self, groups: NDArray[np.int64], statistics: list[Any]) -> None:
        """Add the rows of a batch, one table for each measure."""
        if not self.table_of:
            shared: dict[int, int] = {}
            self.table_of = [shared.setdefault(id(rows), len(shared)) for rows in statistics]
            widths = {number: rows.shape[1] for rows, number in zip(statistics, self.table_of)}
            self.tables = [np.zeros((GROUPS, widths[number])) for number in range(len(shared))]
        self.counts += np.bincount(groups, minlength=GROUPS)
        for number, table in enumerate(self.tables):
            rows: Any = arranged(statistics[self.table_of.index(number)])
            for column in range(table.shape[1]):
                table[:, column] += np.bincount(groups, weights=rows[:, column], minlength=GROUPS)


def _score(prepared: PreparedJob, task: ShardTask, content: str) -> Done:
    settings = prepared.job
    sums = Sums(prepared.n_images)
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
            columns, wrong = score_batch(prepared, batch, sums, whole, task.shard)
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
    if settings.metrics and settings.columns_saved:
        written = _write_scores(task, prepared, content, scored())
    else:
        for _ in scored():
            pass
    meta, arrays, texts = whole.finish()
    present = np.flatnonzero(sums.counts)
    arrays = {f"whole/{name}": values for name, values in arrays.items()}
    arrays |= {"groups": present.astype(np.int32), "counts": sums.counts[present]}
    arrays |= {f"sums/{number}": table[present] for number, table in enumerate(sums.tables)}
    arrays["covered"] = np.packbits(sums.covered)
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
    prepared: PreparedJob, batch: Rows, sums: Sums, whole: Whole, shard: Shard
) -> tuple[list[FloatArray], list[tuple[int, str]]]:
    """Return the scores of a batch, a column for each measure (NaN for bad rows), and its bad rows."""
    if batch.ids is None and prepared.images.places is not None:
        raise ShardError(
            f"the shard {printable(shard.path)} has no image ids, which references need; name their column "
            "(--id-column)"
        )
    good = checked(batch, prepared.images)
    columns = [np.full(len(batch.captions), np.nan) for _ in prepared.measures]
    if not len(good.rows):
        return columns, good.bad
    corpus = prepared.corpus(good.ids, good.captions)
    statistics: list[Any] = []
    for measure, state, column in zip(prepared.measures, prepared.states, columns):
        measure.check(corpus)
        rows: Any = measure.statistics(corpus, state)
        if isinstance(rows, Sequences):
            raise InputError(
                f"{measure.name} reads all words of all captions in their order, and a shard has only some; "
                "use Types, Hapax, TTR1, TTR2 or Distinct"
            )
        statistics.append(rows)
        # A measure of the whole has a value per caption if it is a mean, such as the mean length.
        column[good.rows] = (
            measure.per_row(rows)
            if measure.rows == "caption"
            else Measure.value(measure, rows)
            if rows.shape[1] == 2
            else np.nan
        )
    if prepared.n_images:
        sums.covered[corpus.images] = True
    if statistics:
        sums.add(prepared.groups(corpus), statistics)
    if whole.names:
        whole.add(corpus.candidates, batch.start + good.rows)
    return columns, good.bad


def _write_scores(
    task: ShardTask, prepared: PreparedJob, content: str, columns: Iterator[list[FloatArray]]
) -> str:
    """Write the columns batch by batch, and return the digest of the file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "writing columns of scores") from None
    about = {
        "captious": __version__,
        "shard": content,
        "signatures": dict(zip(prepared.job.metrics, prepared.signatures)),
    }
    schema = pyarrow.schema(
        [(measure.name, pyarrow.float64()) for measure in prepared.measures],
        metadata={"captious": json.dumps(about, ensure_ascii=True)},
    )
    with atomic_write(task.scores) as temporary:
        try:
            with (
                temporary.open("wb") as stream,
                pyarrow.parquet.ParquetWriter(
                    stream, schema, use_dictionary=False, write_page_checksum=True
                ) as writer,
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
        return _file_digest(str(temporary))
