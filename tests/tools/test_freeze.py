"""Comparison of frozen folders, and the inputs that are written for them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from tools.freeze import inputs
from tools.freeze.compare import Difference, compare_folders, report
from tools.freeze.recorder import run


def differences(tmp_path: Path, old: Any, new: Any, name: str = "item/a.npz") -> dict[str, Difference]:
    """Write one file to each of two folders and compare them. A mapping is a file of arrays."""
    for folder, content in (("old", old), ("new", new)):
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content)
        else:
            np.savez(path, **content)
    return dict(compare_folders(tmp_path / "old", tmp_path / "new"))


def test_equal_arrays_have_no_difference(tmp_path: Path) -> None:
    values = {"rows": np.array([[1.0, math.nan], [0.5, -0.0]])}
    assert differences(tmp_path, values, values) == {}
    assert report(tmp_path / "old", tmp_path / "new", 0.0) == 0


def test_the_last_bit_of_a_value_is_a_difference(tmp_path: Path) -> None:
    old, new = np.array([0.1, 0.2, 0.3]), np.array([0.1, np.nextafter(0.2, 1), 0.3])
    difference = differences(tmp_path, {"rows": old}, {"rows": new})["item/a.npz"]
    assert (difference.count, difference.total, difference.structure) == (1, 3, "")
    assert difference.largest == new[1] - old[1]
    assert report(tmp_path / "old", tmp_path / "new", 1.0) == 1


@pytest.mark.parametrize(
    ("old", "new", "largest"), [(0.0, -0.0, 0.0), (math.nan, 1.0, math.inf), (math.inf, 1.0, math.inf)]
)
def test_signs_of_zero_and_undefined_values_count(
    tmp_path: Path, old: float, new: float, largest: float
) -> None:
    difference = differences(tmp_path, {"value": np.array(old)}, {"value": np.array(new)})["item/a.npz"]
    assert (difference.count, difference.largest) == (1, largest)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ({"rows": np.zeros(3)}, "float64(2,)"),
        ({"rows": np.zeros(2, np.float32)}, "float32"),
        ({"rows": np.zeros(2), "value": np.zeros(1)}, "'value' is in one folder only"),
    ],
)
def test_other_arrays_are_named(tmp_path: Path, new: dict[str, Any], expected: str) -> None:
    difference = differences(tmp_path, {"rows": np.zeros(2)}, new)["item/a.npz"]
    assert expected in difference.structure
    assert not difference.within(1.0)


def test_numbers_of_texts_are_compared(tmp_path: Path) -> None:
    old, new = '{"value": 0.25, "images": 3, "p": 1e-05}', '{"value": 0.5, "images": 3, "p": 2e-05}'
    difference = differences(tmp_path, old, new, "item/a.txt")["item/a.txt"]
    assert difference == Difference(2, 3, 0.25)


def test_other_words_are_no_difference_of_numbers(tmp_path: Path) -> None:
    difference = differences(tmp_path, "a dog\n1 cat", "a dog\n1 hat", "relaxed/a.txt")["relaxed/a.txt"]
    assert "'1 cat' and '1 hat'" in difference.structure and (difference.count, difference.total) == (1, 2)
    assert report(tmp_path / "old", tmp_path / "new", 1.0) == 1


def test_missing_files_are_listed(tmp_path: Path) -> None:
    for name in ("old/a.txt", "old/both.txt", "new/b.txt", "new/both.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    listed = dict(compare_folders(tmp_path / "old", tmp_path / "new"))
    assert {name: part.structure for name, part in listed.items()} == {
        "a.txt": "missing from the new folder",
        "b.txt": "missing from the old folder",
    }


@pytest.mark.parametrize(
    ("name", "tolerance", "status"),
    [("relaxed/a.npz", 2e-6, 0), ("relaxed/a.npz", 0.0, 1), ("item/relaxed/a.npz", 2e-6, 1)],
)
def test_only_relaxed_files_have_a_tolerance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, tolerance: float, status: int
) -> None:
    differences(tmp_path, {"rows": np.array([0.5])}, {"rows": np.array([0.500001])}, name)
    assert report(tmp_path / "old", tmp_path / "new", tolerance) == status
    printed = capsys.readouterr().out
    assert (
        "within tolerance" if status == 0 else "DIFFERENT"
    ) in printed and "1 of 1 values differ" in printed


def test_inputs_are_the_same_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        inputs.write_demo(tmp_path / name, tmp_path, images=3)
    assert dict(compare_folders(tmp_path / "one", tmp_path / "two")) == {}
    assert len(json.loads((tmp_path / "one" / "a.json").read_text())) == 3
    assert all((tmp_path / "one" / file).is_file() for file in inputs.OPTIONS.values())


def test_commands_run_the_imported_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative PYTHONPATH means something else in the folder that commands run in."""
    package = tmp_path / "src" / "captious"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("print(__file__)")
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setattr(captious, "__file__", str(package / "__init__.py"))
    assert run("score", tmp_path).strip() == str(package / "__main__.py")
