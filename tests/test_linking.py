"""Machine code as one block: put together from object files, it does at any place what the compiler's library makes of them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious import compiling, linking, native
from captious.kernels import TINY, Kernel, kernel

pytestmark = pytest.mark.skipif(not linking.usable(), reason="blocks are for Linux on x86-64")

MODULE = """
@table = internal constant [3 x ptr] [ptr @numbers, ptr getelementptr inbounds ([4 x i64], ptr @numbers, i64 0, i64 2), ptr @other]
@numbers = internal constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
@other = constant [2 x i64] [i64 7, i64 9]
declare i64 @help(i64)
declare double @exp(double)
declare double @floor(double)

define i64 @captious_entry(i64 %row, i64 %column) {
  %at = getelementptr [3 x ptr], ptr @table, i64 0, i64 %row
  %place = load ptr, ptr %at
  %cell = getelementptr i64, ptr %place, i64 %column
  %value = load i64, ptr %cell
  %helped = call i64 @help(i64 %value)
  ret i64 %helped
}

define double @grown(double %x) {
  %y = call double @exp(double %x)
  %z = call double @floor(double %y)
  ret double %z
}
"""
HELPER = """
declare double @grown(double)

define i64 @help(i64 %x) {
  %y = sitofp i64 %x to double
  %z = fdiv double %y, 1.0e1
  %grown = call double @grown(double %z)
  %back = fptosi double %grown to i64
  %sum = add i64 %back, %x
  ret i64 %sum
}
"""


def _object(text: str) -> bytes:
    data: bytes = compiling._target_machine().emit_object(compiling._binding().parse_assembly(text))
    return data


def _expected(row: int, column: int) -> int:
    numbers = [10, 20, 30, 40]
    value = [numbers, numbers[2:], [7, 9]][row][column]
    return value + int(np.exp(value / 10))


def test_tables_calls_and_functions_of_c() -> None:
    block = linking.link([_object(MODULE), _object(HELPER)], "captious_entry")
    assert block.names == ("exp", "floor")
    # Loaded twice, at two places.
    starts = [linking.load(block, compiling.c_function) for _ in range(2)]
    assert starts[0] != starts[1]
    for start in starts:
        entry = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(start)
        assert [entry(row, column) for row in range(3) for column in range(2)] == [_expected(row, column) for row in range(3) for column in range(2)]


@pytest.mark.parametrize(
    ("objects", "what"),
    [
        ([b"short"], "no object file"),
        ([b"\x7fELF" + bytes(80)], "no object file of x86-64"),
        ([_object("@count = global i64 3\n" + MODULE)] if linking.usable() else [], "a section of type"),
        ([_object(HELPER)] if linking.usable() else [], "captious_entry is not defined"),
    ],
)
def test_what_is_not_known_is_refused(objects: list[bytes], what: str) -> None:
    with pytest.raises(linking.UnlinkableError, match=what):
        linking.link(objects, "captious_entry")


def test_other_references_are_refused() -> None:
    """Code for addresses near each other refers to them by their distance."""
    binding = compiling._binding()
    near = binding.Target.from_triple(binding.get_process_triple()).create_target_machine(codemodel="small", reloc="static")
    with pytest.raises(linking.UnlinkableError, match="a reference of kind"):
        linking.link([near.emit_object(binding.parse_assembly(MODULE))], "captious_entry")


@kernel
def summed(values, by):  # type: ignore[no-untyped-def]
    scratch = np.zeros(4, np.float64)
    for i in range(len(values)):
        scratch[i % 4] += np.exp(values[i]) / by
    return scratch[0] + scratch[1] + scratch[2] + scratch[3]


def test_object_files_do_where_there_can_be_no_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    values = np.linspace(0, 1, 50)
    found = []
    for refuse in (False, True):

        def link(objects: Any, entry: str, refuse: bool = refuse) -> linking.Block:
            if refuse:
                raise linking.UnlinkableError("not here")
            return linking.link(objects, entry)

        monkeypatch.setattr(compiling, "link", link)
        for path in tmp_path.rglob("*.kernel"):
            path.unlink()
        for _ in range(2):  # compiled, and loaded from the file
            found.append(Kernel(summed.plain).compiled(values, 2.0))
        (path,) = tmp_path.rglob("*.kernel")
        code = native.read_code(path)
        assert code is not None
        assert (code.block is None) == refuse
        assert bool(code.objects) == refuse
    assert len(set(found)) == 1
    assert found[0] == pytest.approx(summed.plain(values, 2.0), rel=1e-14)
    with pytest.raises(ZeroDivisionError):
        Kernel(summed.plain).compiled(values, 0.0)


def test_small_work_uses_machine_code_only_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(Kernel, "asked", 0.0)
    values = np.linspace(0, 1, 50)
    seen: list[str] = []

    def noted(values: Any, by: Any) -> Any:
        seen.append("plain")
        return summed.plain(values, by)

    def first() -> Kernel:
        made = Kernel(summed.plain)
        compiled = made.compiled  # knows its source before the plain form is replaced
        made.plain = noted
        assert compiled is made.compiled
        return made

    assert first().pick(TINY - 1) is noted
    first().pick(TINY)(values, 2.0)
    assert seen == ["plain"]
    assert not list(tmp_path.rglob("*.kernel"))
    Kernel(summed.plain).compiled(values, 2.0)
    first().pick(TINY)(values, 2.0)
    assert seen == ["plain"]
    # Enough small work pays for compiling.
    other = Kernel(summed.plain)
    for _ in range(40):
        form = other.pick(TINY)
    assert form is other.compiled
