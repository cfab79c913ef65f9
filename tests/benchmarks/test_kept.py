"""Results of benchmarks are kept step by step: nothing is lost, nothing is measured twice, and nothing stale is shown."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks import kept as module
from benchmarks.kept import Enough, Kept


def quiet(path: Path | None, **options: Any) -> Kept:
    return Kept(path, say=lambda text: None, **options)


def refuse() -> Any:
    raise AssertionError("this is known already")


def test_what_is_there_is_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    assert quiet(path).step("speed", "a", {"times": 3}, lambda: {"seconds": 1.5}) == {"seconds": 1.5}
    again = quiet(path)
    assert again.step("speed", "a", {"times": 3}, refuse) == {"seconds": 1.5}
    assert again.step("speed", "b", {"times": 3}, lambda: 2) == 2
    assert quiet(path).found("speed") == {"a": {"seconds": 1.5}, "b": 2}
    assert quiet(path).found("cores") == {}
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept.json"]


def test_a_stop_loses_only_the_step_it_stops(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    first = quiet(path)
    first.step("growth", "few", {}, lambda: 1)

    def stopped() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.step("growth", "many", {}, stopped)
    second = quiet(path)
    assert second.step("growth", "few", {}, refuse) == 1
    assert second.step("growth", "many", {}, lambda: 2) == 2


def test_other_settings_are_other_measurements() -> None:
    kept = quiet(None)
    kept.step("speed", "a", {"images": 10}, lambda: 1)
    assert kept.step("speed", "a", {"images": 20}, lambda: 2) == 2
    assert kept.step("speed", "a", {"images": 20}, refuse) == 2
    # What comes back from a file is no tuple, and still the same settings.
    kept.step("speed", "b", {"sizes": (1, 2)}, lambda: 3)
    assert kept.step("speed", "b", {"sizes": (1, 2)}, refuse) == 3


def test_other_code_is_measured_again_but_not_what_does_not_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept.json"
    old = quiet(path)
    old.step("long", "ours", {}, lambda: 1)
    old.step("long", "java", {}, lambda: 100, ours=False)
    monkeypatch.setattr(module, "code", lambda: "changed")
    assert quiet(path).found("long") == {"java": 100}
    assert quiet(path, any_code=True).found("long") == {"ours": 1, "java": 100}
    assert quiet(path, any_code=True).step("long", "ours", {}, refuse) == 1
    new = quiet(path)
    assert new.step("long", "java", {}, refuse, ours=False) == 100
    assert new.step("long", "ours", {}, lambda: 2) == 2
    assert new.found("long") == {"ours": 2, "java": 100}


def test_the_digest_is_of_the_package() -> None:
    assert len(module.code()) == 12
    int(module.code(), 16)


def test_sections_can_be_forgotten() -> None:
    kept = quiet(None)
    kept.step("speed", "a", {}, lambda: 1)
    kept.step("cores", "a", {}, lambda: 2)
    kept.forget("speed")
    kept.forget("long")
    assert kept.found("speed") == {} and kept.found("cores") == {"a": 2}


def test_some_steps_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"

    def run(limit: int | None) -> list[int]:
        kept = quiet(path, limit=limit)
        return [kept.step("long", str(k), {}, partial(int, 10 * k)) for k in range(3)]

    for _ in range(2):
        with pytest.raises(Enough, match="is next"):
            run(1)
    # What is kept does not count.
    assert run(1) == run(0) == run(None) == [0, 10, 20]
