"""Machine code that is kept: called from a process without Numba, it does what the plain form does."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from captious import native
from captious.kernels import Kernel, kernel

SCRIPT = """
import sys
from typing import NamedTuple

import numpy as np

from captious.kernels import kernel


class Pair(NamedTuple):
    left: np.ndarray
    right: np.ndarray


@kernel
def half(x):
    return x / 2


@kernel
def everything(matrix, pair, numbers, count, weight, small, flag):
    scratch = np.zeros(count, np.float64)
    for i in range(count):
        scratch[i] = half(matrix[i, 1]) * weight + pair.right[i] - pair.left[i] * small
    total = 0.0
    for i in range(count):
        total += np.exp(-scratch[count - 1 - i]) + np.log(1.0 + numbers[1][i])
    return total if flag else -total


@kernel
def marked(values, out):
    for i in range(len(values)):
        out[i] = values[i] > 1


@kernel
def is_long(values):
    return len(values) > 3


rows = np.arange(24.0).reshape(6, 4)
results = []
for form in ("plain", "compiled"):
    run = getattr(everything, form)
    for matrix in (rows, np.asfortranarray(rows), rows[::2], rows[:, ::-1]):
        for flag in (True, False):
            results.append(run(matrix, Pair(np.arange(6), np.ones(6, np.float32)), (np.arange(2), np.arange(6)), 3, 0.5, np.float32(0.25), flag))
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    out = np.zeros(4, bool)
    getattr(marked, form)(frozen, out)
    results += [out.tolist(), bool(getattr(is_long, form)(frozen)), bool(getattr(is_long, form)(frozen[:2]))]
half_way = len(results) // 2
assert results[:half_way] == results[half_way:], results
print("numba" in sys.modules, "scipy" in sys.modules)
"""


def _run(script: str, folder: Path) -> str:
    environment = {**os.environ, "CAPTIOUS_CACHE": str(folder), "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_second_process_needs_no_numba(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    script = f"exec(compile(open({str(path)!r}).read(), {str(path)!r}, 'exec'))"
    assert _run(script, tmp_path).split()[0] == "True"
    assert _run(script, tmp_path).split() == ["False", "False"]


WHOLE = """
import sys
import captious
from captious.kernels import called_often
references = {i: [f"a dog number {i} runs on the grass", "two dogs play in a park"] for i in range(20)}
with called_often():
    captious.score(captious.load(references, {i: f"a dog {i} runs in a park" for i in range(20)}), "BLEU,ROUGE-L,CIDEr-D,METEOR,SPICE,WMD,HWCM-2")
print("numba" in sys.modules)
"""


def test_no_kernel_of_the_metrics_needs_numba_twice() -> None:
    """All kernels of the usual metrics can be called without Numba, once they are compiled."""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", WHOLE], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n", done.stderr


@kernel
def divided(values, by):  # type: ignore[no-untyped-def]
    return values[0] / by


@kernel
def filled(values, size):  # type: ignore[no-untyped-def]
    scratch = np.zeros(size, np.int64)
    for i in range(len(values)):
        scratch[i % size] += values[i]
    return scratch[0]


def test_errors_are_those_of_python() -> None:
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        divided.compiled(np.ones(1), 0)
    with pytest.raises(ValueError, match="negative dimensions"):
        filled.compiled(np.ones(3, np.int64), -1)
    with pytest.raises(TypeError, match="not dict"):
        divided.compiled({}, 1)


def test_what_cannot_be_called_alone_is_left_to_numba(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorting inside a kernel needs more of Numba's run time than there is without it."""
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

    def middle(values: Any) -> Any:
        return np.sort(values)[1]

    assert Kernel(middle).compiled(np.array([3.0, 1.0, 2.0])) == 2.0
    assert not list(tmp_path.rglob("*.kernel"))


class Ends(NamedTuple):
    first: Any
    last: Any


def test_kinds_tell_apart_what_the_compiler_does() -> None:
    values = np.zeros((3, 4))
    frozen = values.copy()
    frozen.flags.writeable = False
    given = [values, values.T, values[:, ::2], frozen, values.astype(np.float32), values[0], 1, 1.0, True, np.int32(1), (values,), (1,), Ends(1, 2), (1, 2)]
    assert len({native._kind(argument) for argument in given}) == len(given)


def test_threads_share_one_form() -> None:
    kernel_of_this_test = Kernel(filled.plain)
    values = np.arange(1000)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(kernel_of_this_test.compiled(values, 7))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [filled.plain(values, 7)] * 8
    assert len(kernel_of_this_test.compiled._forms) == 1


def test_who_waits_for_the_compiler_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    for seen, said in ((False, 0), (True, 1)):
        native._tell.cache_clear()
        monkeypatch.setattr(native, "shown", lambda seen=seen: seen)
        for values in (np.ones(2), np.ones(2, np.float32), np.ones(2)):
            Kernel(divided.plain).compiled(values, 2)
        assert capsys.readouterr().err.count("compiling for this processor") == said
        for path in tmp_path.rglob("*.kernel"):
            path.unlink()
    native._tell.cache_clear()
    # What is kept is loaded without a word.
    Kernel(filled.plain).compiled(np.ones(3, np.int64), 2)
    native._tell.cache_clear()
    capsys.readouterr()
    Kernel(filled.plain).compiled(np.ones(3, np.int64), 2)
    assert capsys.readouterr().err == ""
