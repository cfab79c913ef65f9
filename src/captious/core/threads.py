"""How the process works: threads of matrix products, PyTorch and parallel work, and garbage collection."""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache
from typing import Any, TypeVar

from captious.core.errors import InputError, MissingExtraError

Item = TypeVar("Item")
Result = TypeVar("Result")


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run each matrix product in one thread.

    The products are small, so BLAS threads mostly wait for each other, for minutes on a busy machine.
    Large work is divided by `side_by_side` instead.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_jobs: ContextVar[int] = ContextVar("jobs", default=0)


def jobs() -> int:
    """Return the number of threads for parallel work: that of :func:`working`, ``CAPTIOUS_JOBS``, or
    all processors."""
    requested = _jobs.get()
    if requested:
        return requested
    setting = os.environ.get("CAPTIOUS_JOBS", "")
    if not setting:
        return cores()
    if not setting.isdecimal() or int(setting) < 1:
        raise InputError(f"CAPTIOUS_JOBS is the number of threads, not {setting!r}")
    return int(setting)


@contextmanager
def working(count: int) -> Iterator[None]:
    """Set the number of threads for parallel work inside the block. Results do not depend on it."""
    token = _jobs.set(count)
    try:
        yield
    finally:
        _jobs.reset(token)


def threads(requested: int | None) -> int:
    """Return the requested number of threads, by default :func:`jobs`."""
    if requested is not None and requested < 1:
        raise InputError(f"jobs must be at least 1, not {requested}")
    return jobs() if requested is None else requested


#: Words below which threads cost more than they save.
_FEW = 50_000


def threads_for(words: int) -> int | None:
    """Return the number of threads for cheap work on ``words`` words, to be passed to
    :func:`side_by_side`."""
    return 1 if words < _FEW else None


def side_by_side(
    function: Callable[[Item], Result], items: Sequence[Item], requested: int | None = None
) -> Iterator[Result]:
    """Yield the results of all items in their order, computed by :func:`jobs` threads.

    Inside a thread, work is not divided further.
    """
    count = min(threads(requested), len(items))
    if count <= 1:
        yield from map(function, items)
        return

    def alone(item: Item) -> Result:
        with working(1):
            return function(item)

    with ThreadPoolExecutor(count) as pool:
        # Threads do not inherit context variables.
        waiting = deque(pool.submit(copy_context().run, alone, item) for item in items)
        try:
            while waiting:
                yield waiting.popleft().result()
        finally:
            for piece in waiting:
                piece.cancel()


def for_each(function: Callable[[Item], object], items: Sequence[Item], requested: int | None = None) -> None:
    """Call a function with each item, in threads like :func:`side_by_side`."""
    deque(side_by_side(function, items, requested), maxlen=0)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the search for reference cycles, which takes a third of the time when many small objects
    are built."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def require_torch(purpose: str, threads: int | None = None) -> Any:
    """Import PyTorch and set its number of threads, or raise an error that says how to install it."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "train", purpose) from error
    if threads is not None:
        torch.set_num_threads(threads)
    return torch
