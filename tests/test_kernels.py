"""Kernels: two forms of one function, and when which is used."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from captious import kernels
from captious.kernels import kernel


@kernel
def double(x):  # type: ignore[no-untyped-def]
    return 2 * x


@kernel
def total(values):  # type: ignore[no-untyped-def]
    out = 0.0
    for value in values:
        out += double(value)
    return out


def test_both_forms_agree_and_kernels_call_kernels() -> None:
    values = np.arange(5.0)
    assert total(values) == total.plain(values) == total.compiled(values) == 20.0


def test_small_work_runs_plain_and_large_work_compiled() -> None:
    assert total.pick(10) is total.plain
    assert total.pick(kernels.SMALL * 2) is total.compiled
    with kernels.called_often():
        assert total.pick(10) is total.compiled
    assert total.pick(10) is total.plain


def test_importing_captious_and_scoring_little_loads_neither_numba_nor_scipy() -> None:
    code = (
        "import sys, captious\n"
        "captious.score(captious.load({1: ['a dog'], 2: ['a cat']}, {1: 'a dog', 2: 'a cat'}), 'lexical')\n"
        "heavy = {'numba', 'scipy', 'torch', 'matplotlib', 'pandas'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
