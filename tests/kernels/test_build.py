"""The build: refused code, and the content of object files and the library."""

from __future__ import annotations

import ctypes
import json
import math
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
import pytest

from captious.kernels import inner, kernel, library
from captious.kernels.types import Array, Float64, Int32, Int64, Int64x2, Out, Scalar
from native import build, compile, link
from native.compile import BuildError, all_kernels, emit_kernel
from native.targets import TARGETS, Target, host

LINUX = TARGETS["linux-x86_64"]


@pytest.fixture(scope="module", autouse=True)
def oldest_processor() -> None:
    """Compile as the build does."""
    compile.choose_processor(LINUX, LINUX.cpu)


def test_symbols_are_unique_names_of_c() -> None:
    symbols = [each.symbol for each in all_kernels()]
    assert len(set(symbols)) == len(symbols) > 60
    assert all(re.fullmatch(r"captious_\w+", symbol) for symbol in symbols)


def test_every_kernel_declares_its_types() -> None:
    for each in all_kernels():
        parameters, _ = each.signature
        assert parameters, each.symbol


def entry_types(symbol: str, specs: list[Array | Scalar], result: Scalar | None) -> tuple[str, str]:
    """Return the types of the entry point and of the function that it calls, after LLVM's own check."""
    text, called = compile._entry(symbol, "called", specs, result)
    module = llvm.parse_assembly(text)
    module.verify()
    assert str(module.get_function("called").global_value_type) == called
    return str(module.get_function(symbol).global_value_type), called


def test_an_entry_point_takes_pointers_shapes_and_numbers() -> None:
    specs = [
        Array("float32", 2),
        Scalar("bool"),
        Array("int64", written=True),
        Scalar("float32"),
        Scalar("uint16"),
    ]
    entry, called = entry_types("x", specs, Scalar("int64"))
    assert entry == "i32 (ptr, i64, i64, i8, ptr, i64, float, i16, ptr)"
    # Result and error, then for each array its owner twice, items, item size, data, shape and strides.
    matrix, row = "ptr, ptr, i64, i64, ptr, i64, i64, i64, i64", "ptr, ptr, i64, i64, ptr, i64, i64"
    assert called == f"i32 (ptr, ptr, {matrix}, i8, {row}, float, i16)"


def test_an_entry_point_without_a_result() -> None:
    entry, called = entry_types("x", [Array("int8", 3)], None)
    assert entry == "i32 (ptr, i64, i64, i64)"
    assert called.startswith("i32 (ptr, ptr, ptr, ptr, i64, i64, ptr, i64, i64, i64, i64, i64, i64")


def test_all_number_types_are_known_to_the_build_and_the_loader() -> None:
    assert set(compile._LLVM_TYPES) == set(library._C_TYPES)
    for name, kind in compile._LLVM_TYPES.items():
        assert {"float": 4, "double": 8}.get(kind) or int(kind[1:]) // 8 == np.dtype(name).itemsize


# Refusals -----------------------------------------------------------------------------------------


@kernel
def writes(values: Int64, out: Out[Int64]) -> None:
    out[0] = values[0]
    values[0] = 1


@inner
def fill(values: Any) -> None:
    values[0] = 1


@kernel
def lets_write(values: Int64) -> None:
    fill(values)


class Pair(NamedTuple):
    left: Int64
    right: Int64


@kernel
def writes_to_a_part(pair: Pair) -> None:
    pair.right[0] = 1


@kernel
def returns_a_float(values: Int64) -> int:
    return values[0] / 2


@kernel
def returns_something(values: Int64) -> None:
    return values[0]


@kernel
def returns_32_bits(values: Int32) -> int:
    return values[0]


@kernel
def needs_c(values: Float64) -> float:
    return math.gamma(values[0])


