"""Copies of the package that a test may damage, and programs that run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import captious

PACKAGE = Path(captious.__file__).parent


def copy_package(folder: Path) -> Path:
    """Copy the package with its library to `folder`; return the copy's path. Data files are linked."""
    target = folder / "captious"

    def copy(source: str, destination: str) -> None:
        if source.endswith((".py", ".json", ".so", ".dylib", ".dll")):
            shutil.copy(source, destination)
        else:
            Path(destination).symlink_to(source)

    shutil.copytree(PACKAGE, target, copy_function=copy, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def run(program: str, package: Path = PACKAGE, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """Run a program with a copy of the package. Variables of the environment that are None are removed."""
    variables = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment,
    }
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in variables.items() if value is not None},
    )
