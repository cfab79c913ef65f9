"""Files are written completely or not at all. Links are followed; pipes and devices are written directly."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from captious.core.errors import InputError
from captious.core.writing import atomic_write
from tests.command import run as in_process

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices in the file system")


def write(path: Path | str, text: str = "new") -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(text)


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "file.txt"
    target.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "far" / "not yet.txt")
    write(dangling)
    assert dangling.is_symlink()
    assert (tmp_path / "far" / "not yet.txt").read_text() == "new"
    assert sorted(entry.name for entry in (tmp_path / "far").iterdir()) == ["file.txt", "not yet.txt"]


@posix
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write(pipe, "through the pipe")
    reader.join(10)
    assert received == [b"through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def device(folder: Path, name: str, minor: int) -> Path:
    """A device to write to. Root gets a new one, because a broken writer would replace the machine's own."""
    if os.geteuid() != 0:
        return Path("/dev") / name
    path = folder / name
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
    except PermissionError:  # in a container, root may not create devices
        pytest.skip("cannot make a device")
    return path


@posix
def test_devices_stay_devices(tmp_path: Path) -> None:
    null, full = device(tmp_path, "null", 3), device(tmp_path, "full", 7)
    write(null)
    assert stat.S_ISCHR(null.stat().st_mode)
    with pytest.raises(InputError, match=f"cannot write {full}: No space left on device"):
        write(full)
    assert stat.S_ISCHR(full.stat().st_mode)


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write("-", "é")
    assert capfdbinary.readouterr().out == "é".encode()
    assert not Path("-").exists()


def test_folders_and_loops_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder"):
        write(tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="cannot write"):
        write(loop)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / "file" / "below")


def test_permissions_are_those_of_any_new_file_or_stay(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "new")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    finally:
        os.umask(before)
    (tmp_path / "new").chmod(0o604)
    write(tmp_path / "new", "again")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


def test_the_umask_is_never_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The umask belongs to the whole process: another thread could create a file that all users may write."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask was changed"))
    write(tmp_path / "file")
    assert (tmp_path / "file").exists()


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyError), atomic_write(path) as temporary:
        temporary.write_text("half")
        raise KeyError
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_files_left_by_killed_processes_go_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    script = (
        "import os, sys\nfrom captious.core.writing import atomic_write\n"
        "with atomic_write(sys.argv[1]) as temporary:\n    temporary.write_text('half'); "
        "os.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script, str(path)], env=environment, check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with atomic_write(path) as ours:
        ours.write_text("first")
        write(path, "second")
        assert ours.exists()
    assert path.read_text() == "first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def run(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-m", "captious", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        **options,
    )  # type: ignore[call-overload,no-any-return]


@posix
def test_no_room_is_one_message_with_exit_code_2(tmp_path: Path) -> None:
    """Every kind of output. A limit on the size of files simulates a full disk."""
    from captious.data import demo_path

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

    references, good = demo_path("references"), demo_path("good")
    commands = [
        ["score", references, good, "-m", "BLEU-1", "--json", tmp_path / "out.json"],
        ["score", references, good, "-m", "BLEU-1", "--per-image", tmp_path / "out.csv"],
        ["score", references, good, "-m", "BLEU-1", "-o", tmp_path / "out.scores"],
        ["df", "build", references, "-o", tmp_path / "out.df"],
        ["prepare", references, "-m", "BLEU-1", "-o", tmp_path / "out.prepared"],
    ]
    for command in commands:
        done = run(*command, preexec_fn=no_room)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("captious: cannot write")
        assert done.stderr.count("\n") == 1
        assert list(tmp_path.iterdir()) == []
    for command in commands:
        done = in_process(*command[:-1], tmp_path)
        if (
            command[-2] == "-o" and command[0] == "score"
        ):  # a folder takes the scores of any number of systems
            continue
        assert done.returncode == 2
        assert "it is a folder" in done.stderr


@posix
def test_standard_output_that_cannot_be_written(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "captious", "metrics"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("captious: cannot read or write: No space left on device")
    assert done.stderr.count("\n") == 1
