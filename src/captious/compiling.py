"""Making machine code: what Numba compiles of a kernel, with an entry point of our own that takes NumPy arrays as they are.

The compiler's library is imported only where no machine code was kept, and on systems where :mod:`captious.linking` does not
know how to load it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any, NamedTuple

from captious.linking import Block, UnlinkableError, link

#: What one argument is to the compiler: dtype, number of dimensions, memory layout, whether it can be written to. A tuple of
#: arguments is a tuple of such.
Kind = tuple[Any, ...]
#: Where a NumPy array keeps its data pointer, dimensions and strides (part of NumPy's binary interface).
DATA, DIMENSIONS, STRIDES = 16, 32, 40
#: The function that is called.
ENTRY = "captious_entry"

RESULTS: dict[str, Any] = {
    "none": ctypes.c_void_p, "bool": ctypes.c_bool, "int32": ctypes.c_int32, "int64": ctypes.c_int64, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double,
}  # fmt: skip

_LLVM = {"b": "i8", "i": "i{bits}", "u": "i{bits}", "f4": "float", "f8": "double"}
#: What Numba's run time gives to compiled code: arrays that a kernel makes for itself. Freed by the kernel that made them.
_RUNTIME = """
declare ptr @malloc(i64)
declare void @free(ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %more = add i64 %wide, 48
  %total = add i64 %size, %more
  %block = call ptr @malloc(i64 %total)
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %fill
fill:
  %start = ptrtoint ptr %block to i64
  %last = add i64 %start, %more
  %down = sub i64 0, %wide
  %place = and i64 %last, %down
  %data = inttoptr i64 %place to ptr
  store i64 1, ptr %block
  %destructor = getelementptr i8, ptr %block, i64 8
  call void @llvm.memset.p0.i64(ptr %destructor, i8 0, i64 40, i1 false)
  %where = getelementptr i8, ptr %block, i64 24
  store ptr %data, ptr %where
  %length = getelementptr i8, ptr %block, i64 32
  store i64 %size, ptr %length
  br label %end
end:
  ret ptr %block
}

define ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %block
}

define void @NRT_MemInfo_call_dtor(ptr %block) {
  call void @free(ptr %block)
  ret void
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
_GIVEN = {"NRT_MemInfo_alloc_aligned", "NRT_MemInfo_alloc_safe_aligned", "NRT_MemInfo_call_dtor"}
#: What machine code may call in C's libraries: for numbers of 64 bits, and with an "f" for 32.
_MATH = (
    "acos", "asin", "atan", "atan2", "cbrt", "ceil", "copysign", "cos", "cosh", "erf", "exp", "exp2", "expm1", "fabs", "floor", "fma", "fmax",
    "fmin", "fmod", "hypot", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "nearbyint", "pow", "rint", "round", "sin", "sinh", "sqrt", "tan",
    "tanh", "tgamma", "trunc",
)  # fmt: skip
_MEMORY = ("memcpy", "memmove", "memset", "malloc", "free")
#: Operations of LLVM that become instructions, on any machine.
_INSTRUCTIONS = {
    "abs", "assume", "bitreverse", "bswap", "ctlz", "ctpop", "cttz", "experimental", "expect", "fshl", "fshr", "lifetime", "masked", "sadd", "smax",
    "smin", "smul", "sshl", "ssub", "uadd", "umax", "umin", "umul", "usub", "vector", "x86", "aarch64", "fabs", "copysign", "minnum", "maxnum",
    "minimum", "maximum", "fmuladd", "is", "scmp", "ucmp", "trap", "prefetch",
}  # fmt: skip


class UnsupportedError(Exception):
    """Machine code that cannot be called without Numba."""


class Code(NamedTuple):
    """What is kept of a kernel: the type of its result, and its machine code as one block or, where there cannot be one, as
    object files."""

    result: str
    objects: tuple[bytes, ...] = ()
    block: Block | None = None


def flat(kinds: tuple[Kind, ...]) -> list[Kind]:
    """Kinds of arrays and numbers alone: to machine code, a tuple is its parts."""
    return [part for kind in kinds for part in (flat(kind[0]) if len(kind) == 2 else [kind])]


@cache
def c_function(name: str) -> int:
    """The address of a function of C that machine code calls."""
    found = ctypes.cast(getattr(_library(name not in _MEMORY), name), ctypes.c_void_p).value
    assert found is not None
    return found


@cache
def _library(mathematical: bool) -> Any:
    return ctypes.CDLL("libm.so.6" if mathematical and sys.platform.startswith("linux") else None)


@cache
def _binding() -> Any:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    # Machine code finds functions of C by their names, and does not look where Python's own modules do.
    for name in (*_MATH, *(f"{name}f" for name in _MATH)):
        binding.add_symbol(name, c_function(name))
    return binding


def _target_machine() -> Any:
    binding = _binding()
    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=2, reloc="default", codemodel="jitdefault", jit=True
    )


