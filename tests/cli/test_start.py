"""The command as a process: its output and exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BEGIN = "import sys; from captious.cli import start; sys.argv = ['captious', *sys.argv[1:]]\n"


def _run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BEGIN + code, *arguments], capture_output=True, text=True, check=False
    )


def test_output_and_status() -> None:
    good = _run("start.command()", "--version")
    assert (good.returncode, good.stdout.split()[0]) == (0, "captious")
    bad = _run("start.command()", "score", "nowhere.json", "nowhere-else.json")
    assert bad.returncode == 2
    assert "nowhere-else.json" in bad.stderr
    usage = _run("start.command()", "score", "--no-such-option")
    assert usage.returncode == 2


def test_much_output_arrives_whole(tmp_path: Path) -> None:
    """Into a pipe, where Python buffers output."""
    path = tmp_path / "captions.txt"
    path.write_text("a dog runs on the grass .\n" * 20_000)
    done = subprocess.run(
        [sys.executable, "-m", "captious", "tokenize", str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("a dog runs on the grass") == 20_000


def test_a_reader_that_has_seen_enough() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "captious", "metrics"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")
