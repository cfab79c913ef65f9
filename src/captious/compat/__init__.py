"""Interfaces of other tools: pycocoevalcap (here) and torchmetrics (`captious.compat.torchmetrics`)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from captious.compat.pycocoevalcap import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Import `captious.compat.torchmetrics` on first use."""
    if name != "torchmetrics":
        raise AttributeError(f"module 'captious.compat' has no attribute {name!r}")
    return import_module("captious.compat.torchmetrics")
