"""How the command begins and ends as a process: what it says, its exit code, and what is done at the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = "import sys; from captious.cli import start; sys.argv = ['captious', *sys.argv[1:]]\n"


def _run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", BEGIN + code, *arguments], capture_output=True, text=True, check=False)


def test_output_and_status() -> None:
    good = _run("start.command()", "--version")
    assert (good.returncode, good.stdout.split()[0]) == (0, "captious")
    bad = _run("start.command()", "score", "nowhere.json", "nowhere-else.json")
    assert bad.returncode == 2
    assert "nowhere-else.json" in bad.stderr
    usage = _run("start.command()", "score", "--no-such-option")
    assert usage.returncode == 2


def test_much_output_arrives_whole(tmp_path: Path) -> None:
    """Into a pipe, where Python keeps back what it was not told to write."""
    path = tmp_path / "captions.txt"
    path.write_text("a dog runs on the grass .\n" * 20_000)
    done = subprocess.run([sys.executable, "-m", "captious", "tokenize", str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.count("a dog runs on the grass") == 20_000


def test_a_reader_that_has_seen_enough() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "captious", "metrics"], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_what_was_to_be_done_at_the_end_is_done(tmp_path: Path) -> None:
    code = (
        "import atexit, tempfile, weakref\n"
        "folder = tempfile.TemporaryDirectory(dir=sys.argv.pop())\n"
        "atexit.register(print, 'tidied up')\n"
        "start.command()"
    )
    done = _run(code, "--version", str(tmp_path))
    assert done.stdout.endswith("tidied up\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("watch", ["sys.setprofile(lambda *a: None)", "sys.settrace(lambda *a: None)"])
def test_who_watches_sees_the_end(watch: str) -> None:
    code = f"import sys\n{watch}\ntry:\n    start.command()\nfinally:\n    sys.setprofile(None); sys.settrace(None); print('seen')"
    assert _run(code, "--version").stdout.endswith("seen\n")


def test_threads_at_work_are_waited_for() -> None:
    code = (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.5), print('done at last', flush=True))).start()\n"
        "start.command()"
    )
    done = _run(code, "--version")
    assert (done.returncode, done.stdout.split("\n")[1]) == (0, "done at last")


def test_an_end_in_words_is_said() -> None:
    """As Python does it: a text instead of a number goes to standard error, and the exit code is 1."""
    code = "import captious.cli.app as app\ndef main(): sys.exit('no more')\napp.main = main\nstart.command()"
    done = _run(code)
    assert (done.returncode, done.stderr) == (1, "no more\n")
