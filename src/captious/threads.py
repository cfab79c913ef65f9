"""How many threads a matrix product may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
