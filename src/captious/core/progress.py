"""Progress bars at a terminal, nothing in a pipe."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from captious.core.errors import printable
from captious.core.memo import Lock

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

T = TypeVar("T")

#: Duration of work before a bar appears.
PATIENCE_SECONDS = 2.0

#: Shortest time between two changes of a bar.
_INTERVAL = 0.1

_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def silenced() -> Iterator[None]:
    """Show no bars inside the block."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def shown() -> bool:
    """Whether bars are shown."""
    return not _silent.get() and sys.stderr.isatty()


def track(
    iterable: Iterable[T],
    description: str,
    total: int | None = None,
    label: Callable[[T], str] | None = None,
    *,
    even: bool = False,
) -> Iterator[T]:
    """Iterate, showing a bar on standard error once the work has taken two seconds.

    The bar counts finished items. ``label`` describes the item in progress. A loop inside another one adds a
    bar of its own. Where items take ``even`` times, the bar also has the time left.
    """
    if not shown():
        yield from iterable
        return
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    loop = _Loop(description, total, even)
    _display.add(loop)
    try:
        for item in iterable:
            if label is not None:
                loop.description = f"{description}: {label(item)}"
                _display.update(loop, now=True)
            yield item
            loop.done += 1
            _display.update(loop)
    finally:
        _display.remove(loop)


class _Loop:
    """State of a loop, and its bar once there is one."""

    def __init__(self, description: str, total: int | None, even: bool) -> None:
        self.description, self.total, self.even, self.done = description, total, even, 0
        self.started, self.drawn = time.monotonic(), 0.0
        self.task: TaskID | None = None

    def left(self) -> str:
        """Return the time left as text, or nothing where items take different times or none is done."""
        if not self.even or not self.total or not self.done:
            return ""
        seconds = (time.monotonic() - self.started) * (self.total - self.done) / self.done
        return f"about {round(seconds)} s left" if seconds < 90 else f"about {round(seconds / 60)} min left"


class _Display:
    """Bars of all running loops of the process. A timer starts them, even while the first item is running."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loops: list[_Loop] = []
        self._bars: Progress | None = None
        self._timer: threading.Timer | None = None

    def add(self, loop: _Loop) -> None:
        with self._lock:
            self._loops.append(loop)
            if self._bars is not None:
                self._draw(loop)
            elif PATIENCE_SECONDS <= 0:
                self._start()
            elif self._timer is None:
                self._timer = threading.Timer(PATIENCE_SECONDS, self._start)
                self._timer.daemon = True
                self._timer.start()

    def update(self, loop: _Loop, now: bool = False) -> None:
        if self._bars is not None and (now or time.monotonic() - loop.drawn >= _INTERVAL):
            with self._lock:
                self._draw(loop)

    def remove(self, loop: _Loop) -> None:
        with self._lock:
            if loop not in self._loops:  # of the parent process
                return
            self._loops.remove(loop)
            if self._bars is not None and loop.task is not None:
                self._bars.remove_task(loop.task)
            if self._loops:
                return
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            bars, self._bars = self._bars, None
        if bars is not None:
            bars.stop()

    def forget(self) -> None:
        """Forget the bars of the parent process, whose threads a forked child does not have."""
        self._loops, self._bars, self._timer = [], None, None

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if not self._loops or self._bars is not None:
                return
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
            )
            self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
            for loop in self._loops:
                self._draw(loop)
            self._bars.start()

    def _draw(self, loop: _Loop) -> None:
        from rich.markup import escape

        if self._bars is None:
            return
        # File names in the description can hold any character.
        text = escape(printable(loop.description))
        if loop.task is None:
            loop.task = self._bars.add_task(text, total=loop.total, completed=loop.done, left=loop.left())
            task = next(task for task in self._bars.tasks if task.id == loop.task)
            task.start_time = self._bars.get_time() - (time.monotonic() - loop.started)
        else:
            self._bars.update(loop.task, description=text, completed=loop.done, left=loop.left())
        loop.drawn = time.monotonic()


_display = _Display()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_display.forget)
