"""Compiled kernels that start without Numba.

Numba compiles a kernel once for each combination of argument types. Its machine code is kept with a checksum, and later
processes load it with llvmlite alone: importing Numba and reading its own cache would take longer than scoring thousands of
captions. Numba's calling convention is reached through an entry point of our own, which takes NumPy arrays as they are.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pickle
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from captious.cache import cache_directory, warn_once
from captious.errors import WriteError
from captious.writing import atomic_write

#: What one argument is to the compiler: dtype, number of dimensions, memory layout, whether it can be written to. A tuple of
#: arguments is a tuple of such.
Kind = tuple[Any, ...]
_FORMAT = b"captious kernel 1\n"
_SUM = 16
#: Where a NumPy array keeps its data pointer, dimensions and strides (part of NumPy's binary interface).
_DATA, _DIMENSIONS, _STRIDES = 16, 32, 40
_C_ORDER, _F_ORDER, _WRITEABLE = 1, 2, 0x400

_SCALARS = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64)}
_LLVM = {"b": "i8", "i": "i{bits}", "u": "i{bits}", "f4": "float", "f8": "double"}
_RESULTS: dict[str, Any] = {
    "none": ctypes.c_void_p, "bool": ctypes.c_bool, "int32": ctypes.c_int32, "int64": ctypes.c_int64, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double,
}  # fmt: skip

_C: dict[str, Any] = {
    "b1": ctypes.c_bool, "i1": ctypes.c_int8, "i2": ctypes.c_int16, "i4": ctypes.c_int32, "i8": ctypes.c_int64, "u1": ctypes.c_uint8, "u2": ctypes.c_uint16,
    "u4": ctypes.c_uint32, "u8": ctypes.c_uint64, "f4": ctypes.c_float, "f8": ctypes.c_double,
}  # fmt: skip

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
    """Machine code that this module cannot call by itself; Numba can."""


class Code(NamedTuple):
    """What is kept of a kernel: object files, and the type of its result."""

    result: str
    objects: tuple[bytes, ...]


class Native:
    """The compiled form of a kernel: called with arrays and numbers, it runs the machine code for their types."""

    def __init__(self, name: str, digest: str, dispatcher: Callable[[bool], Any]) -> None:
        self.__name__ = name
        self._digest = digest
        #: Makes what Numba compiles, with or without a wrapper for calls from Python; asked only when there is no machine code.
        self._dispatcher = dispatcher
        self._forms: dict[tuple[Kind, ...], Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        return self.form(*arguments)(*arguments)

    def form(self, *arguments: Any) -> Callable[..., Any]:
        """The function for arguments of these types, for loops that call it often."""
        kinds = tuple([_kind(argument) for argument in arguments])
        found = self._forms.get(kinds)
        return found if found is not None else self._make(kinds, arguments)

    def _make(self, kinds: tuple[Kind, ...], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        with _lock:
            if kinds not in self._forms:
                self._forms[kinds] = self._loaded(kinds) or self._compiled(kinds, arguments)
            return self._forms[kinds]

    def _loaded(self, kinds: tuple[Kind, ...]) -> Callable[..., Any] | None:
        path = self._path(kinds)
        code = read_code(path) if path is not None and _usable() else None
        return None if code is None else _linked(code, kinds, self.__name__)

    def _compiled(self, kinds: tuple[Kind, ...], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        if not _usable():
            return self._dispatcher(True)  # type: ignore[no-any-return]
        try:
            code = _compile(self._dispatcher(False), kinds, arguments)
        except UnsupportedError:
            return self._dispatcher(True)  # type: ignore[no-any-return]
        path = self._path(kinds)
        try:
            if path is None:
                raise OSError("there is no home folder")
            write_code(path, code)
        except (OSError, WriteError) as error:
            warn_once(
                f"compiled code cannot be kept ({error}), so it is compiled again in each run, which takes seconds to a minute; "
                "set CAPTIOUS_CACHE to a folder that can be written",
                # The reason names the file, and there are dozens of them.
                topic="compiled code",
            )
        return _linked(code, kinds, self.__name__)

    def _path(self, kinds: tuple[Kind, ...]) -> Path | None:
        folder = kernel_folder()
        if folder is None:
            return None
        types = hashlib.blake2b(f"{kinds} {_machine()}".encode(), digest_size=8).hexdigest()
        return folder / f"{self.__name__.strip('_')}-{self._digest}-{types}.kernel"


def kernel_folder() -> Path | None:
    """Where machine code is kept: in captious' cache, or where Numba was told to keep its own."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given) / "captious"
    folder = cache_directory()
    return None if folder is None else folder / "kernels"


