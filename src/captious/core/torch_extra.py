"""PyTorch, an optional dependency."""

from __future__ import annotations

from typing import Any

from captious.core.errors import MissingExtraError


def require_torch(purpose: str, threads: int | None = None) -> Any:
    """Import PyTorch and set its number of threads, or raise an error that says how to install it."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "train", purpose) from error
    if threads is not None:
        torch.set_num_threads(threads)
    return torch
