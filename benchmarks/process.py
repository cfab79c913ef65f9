"""Commands as a person runs them: a fresh process, its seconds and its memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import ROOT

#: Where Python keeps the bytecode of the processes that are timed.
_BYTECODE = tempfile.TemporaryDirectory(prefix="captious-benchmark-")


def environment() -> dict[str, str]:
    """That of this process, but such that modules are compiled once and not in every run: installed packages are, too."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": _BYTECODE.name}


class Run:
    """Seconds, processor seconds and the peak memory (MB) of one process."""

    def __init__(self, command: list[str]) -> None:
        start = time.perf_counter()
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, cwd=ROOT, env=environment())
            assert process.stdout is not None
            self.output = process.stdout.read().decode()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                sys.exit(f"{' '.join(command)[:300]} failed:\n{errors.read().decode()[-2000:]}")
        self.wall = time.perf_counter() - start
        self.processor = used.ru_utime + used.ru_stime
        self.megabytes = used.ru_maxrss / 1024


def score(references: Path, results: Path, metrics: str) -> list[str]:
    """``captious score``."""
    return [sys.executable, "-m", "captious", "score", str(references), str(results), "-m", metrics, "--format", "csv"]
