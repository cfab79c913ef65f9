"""Waiting time of a new user: a wheel in an empty environment, an empty cache, and the first run.

    python -m benchmarks.fresh_machine [--images N] [--rounds 3] [--old WHEEL_OR_SOURCE]

The script builds a wheel of this tree and installs it with METEOR's tables into a new virtual environment. Each round
then clears the cache, runs ``captious score`` with the eight COCO metrics twice, and compares the two runs. ``--old``
installs another version into an environment of its own, whose second runs alternate with ours.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.captions import ROOT, coco, write_coco

#: Packages that must not be in a base install.
UNWANTED = ("numba", "llvmlite", "scipy")
#: Packages that an empty environment contains before anything is installed.
INITIAL = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence.pth")


class Environment:
    """A virtual environment with one version of captious and a cache folder of its own."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder = folder
        venv.create(folder / "env", with_pip=True)
        self.python = str(folder / "env" / "bin" / "python")
        self._install(source)
        self.packages = next((folder / "env" / "lib").glob("python*/site-packages"))
        self.base_megabytes = self.megabytes()
        self.unwanted = [name for name in UNWANTED if (self.packages / name).exists()]
        self._install("pycocoevalcap==1.2", "--no-deps")

    def _install(self, *arguments: str) -> None:
        command = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
        subprocess.run(command, check=True, capture_output=True)

    def megabytes(self) -> float:
        """Size of site-packages on disk, without what was there before the installation."""
        paths = [path for path in self.packages.iterdir() if path.name.split("-")[0] not in INITIAL]
        files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
        return sum(file.stat().st_blocks for file in files) * 512 / 1e6

    def clear_cache(self) -> None:
        """Remove all that earlier runs have cached."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)

    def score(self, references: Path, results: Path) -> tuple[float, str]:
        """Return the seconds of one run of all eight metrics, and its output."""
        command = [self.python, "-m", "captious", "score", str(references), str(results), "--format", "csv"]
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CAPTIOUS_CACHE")}
        start = perf_counter()
        run = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**environment, "CAPTIOUS_CACHE": str(self.folder / "cache")},
        )
        return perf_counter() - start, run.stdout

    def import_seconds(self) -> float:
        """Return the seconds that ``import captious`` takes, without Python's own start."""
        code = "import time; s = time.perf_counter(); import captious; print(time.perf_counter() - s)"
        command = [self.python, "-c", code]
        return min(float(subprocess.check_output(command, cwd=self.folder)) for _ in range(5))


def build_wheel(folder: Path) -> str:
    """Build a wheel of this tree with its kernels."""
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
        env={**os.environ, "CAPTIOUS_KERNELS": "require"},
    )
    return str(next(folder.glob("captious-*.whl")))


def main() -> None:
    """Print what was measured, beside the bars."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=12_454)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--old", help="an older version to compare with: a wheel or a source folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="captious-fresh-") as name:
        folder = Path(name)
        references, results = write_coco(folder, *coco(images=arguments.images))
        new = Environment(folder / "new", build_wheel(folder / "wheel"))
        old = Environment(folder / "old", arguments.old) if arguments.old else None
        if old:
            old.score(references, results)
        ratios, first_runs, second_runs, old_runs, outputs = [], [], [], [], set()
        for _ in range(arguments.rounds):
            new.clear_cache()
            first, first_output = new.score(references, results)
            second, second_output = new.score(references, results)
            outputs |= {first_output, second_output}
            ratios.append(first / second)
            first_runs.append(first)
            second_runs.append(second)
            if old:
                old_runs.append(old.score(references, results)[0])
            print(f"first {first:.2f} s, second {second:.2f} s, ratio {first / second:.2f}", flush=True)
        rows = [
            ("unwanted packages", ", ".join(new.unwanted) or "none", "none"),
            ("site-packages, installed", f"{new.base_megabytes:.0f} MB", "130 MB"),
            ("first run / second run, median", f"{median(ratios):.2f}", "1.50"),
            ("first run, range", f"{min(first_runs):.2f}–{max(first_runs):.2f} s", ""),
            ("second run, range", f"{min(second_runs):.2f}–{max(second_runs):.2f} s", ""),
            ("import captious", f"{new.import_seconds():.3f} s", "0.150 s"),
            ("outputs of all runs", "equal" if len(outputs) == 1 else "DIFFERENT", "equal"),
        ]
        if old:
            rows.append(
                ("older version, second run, range", f"{min(old_runs):.2f}–{max(old_runs):.2f} s", "")
            )
        print(f"\n| {arguments.images:,} images | measured | bar |\n|---|---:|---:|")
        for row in rows:
            print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
