"""Stored steps of benchmarks: none is lost, measured twice, or shown after it is out of date."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks import steps as module
from benchmarks.steps import StepLimit, Steps


def quiet(path: Path | None, **options: Any) -> Steps:
    return Steps(path, log=lambda text: None, **options)


def fail_if_called() -> Any:
    raise AssertionError("this step has a stored result")


def test_stored_results_are_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    assert quiet(path).measure("speed", "a", {"times": 3}, lambda: {"seconds": 1.5}) == {"seconds": 1.5}
    again = quiet(path)
    assert again.measure("speed", "a", {"times": 3}, fail_if_called) == {"seconds": 1.5}
    assert again.measure("speed", "b", {"times": 3}, lambda: 2) == 2
    assert quiet(path).results("speed") == {"a": {"seconds": 1.5}, "b": 2}
    assert quiet(path).results("cores") == {}
    assert [entry.name for entry in tmp_path.iterdir()] == ["steps.json"]


def test_an_interruption_loses_only_the_current_step(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    first = quiet(path)
    first.measure("growth", "few", {}, lambda: 1)

    def stopped() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.measure("growth", "many", {}, stopped)
    second = quiet(path)
    assert second.measure("growth", "few", {}, fail_if_called) == 1
    assert second.measure("growth", "many", {}, lambda: 2) == 2


def test_other_settings_are_other_measurements() -> None:
    steps = quiet(None)
    steps.measure("speed", "a", {"images": 10}, lambda: 1)
    assert steps.measure("speed", "a", {"images": 20}, lambda: 2) == 2
    assert steps.measure("speed", "a", {"images": 20}, fail_if_called) == 2
    # Tuples come back from a file as lists.
    steps.measure("speed", "b", {"sizes": (1, 2)}, lambda: 3)
    assert steps.measure("speed", "b", {"sizes": (1, 2)}, fail_if_called) == 3


def test_other_code_is_measured_again_except_for_peers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "steps.json"
    old = quiet(path)
    old.measure("long", "ours", {}, lambda: 1)
    old.measure("long", "java", {}, lambda: 100, ours=False)
    monkeypatch.setattr(module, "code_digest", lambda: "changed")
    assert quiet(path).results("long") == {"java": 100}
    assert quiet(path, any_code=True).results("long") == {"ours": 1, "java": 100}
    assert quiet(path, any_code=True).measure("long", "ours", {}, fail_if_called) == 1
    new = quiet(path)
    assert new.measure("long", "java", {}, fail_if_called, ours=False) == 100
    assert new.measure("long", "ours", {}, lambda: 2) == 2
    assert new.results("long") == {"ours": 2, "java": 100}


def test_the_digest_is_short_and_hexadecimal() -> None:
    assert len(module.code_digest()) == 12
    int(module.code_digest(), 16)


def test_sections_can_be_dropped() -> None:
    steps = quiet(None)
    steps.measure("speed", "a", {}, lambda: 1)
    steps.measure("cores", "a", {}, lambda: 2)
    steps.forget("speed")
    steps.forget("long")
    assert steps.results("speed") == {} and steps.results("cores") == {"a": 2}


def test_a_limit_counts_only_new_measurements(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"

    def run(limit: int | None) -> list[int]:
        steps = quiet(path, limit=limit)
        return [steps.measure("long", str(k), {}, partial(int, 10 * k)) for k in range(3)]

    for _ in range(2):
        with pytest.raises(StepLimit, match="next step"):
            run(1)
    assert run(1) == run(0) == run(None) == [0, 10, 20]


def test_files_of_earlier_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    entry = {"settings": {}, "when": "2026-01-01 12:00", "took": 1.0, "found": 100}
    path.write_text(json.dumps({"long": {"java": entry}}))
    assert quiet(path).measure("long", "java", {}, fail_if_called, ours=False) == 100
    assert quiet(path).results("long") == {"java": 100}
