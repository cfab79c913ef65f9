"""Progress bars at a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from captious.core.errors import printable

T = TypeVar("T")

#: Duration of work before a bar appears.
PATIENCE_SECONDS = 2.0


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


def track(iterable: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Iterate, showing a bar on standard error once the work has taken two seconds."""
    if not shown():
        yield from iterable
        return
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    start = time.monotonic()
    iterator = iter(iterable)
    done = 0
    for item in iterator:
        yield item
        done += 1
        if time.monotonic() - start > PATIENCE_SECONDS:
            break
    else:
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        # File names in the description can hold any character.
        task = bar.add_task(escape(printable(description)), total=total, completed=done)
        for item in iterator:
            yield item
            bar.advance(task)