@cache
def target() -> str:
    """The processor, as the compiler's library sees it."""
    binding = _binding()
    return f"{binding.get_process_triple()} {binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


#: Engines own the machine code: they live as long as the process.
_engines: list[Any] = []


def loaded(objects: tuple[bytes, ...]) -> int:
    """Object files, loaded by the compiler's library: where the function starts."""
    binding = _binding()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target_machine())
    for data in objects:
        engine.add_object_file(binding.ObjectFileRef.from_data(data))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(ENTRY))


def compiled(dispatcher: Any, kinds: tuple[Kind, ...], arguments: tuple[Any, ...]) -> Code:
    import numba

    types = tuple(numba.typeof(argument) for argument in arguments)
    dispatcher.compile(types)
    made = dispatcher.overloads[types]
    result = str(made.signature.return_type)
    if result not in RESULTS:
        raise UnsupportedError(f"a result of type {result}")
    # Numba keeps what it compiled as one optimised module and as its object file.
    library, name = made.library, made.fndesc.llvm_func_name
    module = library._final_module
    binding = _binding()
    for function in module.functions:
        if function.is_declaration and not _is_known(function.name):
            raise UnsupportedError(f"code that calls {function.name}")
    entry, declared = _entry(name, kinds)
    if str(module.get_function(name).global_value_type).replace(" ", "") != declared.replace(" ", ""):
        raise UnsupportedError(f"a function of type {module.get_function(name).global_value_type}")
    machine = _target_machine()
    objects = (library._get_compiled_object(), *(machine.emit_object(binding.parse_assembly(text)) for text in (entry, _RUNTIME)))
    try:
        block = link(objects, ENTRY)
    except UnlinkableError:
        return Code(result, objects)
    return Code(result, block=block)


def _is_known(called: str) -> bool:
    """Whether what compiled code calls is there in every process. What is not would end it."""
    if not called.startswith("llvm."):
        return called in _GIVEN or called in _MEMORY or called.removesuffix("f") in _MATH or called in _MATH
    operation = called.split(".")[1]
    return operation in _INSTRUCTIONS or operation in _MEMORY or operation in _MATH


def _entry(name: str, kinds: tuple[Kind, ...]) -> tuple[str, str]:
    """The entry point as text for LLVM, and the type that it expects of Numba's function."""
    taken, lines, passed = ["ptr %result", "ptr %error"], [], ["ptr %result", "ptr %error"]
    for i, (dtype, dimensions, layout, _) in enumerate(flat(kinds)):
        if not layout:
            kind = _llvm_type(dtype)
            taken.append(f"{kind} %a{i}")
            passed.append(f"{kind} %a{i}")
            continue
        taken.append(f"ptr %a{i}")
        for field, offset in (("data", DATA), ("shape", DIMENSIONS), ("steps", STRIDES)):
            lines += [f"%{field}at{i} = getelementptr i8, ptr %a{i}, i64 {offset}", f"%{field}{i} = load ptr, ptr %{field}at{i}"]
        items = "1"
        for field in ("shape", "steps"):
            for d in range(dimensions):
                value = f"%{field}{i}.{d}"
                lines += [f"{value}at = getelementptr i64, ptr %{field}{i}, i64 {d}", f"{value} = load i64, ptr {value}at"]
                if field == "shape":
                    lines.append(f"%items{i}.{d} = mul i64 {items}, {value}")
                    items = f"%items{i}.{d}"
        passed += ["ptr null", "ptr null", f"i64 {items}", f"i64 {dtype.itemsize}", f"ptr %data{i}"]
        passed += [f"i64 %{field}{i}.{d}" for field in ("shape", "steps") for d in range(dimensions)]
    types = ", ".join(argument.split()[0] for argument in passed)
    body = "\n  ".join([*lines, f'%status = call i32 @"{name}"({", ".join(passed)})', "ret i32 %status"])
    return f'declare i32 @"{name}"({types})\n\ndefine i32 @{ENTRY}({", ".join(taken)}) {{\n  {body}\n}}\n', f"i32 ({types})"


def _llvm_type(dtype: Any) -> str:
    kind = _LLVM.get(f"{dtype.kind}{dtype.itemsize}") or _LLVM.get(dtype.kind)
    if kind is None or not dtype.isnative:
        raise UnsupportedError(f"a number of type {dtype}")
    return kind.format(bits=8 * dtype.itemsize)
