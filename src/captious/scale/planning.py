"""Forecast of a run: numbers of shards, rows and bytes, and roughly how long it will take."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from captious.core.errors import CaptiousError
from captious.core.threads import one_blas_thread, working
from captious.io.columns import Columns
from captious.scale.engines import Engine
from captious.scale.shard_job import Ready
from captious.scale.shard_reading import batches
from captious.scale.shard_task import Sums, score_batch
from captious.scale.shards import Shard, opened, parquet_file, reading
from captious.scale.status_display import duration
from captious.scale.whole_corpus import Whole

#: Rows that are scored to know how long one takes.
_TRIAL = 4096
#: Bytes of a shard without an index that are looked at to know how long its rows are.
_LOOK = 1 << 20


@dataclass(frozen=True)
class Forecast:
    """Work of a planned run."""

    shards: int
    rows: int
    #: Whether rows were counted (Parquet says how many there are) or estimated from the length of the first
    #: ones.
    counted: bool
    bytes: int
    done: int
    workers: int
    #: Processor seconds per row, from a trial; nothing where no row could be scored.
    seconds_per_row: float | None
    faults: dict[str, str]

    @property
    def seconds(self) -> float | None:
        """How long it would take."""
        if self.seconds_per_row is None:
            return None
        return self.seconds_per_row * self.rows / max(self.workers, 1)

    def __str__(self) -> str:
        rows = f"{self.rows:,} rows" if self.counted else f"about {self.rows:,} rows"
        text = f"{self.shards:,} shard{'s' if self.shards != 1 else ''}, {rows}, {self.bytes / 1e6:,.1f} MB"
        if self.done:
            text += f"; {self.done:,} have results from an earlier run, which are checked and kept"
        if self.seconds is not None and self.seconds_per_row:
            workers = f"{self.workers} worker{'s' if self.workers != 1 else ''}"
            speed = f"{1 / self.seconds_per_row:,.0f} captions a second each"
            text += f"; roughly {duration(self.seconds)} on {workers}, {speed}"
        return text


def rows_of(named: Columns, shard: Shard) -> tuple[int, bool] | str:
    """The rows of a shard, and whether they were counted; or what is wrong with it."""
    try:
        with reading(shard.path):
            if shard.kind == "parquet":
                file = parquet_file(shard.path)
                count = int(file.metadata.num_rows)
                file.close()
                return count, True
            size = Path(shard.path).stat().st_size
            if not size:
                return 0, True
            with opened(shard.path) as stream:
                start = stream.read(_LOOK)
                whole = len(stream.read(1)) == 0
            packed = shard.path.endswith((".gz", ".tgz"))
        seen = next(iter(batches(shard, named, 256)), None)
        if seen is None:
            return 0, True
        if shard.kind == "jsonl":
            lines = start.count(b"\n") + (not start.endswith(b"\n"))
            if whole:
                return lines, True
            # Captions in gzip take about a third of their length.
            return round(lines * size * (3 if packed else 1) / len(start)), False
        # A header and a block for each file; texts are shorter than a block.
        return max(len(seen.captions), size * (3 if packed else 1) // 2048), False
    except CaptiousError as error:
        return str(error)


def trial(made: Ready, shards: Sequence[Shard]) -> float | None:
    """Return processor seconds per row, from scoring the first rows a second time."""
    job = made.job
    for shard in shards:
        try:
            batch = next(itertools.islice(batches(shard, job.columns, _TRIAL), 1), None)
            if batch is None:
                continue
            seconds = 0.0
            for _ in range(2):
                whole = Whole(
                    job.whole, shard.name, "", top=job.top or 100_000, sample=job.sample, seed=job.seed
                )
                start = time.process_time()
                with working(1), one_blas_thread():
                    _, bad = score_batch(made, batch, Sums(made.measures), whole, shard)
                seconds = time.process_time() - start
            if len(bad) < len(batch.captions):
                return seconds / len(batch.captions)
        except CaptiousError:
            continue
    return None


def forecast(run: Engine, made: Ready, tasks: Sequence[Any]) -> Forecast:
    """Look at all shards and try a few rows."""
    shards = [task.shard for task in tasks]
    rows, counted, faults = 0, True, {}
    for number, found in run.run(partial(rows_of, made.job.columns), shards):
        if isinstance(found, tuple):
            rows, counted = rows + found[0], counted and found[1]
        else:
            faults[shards[number].name] = str(found)
    done = sum(Path(task.part).exists() for task in tasks)
    size = sum(Path(shard.path).stat().st_size for shard in shards)
    return Forecast(len(shards), rows, counted, size, done, run.workers, trial(made, shards), faults)
