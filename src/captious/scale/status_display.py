"""How a run goes: throughput and time left, for people at a terminal and for whoever asks."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from captious.core.progress import PATIENCE_SECONDS, shown
from captious.scale.shard_task import Done


class Meter:
    """Counts what is done.

    Shards are weighed by their bytes, so that small ones do not make the end seem near.
    """

    def __init__(self, shards: int, size: int, workers: int) -> None:
        self.shards, self.bytes, self.workers = shards, size, workers
        self.done = self.kept = self.rows = self.bad = self.left_out = 0
        self.done_bytes = self._worked_bytes = self._worked_rows = 0
        self.start = time.monotonic()

    def add(self, done: Done, size: int) -> None:
        """A shard is finished."""
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
        """A shard is left out."""
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
        """Seconds left, once it can be known."""
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
        left = self.left
        if left is not None:
            parts.append(f"{duration(left)} left")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """About how long: ``45 s``, ``12 min``, ``3.4 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Shown:
    """The meter on a terminal, once the work has taken two seconds; nothing in a pipe."""

    def __init__(self, meter: Meter, show: Callable[[Meter], None] | None) -> None:
        self.meter, self.show = meter, show
        self._bar: Any = None
        self._terminal = show is None and shown()

    def __enter__(self) -> Shown:
        return self

    def update(self) -> None:
        """Something was done."""
        if self.show is not None:
            self.show(self.meter)
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