def read_code(path: Path) -> Code | None:
    """Machine code that was kept, if there is any and it is whole. Damaged machine code would end the process."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    sum_, rest = content[len(_FORMAT) : len(_FORMAT) + _SUM], content[len(_FORMAT) + _SUM :]
    if not content.startswith(_FORMAT) or _sum(rest) != sum_:
        return None
    head, _, rest = rest.partition(b"\n")
    about = json.loads(head)
    objects = []
    for size in about["sizes"]:
        objects.append(rest[:size])
        rest = rest[size:]
    return Code(about["result"], tuple(objects))


def write_code(path: Path, code: Code) -> None:
    head = json.dumps({"result": code.result, "sizes": [len(data) for data in code.objects]})
    rest = head.encode() + b"\n" + b"".join(code.objects)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as temporary:
        temporary.write_bytes(_FORMAT + _sum(rest) + rest)


def _sum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SUM).digest()


_lock = threading.RLock()
#: Engines own the machine code: they live as long as the process.
_engines: list[Any] = []


def _kind(argument: Any) -> Kind:
    if type(argument) is np.ndarray:
        flags = argument.flags.num
        return argument.dtype, argument.ndim, "C" if flags & _C_ORDER else "F" if flags & _F_ORDER else "A", bool(flags & _WRITEABLE)
    scalar = _SCALARS.get(type(argument))
    if scalar is not None:
        return scalar, 0, "", False
    if isinstance(argument, np.generic):
        return argument.dtype, 0, "", False
    if isinstance(argument, tuple):
        return tuple([_kind(part) for part in argument]), getattr(argument, "_fields", None)
    raise TypeError(f"a kernel takes arrays, numbers and tuples of them, not {type(argument).__name__}")


def _flat(kinds: tuple[Kind, ...]) -> list[Kind]:
    """Kinds of arrays and numbers alone: to machine code, a tuple is its parts."""
    return [part for kind in kinds for part in (_flat(kind[0]) if len(kind) == 2 else [kind])]


def _parts(arguments: tuple[Any, ...]) -> list[Any]:
    return [part for argument in arguments for part in (_parts(argument) if isinstance(argument, tuple) else [argument])]


@cache
def _usable() -> bool:
    """Whether machine code can be called from here: not on Windows, nor with a NumPy that lays out its arrays differently."""
    if os.name != "posix" or sys.maxsize < 2**32 or sys.implementation.name != "cpython":
        return False
    probe = np.zeros((2, 3), np.int16)
    at = [ctypes.c_void_p.from_address(id(probe) + offset).value for offset in (_DATA, _DIMENSIONS, _STRIDES)]
    if at[0] != probe.ctypes.data or at[1] is None or at[2] is None:
        return False
    shape, strides = ((ctypes.c_int64 * 2).from_address(place) for place in at[1:] if place is not None)
    return tuple(shape) == probe.shape and tuple(strides) == probe.strides


@cache
def _machine() -> str:
    """What machine code depends on besides the code itself."""
    binding = _binding()
    return f"{binding.get_process_triple()} {binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


@cache
def _binding() -> Any:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    # Machine code finds functions of C by their names, and does not look where Python's own modules do.
    library = ctypes.CDLL("libm.so.6" if sys.platform.startswith("linux") else None)
    for name in (*_MATH, *(f"{name}f" for name in _MATH)):
        binding.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    return binding


def _target_machine() -> Any:
    binding = _binding()
    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=2, reloc="default", codemodel="jitdefault", jit=True
    )


# Calling machine code ------------------------------------------------------------------------------------------------


def _linked(code: Code, kinds: tuple[Kind, ...], name: str) -> Callable[..., Any]:
    binding = _binding()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target_machine())
    for data in code.objects:
        engine.add_object_file(binding.ObjectFileRef.from_data(data))
    engine.finalize_object()
    _engines.append(engine)
    types = [ctypes.py_object if kind[2] else _C[kind[0].str[1:]] for kind in _flat(kinds)]
    # ctypes lets go of the interpreter's lock while the code runs.
    entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *types)(engine.get_function_address("captious_entry"))
    result_type = _RESULTS[code.result]
    byref, has_result = ctypes.byref, code.result != "none"

    nested = any(len(kind) == 2 for kind in kinds)

    def run(*arguments: Any) -> Any:
        if nested:
            arguments = tuple(_parts(arguments))
        result, error = result_type(), ctypes.c_void_p()
        status = entry(byref(result), byref(error), *arguments)
        if status:
            raise _raised(status, error, name)
        return result.value if has_result else None

    run.__name__ = name
    return run


class _Pickled(ctypes.Structure):
    """Where compiled code keeps an exception."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_int32)]


