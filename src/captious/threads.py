"""How many threads a matrix product may use, and how many work side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any


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


_jobs: ContextVar[int] = ContextVar("jobs", default=1)


def jobs() -> int:
    """How many threads a batch may be divided among here: one, unless :func:`working` says more."""
    return _jobs.get()


@contextmanager
def working(threads: int) -> Iterator[None]:
    """Let work that can be divided (parsing) use so many threads. What comes out is the same."""
    token = _jobs.set(threads)
    try:
        yield
    finally:
        _jobs.reset(token)
