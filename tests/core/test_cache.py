"""The package writes files completely or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from captious.core.cache import atomic_write, cache_directory, lock
from captious.core.errors import InputError


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    with atomic_write(path) as temporary:
        temporary.write_text("half")
        assert not path.exists()
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert [found.name for found in path.parent.iterdir()] == ["file.txt"]


def test_what_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_write(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["file.txt"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "file.txt") as temporary:
            temporary.write_text("")
    finally:
        os.umask(mask)
    assert (tmp_path / "file.txt").stat().st_mode & 0o777 == 0o640


def test_a_place_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("")
    with pytest.raises(InputError, match="cannot write"), atomic_write(tmp_path / "file.txt" / "below"):
        pass


def test_the_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "mine"))
    assert cache_directory() == tmp_path / "mine"
    monkeypatch.delenv("CAPTIOUS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "captious"


def test_two_processes_take_turns(tmp_path: Path) -> None:
    program = (
        "import sys; from captious.core.cache import lock\nwith lock(sys.argv[1]): print('in', flush=True)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with lock(tmp_path / "a.lock"):
        other = subprocess.Popen(
            [sys.executable, "-c", program, tmp_path / "a.lock"], stdout=subprocess.PIPE, env=environment
        )
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(timeout=1.5)
    assert other.communicate(timeout=60)[0].strip() == b"in"