def _raised(status: int, error: ctypes.c_void_p, name: str) -> Exception:
    if status > 0 and error.value:
        with suppress(Exception):
            # These bytes are part of the machine code that has just run: whoever could change them could change that.
            kept = _Pickled.from_address(error.value)
            kind, arguments, _ = pickle.loads(ctypes.string_at(kept.data, kept.size))
            return kind(*arguments)  # type: ignore[no-any-return]
    return RuntimeError(f"kernel {name}: status {status}")


# Making machine code -------------------------------------------------------------------------------------------------


def _compile(dispatcher: Any, kinds: tuple[Kind, ...], arguments: tuple[Any, ...]) -> Code:
    import numba

    types = tuple(numba.typeof(argument) for argument in arguments)
    dispatcher.compile(types)
    made = dispatcher.overloads[types]
    result = str(made.signature.return_type)
    if result not in _RESULTS:
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
    return Code(result, (library._get_compiled_object(), machine.emit_object(binding.parse_assembly(entry)), machine.emit_object(binding.parse_assembly(_RUNTIME))))


def _is_known(called: str) -> bool:
    """Whether what compiled code calls is there in every process. What is not would end it."""
    if not called.startswith("llvm."):
        return called in _GIVEN or called in _MEMORY or called.removesuffix("f") in _MATH or called in _MATH
    operation = called.split(".")[1]
    return operation in _INSTRUCTIONS or operation in _MEMORY or operation in _MATH


def _entry(name: str, kinds: tuple[Kind, ...]) -> tuple[str, str]:
    """The entry point as text for LLVM, and the type that it expects of Numba's function."""
    taken, lines, passed = ["ptr %result", "ptr %error"], [], ["ptr %result", "ptr %error"]
    for i, (dtype, dimensions, layout, _) in enumerate(_flat(kinds)):
        if not layout:
            kind = _llvm_type(dtype)
            taken.append(f"{kind} %a{i}")
            passed.append(f"{kind} %a{i}")
            continue
        taken.append(f"ptr %a{i}")
        for field, offset in (("data", _DATA), ("shape", _DIMENSIONS), ("steps", _STRIDES)):
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
    return f'declare i32 @"{name}"({types})\n\ndefine i32 @captious_entry({", ".join(taken)}) {{\n  {body}\n}}\n', f"i32 ({types})"


def _llvm_type(dtype: Any) -> str:
    kind = _LLVM.get(f"{dtype.kind}{dtype.itemsize}") or _LLVM.get(dtype.kind)
    if kind is None or not dtype.isnative:
        raise UnsupportedError(f"a number of type {dtype}")
    return kind.format(bits=8 * dtype.itemsize)
