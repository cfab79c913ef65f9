"""Tests of captious. On import, they choose kernels of OpenBLAS and its number of threads, before NumPy loads."""

from __future__ import annotations

import os
from pathlib import Path


def use_steady_products() -> None:
    """Choose kernels of OpenBLAS that round a row in the same way at every place of a matrix.

    Those for Haswell and Zen do not (docs/results/platforms.md). Tests that compare bits need others.
    """
    try:
        processor = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return
    flags = set(processor.partition("flags")[2].partition("\n")[0].split())
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"} <= flags:
        os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"
    elif "avx" in flags:
        os.environ["OPENBLAS_CORETYPE"] = "Sandybridge"


use_steady_products()
# Networks and matrices of tests are small: a second thread of PyTorch or BLAS would spin at full load, waiting for
# the first. captious' own threads are unaffected.
os.environ.setdefault("OMP_NUM_THREADS", "1")
