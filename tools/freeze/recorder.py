"""Write frozen files: arrays, JSON, and what commands print."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import captious
from tools.freeze.compare import RELAXED

#: The version is part of signatures and changes with every release.
_VERSION = re.compile(r"captious:\d[\w.]*")


@dataclass(frozen=True)
class Recorder:
    """Files of one item, computed in the folder of one case."""

    out: Path
    item: str
    #: Folder of the inputs. Commands run there, so that their output has no absolute paths.
    case: Path

    def arrays(self, name: str, values: dict[str, NDArray[Any]], *, relaxed: bool = False) -> None:
        np.savez(self._path(f"{name}.npz", relaxed), **values)  # type: ignore[arg-type]

    def json(self, name: str, value: Any, *, relaxed: bool = False) -> None:
        self.text(f"{name}.json", json.dumps(value, indent=1), relaxed=relaxed)

    def text(self, name: str, content: str, *, relaxed: bool = False) -> None:
        self._path(name, relaxed).write_text(_VERSION.sub("captious:VERSION", content))

    def command(self, name: str, line: str, *, relaxed: bool = False) -> None:
        """Run a command of captious and freeze its standard output and the files ``out.*`` that it writes.

        What a command prints beside a file is a message, not a result, unless it is JSON.
        """
        for stale in self.case.glob("out.*"):
            stale.unlink()
        printed = run(line, self.case)
        if "--json -" in line or not (" -o " in line or " --write " in line):
            self.text(f"{name}.txt", printed, relaxed=relaxed)
        for path in sorted(self.case.glob("out.*")):
            frozen = f"{name}{path.suffix}"
            if path.suffix == ".npz":
                self._path(frozen, relaxed).write_bytes(path.read_bytes())
            elif path.suffix == ".gz":
                self.text(f"{name}.txt", gzip.decompress(path.read_bytes()).decode(), relaxed=relaxed)
            else:
                self.text(frozen, path.read_text(), relaxed=relaxed)

    def messages(self, name: str, line: str) -> None:
        """Freeze all that a command prints and its exit code, also if it fails."""
        done = _start(line, self.case)
        content = f"exit code {done.returncode}\n{done.stdout}--- standard error\n{done.stderr}"
        self.text(f"{name}.txt", content.replace(str(self.case), "CASE"))

    def _path(self, name: str, relaxed: bool) -> Path:
        parts = ([RELAXED] if relaxed else []) + [self.item, self.case.name, name.replace("%", "percent-")]
        path = self.out.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def run(line: str, folder: Path) -> str:
    """Run a command of the imported captious in a folder and return its standard output."""
    done = _start(line, folder)
    if done.returncode:
        raise RuntimeError(f"captious {line}\n{done.stderr[-2000:]}")
    return done.stdout


def _start(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    paths = [str(Path(captious.__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, "-m", "captious", *shlex.split(line)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
