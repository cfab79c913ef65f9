"""How many threads a matrix product may use, and how many work side by side."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache
from typing import Any, TypeVar

from captious.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep each matrix product to one thread.

    Our products are small: their threads would mostly wait for each other, which takes minutes where other programs
    keep the processors busy. Work that is large enough runs in threads of its own, side by side.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_jobs: ContextVar[int] = ContextVar("jobs", default=0)


def jobs() -> int:
    """How many threads work may be divided among here: what :func:`working` says, or ``CAPTIOUS_JOBS``, or all processors."""
    asked = _jobs.get()
    if asked:
        return asked
    given = os.environ.get("CAPTIOUS_JOBS", "")
    if not given:
        return cores()
    if not given.isdecimal() or int(given) < 1:
        raise InputError(f"CAPTIOUS_JOBS is the number of threads, not {given!r}")
    return int(given)


@contextmanager
def working(count: int) -> Iterator[None]:
    """Let work that can be divided use so many threads. What comes out is the same."""
    token = _jobs.set(count)
    try:
        yield
    finally:
        _jobs.reset(token)


def threads(asked: int | None) -> int:
    """The number that was asked for, or :func:`jobs`."""
    if asked is not None and asked < 1:
        raise InputError(f"jobs must be at least 1, not {asked}")
    return jobs() if asked is None else asked


#: Below this many words, starting threads takes longer than they save.
_FEW = 50_000


def threads_for(words: int) -> int | None:
    """What to ask of :func:`side_by_side` for quick work on so many words."""
    return 1 if words < _FEW else None


def side_by_side(function: Callable[[Item], Result], items: Sequence[Item], asked: int | None = None) -> Iterator[Result]:
    """The results for all items, in their order, by as many threads as there are :func:`jobs`. The pieces divide no further."""
    count = min(threads(asked), len(items))
    if count <= 1:
        yield from map(function, items)
        return

    def alone(item: Item) -> Result:
        with working(1):
            return function(item)

    with ThreadPoolExecutor(count) as pool:
        # A thread does not know the settings of the one that started it.
        waiting = deque(pool.submit(copy_context().run, alone, item) for item in items)
        try:
            while waiting:
                yield waiting.popleft().result()
        finally:
            for piece in waiting:
                piece.cancel()
