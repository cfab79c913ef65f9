"""A few steps of :mod:`tests.leak`, which has the full harness."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.metrics.registry import names
from tests import leak


def test_scoring_in_a_loop_keeps_nothing() -> None:
    for growth in leak.run(steps=120, metrics=["CIDEr-D", "Self-CIDEr", "Types"], full_caches=False):
        assert growth.is_flat, growth


def test_growth_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache that holds one string of every step fails the bound."""
    held: list[str] = []
    score = captious.score

    def leaking(*inputs: Any, **options: Any) -> Any:
        held.append(f"{len(held):100}")
        return score(*inputs, **options)

    monkeypatch.setattr(captious, "score", leaking)
    leak.write_demo(tmp_path / "demo", tmp_path, images=10)
    tracemalloc.start()
    try:
        assert not leak.measure(["Types"], tmp_path / "demo", steps=40).is_flat
    finally:
        tracemalloc.stop()


def test_all_metrics_are_in_a_family() -> None:
    assert sorted(name for family in leak.families() for name in family) == sorted(names())
