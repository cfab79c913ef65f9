"""Commands as a person runs them: a fresh process, its seconds and its memory. The same for our side and for the tools beside us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.common import ROOT

#: Where Python keeps the bytecode of the processes that are timed.
_BYTECODE = tempfile.TemporaryDirectory(prefix="captious-benchmark-")

#: Linux counts the memory of the process that starts a command as the command's own. So a small one starts it, which also holds
#: the watch. Arguments: where to write what was found, output, errors, and the command.
_STARTER = """
import json, os, sys, time
found, output, errors, *command = sys.argv[1:]
start = time.perf_counter()
opened = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)]
opened += [(os.POSIX_SPAWN_OPEN, k, name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for k, name in ((1, output), (2, errors))]
_, status, used = os.wait4(os.posix_spawnp(command[0], command, os.environ, file_actions=opened), 0)
told = {"wall": time.perf_counter() - start, "processor": used.ru_utime + used.ru_stime, "megabytes": used.ru_maxrss / 1024}
with open(found, "w") as out:
    json.dump({**told, "code": os.waitstatus_to_exitcode(status)}, out)
"""


def environment() -> dict[str, str]:
    """That of this process, but with this tree's captious, and such that modules are compiled once and not in every run: installed packages are, too."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "PYTHONPYCACHEPREFIX": _BYTECODE.name}


class Run:
    """Seconds, processor seconds and the peak memory (MB) of one process, those that it started and waited for included."""

    def __init__(self, command: list[str]) -> None:
        with tempfile.TemporaryDirectory() as name:
            files = [Path(name, part) for part in ("found", "output", "errors")]
            subprocess.run(
                [sys.executable, "-I", "-S", "-c", _STARTER, *map(str, files), *command],
                check=True,
                cwd=ROOT,
                env=environment(),
            )
            found = json.loads(files[0].read_text())
            self.output = files[1].read_text(encoding="utf-8")
            if found["code"]:
                sys.exit(f"{' '.join(command)[:300]} failed:\n{files[2].read_text(encoding='utf-8')[-2000:]}")
        self.wall: float = found["wall"]
        self.processor: float = found["processor"]
        self.megabytes: float = found["megabytes"]


def in_turn(
    times: int, commands: dict[str, list[str]], run: Callable[[list[str]], Run] = Run
) -> dict[str, list[Run]]:
    """Each command so many times, one after the other in turn: where the machine becomes slower, it does so for all of them."""
    found: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            found[name].append(run(command))
    return found


def quickest(runs: list[Run]) -> Run:
    return min(runs, key=lambda run: run.wall)


def score(references: Path, results: Path, metrics: str, *more: str) -> list[str]:
    """``captious score``."""
    return [
        sys.executable,
        "-m",
        "captious",
        "score",
        str(references),
        str(results),
        "-m",
        metrics,
        "--format",
        "csv",
        *more,
    ]