@kernel
def uses_objects(values: Int64) -> int:
    return len({"a": values[0]}) + undefined  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (writes, r"test_build\.writes: (.|\n)*(readonly|[Cc]annot modify)"),
        (lets_write, r"test_build\.lets_write: (.|\n)*(readonly|[Cc]annot modify)"),
        (writes_to_a_part, r"test_build\.writes_to_a_part: (.|\n)*(readonly|[Cc]annot modify)"),
        (returns_a_float, r"test_build\.returns_a_float declares the result int64, but returns float64$"),
        (returns_something, r"test_build\.returns_something declares the result none, but returns int64$"),
        (returns_32_bits, r"test_build\.returns_32_bits declares the result int64, but returns int32$"),
        (needs_c, r"test_build\.needs_c needs \w*gamma\w*, which no library provides$"),
        (uses_objects, r"test_build\.uses_objects: "),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_kernels_that_cannot_be_built_are_refused_by_name(refused: Any, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        emit_kernel(refused, LINUX, LINUX.cpu)


# Object files and the library ---------------------------------------------------------------------


@kernel
def outer_product(left: Float64, right: Float64, out: Out[Int64x2]) -> float:
    """Allocates memory, calls an inner function, and writes to an array of two dimensions."""
    scratch = np.zeros(left.shape[0])
    for i in range(left.shape[0]):
        scratch[i] = left[i] * 2
        for j in range(right.shape[0]):
            out[i, j] = int(scratch[i] * right[j])
    fill(out[0])
    return scratch[0]


@kernel
def unsigned(values: Int32, multiplier: np.uint64, flag: bool) -> bool:
    return flag and np.uint64(values[0]) * multiplier > np.uint64(5)


def symbols(path: Path, *options: str) -> dict[str, str]:
    """Return the symbols of a file with their kinds, as `nm` prints them."""
    tool = shutil.which("nm")
    if tool is None:
        pytest.skip("there is no nm")
    done = subprocess.run([tool, *options, str(path)], capture_output=True, text=True, check=True)
    return {line.split()[-1]: line.split()[-2] for line in done.stdout.splitlines()}


@pytest.fixture(scope="module")
def target() -> Target:
    """This machine's platform."""
    found = host()
    if found is None or link.c_compiler(found) is None:
        pytest.skip("there is no linker for this platform")
    return found


def test_a_library_of_two_kernels(target: Target, tmp_path: Path) -> None:
    """Compiled, linked and loaded like the whole library."""
    objects = []
    for each in (outer_product, unsigned):
        path = tmp_path / f"{each.__name__}.o"
        path.write_bytes(emit_kernel(each, target, target.cpu))
        objects.append(path)
        defined = {name for name, kind in symbols(path).items() if kind in "TDBRVW"}
        assert defined == {each.symbol}, "nothing else is visible to the linker"
    runtime = tmp_path / "runtime.o"
    runtime.write_bytes(compile.emit_runtime(target))
    link.link([*objects, runtime], tmp_path / target.library, target)
    loaded = ctypes.CDLL(str(tmp_path / target.library))
    product, above = (library._bind(each, getattr(loaded, each.symbol)) for each in (outer_product, unsigned))
    for form in (product, outer_product.plain):
        out = np.zeros((2, 3), np.int64)
        assert form(np.array([1.5, 2.0]), np.array([1.0, 2.0, 3.0]), out) == 3.0
        assert out.tolist() == [[1, 6, 9], [4, 8, 12]]
    for value, flag, expected in ((3, True, True), (2, True, False), (3, False, False)):
        assert above(np.array([value], np.int32), np.uint64(2), flag) is expected


def test_the_library_needs_the_c_library_only() -> None:
    path = library.FOLDER / library.library_name()
    needed = {name.split("@")[0] for name, kind in symbols(path, "-D").items() if kind == "U"}
    assert needed <= {"malloc", "free", "memset", "memcpy", "memmove"}
    exported = {name for name, kind in symbols(path, "-D").items() if kind == "T"}
    assert {each.symbol for each in all_kernels()} <= exported
    assert not {name for name in exported if not name.startswith("captious_")}


def test_two_builds_give_the_same_library(target: Target, tmp_path: Path) -> None:
    """Names of inner functions in object files are counted by process, and are not in the library."""
    libraries = []
    for number in range(2):
        compile._dispatcher.cache_clear()
        path = tmp_path / f"{number}.o"
        path.write_bytes(emit_kernel(outer_product, target, target.cpu))
        (tmp_path / "runtime.o").write_bytes(compile.emit_runtime(target))
        link.link([path, tmp_path / "runtime.o"], tmp_path / f"{number}.so", target)
        libraries.append((tmp_path / f"{number}.so").read_bytes())
    assert libraries[0] == libraries[1]
    assert str(Path(__file__).parent).encode() not in libraries[0]


@pytest.mark.parametrize(
    ("name", "magic"),
    [
        ("linux-x86_64", b"\x7fELF"),
        ("linux-aarch64", b"\x7fELF"),
        ("darwin-x86_64", b"\xcf\xfa\xed\xfe"),
        ("darwin-arm64", b"\xcf\xfa\xed\xfe"),
        ("win32-x86_64", b"\x64\x86"),
    ],
)
def test_kernels_can_be_emitted_for_other_systems(name: str, magic: bytes) -> None:
    assert emit_kernel(outer_product, TARGETS[name], TARGETS[name].cpu).startswith(magic)


def test_the_manifest_lists_all_kernels() -> None:
    content = json.loads((library.FOLDER / library.MANIFEST).read_text())
    assert content["format"] == library.FORMAT
    assert content["size"] == (library.FOLDER / library.library_name()).stat().st_size
    assert set(content["kernels"]) == {each.symbol for each in all_kernels()}


def test_object_files_that_were_not_used_for_long_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "CACHE", tmp_path)
    paths = [tmp_path / f"{name}.o" for name in ("used", "old", "recent")]
    for path in paths:
        path.touch()
    for path in paths[:2]:
        os.utime(path, (time.time() - 30 * 86400,) * 2)
    build._remove_old({paths[0]})
    assert [path.exists() for path in paths] == [True, False, True]
