"""Forecast of a run, and its progress: rows, throughput and time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from captious.core.errors import CaptiousError
from captious.core.progress import PATIENCE_SECONDS, shown
from captious.core.threads import one_blas_thread, working
from captious.io.caption_files import Columns
from captious.scale.engines import Engine, Failure, outcomes
from captious.scale.shard_job import PreparedJob
from captious.scale.shard_rows import batches
from captious.scale.shard_task import Done, ShardTask, Sums, score_batch
from captious.scale.shards import Shard, opened, parquet_file, reading
from captious.scale.whole_corpus import Whole

#: Rows scored to estimate the time per row.
_TRIAL = 4096
#: Bytes read to estimate the length of rows in a shard without an index.
_LOOK = 1 << 20


def duration(seconds: float) -> str:
    """Return an approximate duration as text: ``45 s``, ``12 min``, ``3.4 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@dataclass(frozen=True)
class Forecast:
    """Work of a planned run."""

    shards: int
    rows: int
    #: Whether rows were counted (from Parquet's footer) or estimated from the length of the first ones.
    counted: bool
    bytes: int
    done: int
    workers: int
    #: Processor seconds per row, from a trial. None if no row could be scored.
    seconds_per_row: float | None
    faults: dict[str, str]

    @property
    def seconds(self) -> float | None:
        """Estimated running time."""
        if self.seconds_per_row is None:
            return None
        return self.seconds_per_row * self.rows / max(self.workers, 1)

    def __str__(self) -> str:
        rows = f"{self.rows:,} rows" if self.counted else f"about {self.rows:,} rows"
        text = f"{self.shards:,} shard{'s' if self.shards != 1 else ''}, {rows}, {self.bytes / 1e6:,.1f} MB"
        if self.done:
            text += f"; {self.done:,} have results from an earlier run, which are verified and reused"
        if self.seconds is not None and self.seconds_per_row:
            workers = f"{self.workers} worker{'s' if self.workers != 1 else ''}"
            speed = f"{1 / self.seconds_per_row:,.0f} captions a second each"
            text += f"; roughly {duration(self.seconds)} on {workers}, {speed}"
        return text


def _count_rows(named: Columns, shard: Shard) -> tuple[int, bool]:
    """On a worker: the number of rows of a shard, and whether they were counted."""
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
            is_whole = len(stream.read(1)) == 0
    first = next(iter(batches(shard, named, 256)), None)
    if first is None:
        return 0, True
    # Captions in gzip take about a third of their length.
    unpacked = size * (3 if shard.path.endswith((".gz", ".tgz")) else 1)
    if shard.kind == "jsonl":
        lines = start.count(b"\n") + (not start.endswith(b"\n"))
        return (lines, True) if is_whole else (round(lines * unpacked / len(start)), False)
    # A header and a block for each file. Texts are shorter than a block.
    return max(len(first.captions), unpacked // 2048), False


def _time_per_row(prepared: PreparedJob, shards: Sequence[Shard]) -> float | None:
    """Return processor seconds per row, from scoring the first rows twice."""
    job = prepared.job
    for shard in shards:
        try:
            batch = next(iter(batches(shard, job.columns, _TRIAL)), None)
            if batch is None:
                continue
            seconds = 0.0
            for _ in range(2):
                whole = Whole(
                    job.whole, shard.name, "", top=job.top or 100_000, sample=job.sample, seed=job.seed
                )
                start = time.process_time()
                with working(1), one_blas_thread():
                    _, bad = score_batch(prepared, batch, Sums(prepared.n_images), whole, shard)
                seconds = time.process_time() - start
            if len(bad) < len(batch.captions):
                return seconds / len(batch.captions)
        except CaptiousError:
            continue
    return None


def make_forecast(engine: Engine, prepared: PreparedJob, tasks: Sequence[ShardTask]) -> Forecast:
    """Inspect all shards and score a few rows."""
    shards = [task.shard for task in tasks]
    rows, counted, faults = 0, True, {}
    for number, outcome in outcomes(engine, partial(_count_rows, prepared.job.columns), shards):
        if isinstance(outcome, Failure):
            faults[shards[number].name] = outcome.message
        else:
            rows, counted = rows + outcome[0], counted and outcome[1]
    done = sum(Path(task.part).exists() for task in tasks)
    size = sum(Path(shard.path).stat().st_size for shard in shards)
    seconds = _time_per_row(prepared, shards)
    return Forecast(len(shards), rows, counted, size, done, engine.workers, seconds, faults)


# Progress ---------------------------------------------------------------------------------------------------


class Meter:
    """Progress of a run. Shards are weighted by their size in bytes."""

    def __init__(self, shards: int, size: int, workers: int) -> None:
        self.shards, self.bytes, self.workers = shards, size, workers
        self.done = self.kept = self.rows = self.bad = self.left_out = 0
        self.done_bytes = self._worked_bytes = self._worked_rows = 0
        self.start = time.monotonic()

    def add(self, done: Done, size: int) -> None:
        """Count a finished shard."""
        self.done += 1
        self.rows += done.rows
        self.bad += done.bad
        self.done_bytes += size
        if done.kept:
            self.kept += 1
        else:
            self._worked_bytes += size
            self._worked_rows += done.rows

    def skip(self, size: int) -> None:
        """Count a shard that is left out."""
        self.left_out += 1
        self.done_bytes += size

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.start

    @property
    def rate(self) -> float:
        """Captions per second."""
        return self._worked_rows / max(self.seconds, 1e-9)

    @property
    def left(self) -> float | None:
        """Seconds left. None before the first shard is scored."""
        if not self._worked_bytes:
            return None
        return (self.bytes - self.done_bytes) / self._worked_bytes * self.seconds

    def __str__(self) -> str:
        parts = [f"{self.done:,} of {self.shards:,} shards", f"{self.rows:,} captions", f"{self.rate:,.0f}/s"]
        if self.kept:
            parts.insert(1, f"{self.kept:,} done before")
        if self.bad:
            parts.append(f"{self.bad:,} bad rows")
        if self.left_out:
            parts.append(f"{self.left_out:,} bad shards")
        if self.left is not None:
            parts.append(f"{duration(self.left)} left")
        return ", ".join(parts)


class ProgressDisplay:
    """Progress bar on a terminal after two seconds, or a callback."""

    def __init__(self, meter: Meter, callback: Callable[[Meter], None] | None) -> None:
        self.meter, self.callback = meter, callback
        self._bar: Any = None
        self._terminal = callback is None and shown()

    def __enter__(self) -> ProgressDisplay:
        return self

    def update(self) -> None:
        """Show the state of the meter."""
        if self.callback is not None:
            self.callback(self.meter)
        if not self._terminal or self.meter.seconds < PATIENCE_SECONDS:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True
            )
            self._bar.start()
            self._task = self._bar.add_task("", total=max(self.meter.bytes, 1))
        self._bar.update(self._task, completed=self.meter.done_bytes, description=str(self.meter))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
