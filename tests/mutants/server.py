"""Runs pytest again and again, each time in a fork of a process that has loaded the large libraries already.

A program of its own, without anything of the package or of the tests: those are loaded in the fork, from the copy with the
mutant in it. It reads a line of JSON for each run (arguments, file for the output, seconds to wait) and answers with
pytest's exit code, or with -1 where the run did not end in time.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from importlib import import_module
from typing import Any

for _library in ("pytest", "hypothesis", "numpy", "scipy.stats", "click.testing", "rich.table"):
    import_module(_library)


def run(arguments: list[str], output: str) -> None:
    """In the fork: everything goes to the file."""
    # A group of its own, so that whatever the tests start ends with them.
    os.setpgid(0, 0)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(source, target)
    import pytest

    code = 3
    try:
        code = int(pytest.main(arguments))
    finally:
        sys.stdout.flush()
        os._exit(code)


def wait(child: int, seconds: float) -> int:
    """The exit code of a fork, which is ended when its time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            # A crash of the process is a notice, too.
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def main() -> None:
    """Serve until there is nothing more to read."""
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        child = os.fork()
        if child == 0:
            run(asked["arguments"], asked["output"])
        print(wait(child, asked["seconds"]), flush=True)


main()
