"""Clocks, and commands in fresh processes with their time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parent.parent
T = TypeVar("T")

#: Bytecode of the timed processes.
_BYTECODE = tempfile.TemporaryDirectory(prefix="captious-benchmark-")

#: Small process that starts and times a command. Linux counts the memory of the starting process as the
#: command's own. Arguments: files for the measurement, the output and the errors, then the command.
_STARTER = """
import json, os, sys, time
target, output, errors, *command = sys.argv[1:]
start = time.perf_counter()
actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)]
for number, name in ((1, output), (2, errors)):
    actions.append((os.POSIX_SPAWN_OPEN, number, name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
_, status, usage = os.wait4(os.posix_spawnp(command[0], command, os.environ, file_actions=actions), 0)
result = {
    "wall": time.perf_counter() - start,
    "processor": usage.ru_utime + usage.ru_stime,
    "megabytes": usage.ru_maxrss / 1024,
    "code": os.waitstatus_to_exitcode(status),
}
with open(target, "w") as out:
    json.dump(result, out)
"""


class Seconds(NamedTuple):
    """Wall-clock and processor time. Processor time includes child processes that have ended."""

    wall: float
    processor: float

    def ratio_to(self, quicker: Seconds | Run, digits: int = 0) -> str:
        """Format how much quicker the other one is."""
        wall, processor = self.wall / quicker.wall, self.processor / quicker.processor
        return f"{wall:.{digits}f} × wall clock, {processor:.{digits}f} × processor time"

    def __str__(self) -> str:
        return f"{self.wall:.2f} s ({self.processor:.2f} s of processor time)"


def timed(work: Callable[[], T]) -> tuple[T, Seconds]:
    """Return the result of ``work`` and its time."""
    start, used = time.perf_counter(), _processor_time()
    result = work()
    return result, Seconds(time.perf_counter() - start, _processor_time() - used)


def _processor_time() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def best_of(times: int, work: Callable[[], T]) -> tuple[T, Seconds]:
    """Return the result of ``work`` and the shortest times of several runs."""
    runs = [timed(work) for _ in range(times)]
    seconds = [seconds for _, seconds in runs]
    return runs[-1][0], Seconds(min(s.wall for s in seconds), min(s.processor for s in seconds))


def peak_megabytes() -> float:
    """Return the largest resident memory of this process so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Run:
    """Time and peak memory (MB) of one process, including the processes that it waited for.

    The process uses this tree's captious. Modules are compiled to bytecode once, as in installed packages.
    """

    def __init__(self, command: list[str]) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONPYCACHEPREFIX": _BYTECODE.name}
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("measurement", "output", "errors")]
            starter = [sys.executable, "-I", "-S", "-c", _STARTER, *map(str, files)]
            subprocess.run([*starter, *command], check=True, cwd=ROOT, env=environment)
            measurement = json.loads(files[0].read_text())
            self.output = files[1].read_text(encoding="utf-8")
            if measurement["code"]:
                sys.exit(f"{' '.join(command)[:300]} failed:\n{files[2].read_text(encoding='utf-8')[-2000:]}")
        self.wall: float = measurement["wall"]
        self.processor: float = measurement["processor"]
        self.megabytes: float = measurement["megabytes"]

    @property
    def json(self) -> Any:
        """The value on the last line of the output."""
        return json.loads(self.output.splitlines()[-1])


def python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module."""
    return [sys.executable, "-m", module, *arguments]


def captious_score(references: Path, results: Path, metrics: str, *more: str) -> list[str]:
    """Return a ``captious score`` command."""
    files = str(references), str(results)
    return python("captious", "score", *files, "-m", metrics, "--format", "csv", *more)


def in_turn(
    times: int, commands: dict[str, list[str]], run: Callable[[list[str]], Run] = Run
) -> dict[str, list[Run]]:
    """Run commands ``times`` times in turn, so that a machine that slows down affects all of them."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            runs[name].append(run(command))
    return runs


def quickest(runs: list[Run]) -> Run:
    return min(runs, key=lambda run: run.wall)
