"""Compile one kernel to an object file.

Numba translates the Python function to LLVM's language. An entry point is added that takes plain pointers and
numbers, and LLVM emits the code for the target. All use of Numba's private parts is in this module. Its
version is pinned in `hatch_build.py`.
"""

from __future__ import annotations

import importlib
import pkgutil
import platform
import re
import types
from collections.abc import Iterator
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np

from captious.kernels import Inner, Kernel
from captious.kernels.library import WIDE_SUFFIX
from captious.kernels.types import Array, Group, Scalar, Spec, signature_of
from native.lanes import vector_forms
from native.targets import Target

_types: Any = numba.types
_OLDEST = "x86-64-v2" if platform.machine() in ("x86_64", "AMD64") else "generic"
#: LLVM's names of number types. Numba passes truth values as bytes.
_LLVM_TYPES = {
    "bool": "i8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64", "float32": "float", "float64": "double",
}  # fmt: skip

#: The part of Numba's run time that kernels use: memory of arrays that they allocate and free themselves.
RUNTIME = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define hidden ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %header = add i64 %wide, 48
  %total = add i64 %size, %header
  %block = call ptr @malloc(i64 %total)
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %end, label %fill
fill:
  %start = ptrtoint ptr %block to i64
  %last = add i64 %start, %header
  %mask = sub i64 0, %wide
  %place = and i64 %last, %mask
  %data = inttoptr i64 %place to ptr
  store i64 1, ptr %block
  %destructor = getelementptr i8, ptr %block, i64 8
  call void @llvm.memset.p0.i64(ptr %destructor, i8 0, i64 40, i1 false)
  %data_field = getelementptr i8, ptr %block, i64 24
  store ptr %data, ptr %data_field
  %size_field = getelementptr i8, ptr %block, i64 32
  store i64 %size, ptr %size_field
  br label %end
end:
  ret ptr %block
}

define hidden ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %block
}

define hidden void @NRT_MemInfo_call_dtor(ptr %block) {
  call void @free(ptr %block)
  ret void
}
"""
#: Functions that a kernel may call: those of `RUNTIME`, C's memory functions, and instructions. Not C's
#: mathematics, whose results differ between systems.
_ALLOWED = re.compile(
    r"NRT_MemInfo_(alloc_aligned|alloc_safe_aligned|call_dtor)|memcpy|memmove|memset|malloc|free|(sqrt|floor|ceil|rint|trunc)f?|"
    r"llvm\.(?!(exp|exp2|exp10|log|log2|log10|pow|powi|fma|a?sinh?|a?cosh?|a?tanh?|atan2|sincos)\.).*"
)


class BuildError(Exception):
    """A kernel that cannot be built."""


def all_kernels() -> list[Kernel[..., Any]]:
    """Import captious' modules that define kernels, and return the kernels in the order of their symbols."""
    package = importlib.import_module("captious")
    kernels = []
    for module in pkgutil.walk_packages(package.__path__, "captious."):
        spec = module.module_finder.find_spec(module.name)  # type: ignore[call-arg]
        source = spec.loader.get_source(module.name) if spec and spec.loader else None  # type: ignore[attr-defined]
        if source and re.search(r"^@kernel\b", source, re.MULTILINE):
            members = vars(importlib.import_module(module.name)).values()
            kernels += [
                member
                for member in members
                if isinstance(member, Kernel) and member.__module__ == module.name
            ]
    return sorted(kernels, key=lambda kernel: kernel.symbol)


def choose_processor(target: Target, cpu: str) -> None:
    """Let Numba optimise for this processor. Must precede the first kernel that a process compiles."""
    # For another architecture, Numba optimises for the oldest processor of this one.
    numba.core.config.CPU_NAME = (
        cpu if cpu.startswith("x86") == (platform.machine() in ("x86_64", "AMD64")) else _OLDEST
    )
    numba.core.config.CPU_FEATURES = ""
    _stop_before_machine_code()


def _stop_before_machine_code() -> None:
    """Let Numba optimise kernels, but emit no code for this machine.

    Emission would replace atomic operations by those of this machine, which other machines lack.
    """
    library, codegen = numba.core.codegen.JITCodeLibrary, numba.core.codegen.JITCPUCodegen
    codegen._add_module = lambda codegen, module: None
    codegen.set_env = lambda codegen, name, environment: None
    library._finalize_specific = lambda library: None


def emit_runtime(target: Target) -> bytes:
    """Emit the object file of `RUNTIME`."""
    return _emit(llvm.parse_assembly(RUNTIME), target, target.cpu, keep=re.compile("NRT_"))


def emit_kernel(kernel: Kernel[..., Any], target: Target, cpu: str) -> bytes:
    """Compile a kernel for its declared types and emit its object file for a processor."""
    symbol = symbol_for(kernel, target, cpu)
    parameters, result = kernel.signature
    signature = tuple(_numba_type(spec) for spec in parameters.values())
    try:
        dispatcher = _dispatcher(kernel)
        dispatcher.compile(signature)
    except numba.core.errors.NumbaError as error:
        raise BuildError(f"{kernel.__module__}.{kernel.__name__}: {error}") from None
    overload = dispatcher.overloads[signature]
    inferred, declared = str(overload.signature.return_type), "none" if result is None else result.dtype
    if inferred != declared:
        raise BuildError(
            f"{kernel.__module__}.{kernel.__name__} declares the result {declared}, but returns {inferred}"
        )
    name = overload.fndesc.llvm_func_name
    entry, expected = _entry(symbol, name, list(_flat(parameters.values())), result)
    module = llvm.parse_assembly(dispatcher.inspect_llvm(signature))
    actual = str(module.get_function(name).global_value_type)
    if actual.replace(" ", "") != expected.replace(" ", ""):
        raise BuildError(f"{kernel.symbol}: Numba passes arguments as {actual}, not as {expected}")
    stub = llvm.parse_assembly(entry)
    module.link_in(stub)
    unknown = [f.name for f in module.functions if f.is_declaration and not _ALLOWED.fullmatch(f.name)]
    if unknown:
        raise BuildError(
            f"{kernel.__module__}.{kernel.__name__} needs {', '.join(unknown)}, which no library provides"
        )
    foreign = (
        []
        if target.triple.startswith("x86_64")
        else [f.name for f in module.functions if f.name.startswith("llvm.x86.")]
    )
    if foreign:
        # LLVM would end the process.
        raise BuildError(
            f"{kernel.__module__}.{kernel.__name__} uses {', '.join(foreign)}, which {target.name} lacks"
        )
    return _emit(module, target, cpu, keep=re.compile(re.escape(symbol) + "$"))


