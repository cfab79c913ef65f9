"""Run pytest repeatedly, each time in a fork of a process that has loaded the large libraries.

This program imports neither the package nor the tests. The fork loads them from the copy with the mutant. The program
reads a line of JSON for each run (arguments, file for the output, seconds to wait, seconds of processor time) and
prints pytest's exit code, or -1 if the run did not end in time.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from importlib import import_module
from typing import Any

for _library in ("pytest", "hypothesis", "numpy", "scipy.stats", "click.testing", "rich.table"):
    import_module(_library)


def run(arguments: list[str], output: str, processor: int | None) -> None:
    """Run pytest in the fork, with all output in the file."""
    if processor is not None:
        # The signal ends a loop in a compiled kernel, too. A busy machine does not shorten this time.
        resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))
    # A new process group, so that processes of the tests end with them.
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
    """Return the exit code of a fork, or -1 if its time was up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
                return -1
            # A crash counts as a failure.
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


def main() -> None:
    """Serve until the end of the input."""
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        child = os.fork()
        if child == 0:
            run(request["arguments"], request["output"], request["processor"])
        print(wait(child, request["seconds"]), flush=True)


main()
