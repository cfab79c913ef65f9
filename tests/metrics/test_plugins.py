"""Search for other packages' measures, without Python's own search if there are none."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from captious.metrics import options

POINTS = "[captious.measures]\nBrevity = brevity:Brevity\n"


def _info(folder: Path, name: str, content: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "entry_points.txt").write_text(content)


def test_no_package_brings_a_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _info(tmp_path, "other-1.0.dist-info", "[console_scripts]\nother = other:main\n")
    (tmp_path / "old-1.0.egg-info").write_text("a file, as installers wrote it long ago")
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing")])
    assert options.entry_points() == []


@pytest.mark.parametrize("name", ["brevity-1.0.dist-info", "brevity.egg-info", "brevity-1.0.egg/EGG-INFO"])
def test_a_package_that_does(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _info(tmp_path, name, POINTS)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert options._may_have(str(tmp_path))
    # Python itself ignores eggs that are not on the path.
    assert [point.name for point in options.entry_points()] == ([] if "EGG" in name else ["Brevity"])


def test_the_folder_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty entry of the path is the current folder."""
    _info(tmp_path, "brevity-1.0.dist-info", POINTS)
    monkeypatch.chdir(tmp_path)
    assert options._may_have("")


def test_archives_are_left_to_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("brevity-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: brevity\nVersion: 1.0\n")
        out.writestr("brevity-1.0.dist-info/entry_points.txt", POINTS)
    monkeypatch.setattr(sys, "path", [str(archive)])
    assert [point.name for point in options.entry_points()] == ["Brevity"]


def test_python_is_not_asked_in_vain() -> None:
    code = (
        "import sys; from captious.metrics import registry; registry.entries(); "
        "print('importlib.metadata' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "False\n"
    )