def symbol_for(kernel: Kernel[..., Any], target: Target, cpu: str) -> str:
    """Return the symbol of a kernel's form for a processor."""
    return kernel.symbol if cpu == target.cpu else kernel.symbol + WIDE_SUFFIX


@cache
def _dispatcher(kernel: Inner[..., Any]) -> Any:
    """Return Numba's dispatcher of a kernel. Each kernel that it calls is replaced by its own dispatcher."""
    options = dict(kernel.options)
    lanes, _ = options.pop("lanes", None), options.pop("wide", None)
    if lanes is not None:
        return vector_forms(lanes)[kernel.__name__]
    plain: Any = kernel.plain
    scope = dict(plain.__globals__)
    for name in plain.__code__.co_names:
        if isinstance(scope.get(name), Inner):
            scope[name] = _dispatcher(scope[name])
    # Paths would make the library depend on where it was built.
    code = plain.__code__.replace(co_filename=plain.__module__.replace(".", "/") + ".py")
    copy = types.FunctionType(code, scope, plain.__name__, plain.__defaults__, plain.__closure__)
    copy.__module__ = plain.__module__
    dispatcher = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy", **options)(
        copy
    )
    if not isinstance(kernel, Kernel) and "inline" not in options:
        _compile_once(kernel, dispatcher)
    return dispatcher


def _compile_once(kernel: Inner[..., Any], dispatcher: Any) -> None:
    """Compile an inner function for its declared types only, not for all that it is called with."""
    try:
        parameters, _ = signature_of(kernel.plain)
    except TypeError:  # a parameter may have several types
        return
    dispatcher.compile(tuple(map(_numba_type, parameters.values())))
    dispatcher.disable_compile()


def _numba_type(spec: Spec) -> Any:
    if isinstance(spec, Group):
        parts = [_numba_type(part) for part in spec.parts]
        return _types.NamedTuple(parts, spec.named) if spec.named else _types.Tuple(parts)
    kind = numba.from_dtype(np.dtype(spec.dtype))
    return kind if isinstance(spec, Scalar) else _types.Array(kind, spec.ndim, "C", readonly=not spec.written)


def _flat(specs: Any) -> Iterator[Array | Scalar]:
    for spec in specs:
        if isinstance(spec, Group):
            yield from _flat(spec.parts)
        else:
            yield spec


def _entry(symbol: str, name: str, specs: list[Array | Scalar], result: Scalar | None) -> tuple[str, str]:
    """Return the entry point in LLVM's language, and the type of the function of Numba's that it calls.

    An array arrives as a pointer and its shape. Numba also wants its owner, the number and size of its items,
    and strides.
    """
    taken: list[str] = []
    lines = ["%unused = alloca i64", "%error = alloca ptr"]
    passed = ["ptr %result" if result else "ptr %unused", "ptr %error"]
    for i, spec in enumerate(specs):
        if isinstance(spec, Scalar):
            argument = f"{_LLVM_TYPES[spec.dtype]} %a{i}"
            taken.append(argument)
            passed.append(argument)
            continue
        size = np.dtype(spec.dtype).itemsize
        shape = [f"%a{i}n{d}" for d in range(spec.ndim)]
        taken += [f"ptr %a{i}", *(f"i64 {n}" for n in shape)]
        strides = [str(size)]
        for d in range(spec.ndim - 1, -1, -1):
            lines.append(f"%a{i}s{d} = mul i64 {strides[0]}, {shape[d]}")
            strides.insert(0, f"%a{i}s{d}")
        lines.append(f"%a{i}items = udiv i64 {strides[0]}, {size}")
        passed += ["ptr null", "ptr null", f"i64 %a{i}items", f"i64 {size}", f"ptr %a{i}"]
        passed += [f"i64 {n}" for n in (*shape, *strides[1:])]
    if result:
        taken.append("ptr %result")
    kinds = ", ".join(argument.split()[0] for argument in passed)
    body = "\n  ".join([*lines, f'%status = call i32 @"{name}"({", ".join(passed)})', "ret i32 %status"])
    return (
        f'declare i32 @"{name}"({kinds})\n\ndefine i32 @{symbol}({", ".join(taken)}) {{\n  {body}\n}}\n',
        f"i32 ({kinds})",
    )


def _emit(module: Any, target: Target, cpu: str, keep: re.Pattern[str]) -> bytes:
    """Emit code for the target. Only symbols that match `keep` are visible to the linker."""
    machine = _machine(target, cpu)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and not keep.match(value.name):
            value.linkage = "internal"
    module.verify()
    code: bytes = machine.emit_object(module)
    return code


@cache
def _machine(target: Target, cpu: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    found = llvm.Target.from_triple(target.triple)
    return found.create_target_machine(cpu=cpu, features="", opt=3, reloc="pic", codemodel="default")
