"""The compiled-code cache notices every change that matters, also in another file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from captious.kernels import kernel

HELPER = """
from captious.kernels import kernel

FACTOR = {factor}

@kernel
def scaled(x):
    return {expression}
"""
USER = """
import numpy as np
from captious.kernels import kernel
from helper import FACTOR, scaled

@kernel
def total(values):
    out = 0.0
    for value in values:
        out += scaled(value) + FACTOR
    return out

print(total.plain(np.arange(3.0)), total.compiled(np.arange(3.0)))
"""


def run(folder: Path, factor: int, expression: str) -> tuple[float, float]:
    helper = folder / "helper.py"
    helper.write_text(HELPER.format(factor=factor, expression=expression))
    # The time of the last change is not what tells: it stays the same here.
    os.utime(helper, (1_000_000_000, 1_000_000_000))
    user = folder / "user.py"
    user.write_text(USER)
    os.utime(user, (1_000_000_000, 1_000_000_000))
    done = subprocess.run(
        [sys.executable, "-B", str(user)], capture_output=True, text=True, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    )
    plain, compiled = map(float, done.stdout.split())
    return plain, compiled


def test_a_changed_helper_in_another_file_is_compiled_anew(tmp_path: Path) -> None:
    assert run(tmp_path, 1, "2 * x") == (9.0, 9.0)
    assert run(tmp_path, 1, "3 * x") == (12.0, 12.0)
    assert run(tmp_path, 2, "3 * x") == (15.0, 15.0)


LIMIT = np.arange(3)


@kernel
def limited(x):  # type: ignore[no-untyped-def]
    return x + LIMIT[0]


def test_a_digest_tells_code_and_constants_apart() -> None:
    before = limited.digest
    del limited.digest
    limited.plain.__globals__["LIMIT"] = np.arange(1, 4)
    try:
        assert limited.digest != before
    finally:
        limited.plain.__globals__["LIMIT"] = np.arange(3)
