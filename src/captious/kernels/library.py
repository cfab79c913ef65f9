"""The decorators `@kernel` and `@inner`, and the built library that runs what they mark.

Arguments are passed as pointers and shapes, after a check against the declared types. The interpreter's
lock is released during a call.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from captious.core.memo import Lock, cached_property
from captious.kernels.types import Array, Group, Scalar, Spec, signature_of

#: Folder of the library and its manifest. The build fills it.
FOLDER = Path(__file__).with_name("lib")
MANIFEST = "kernels.json"
FORMAT = 1
#: Ending of the symbols of forms for newer processors.
WIDE_SUFFIX = "_wide"
#: Processor features, as Linux names them, that x86-64-v3 adds.
_V3_FLAGS = frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})

_C_TYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}
_DTYPES = {name: np.dtype(name) for name in _C_TYPES}


def _number(dtype: np.dtype[Any]) -> tuple[type, tuple[type, ...], int, int]:
    """Return Python's type of a number, the types of accepted arguments, and the bounds of integers."""
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        return int, (int, np.integer), int(bounds.min), int(bounds.max)
    if dtype.kind == "f":
        return float, (float, int, np.floating, np.integer), 0, 0
    return bool, (bool, np.bool_), 0, 0


_NUMBERS = {name: _number(dtype) for name, dtype in _DTYPES.items()}
#: Status codes of a kernel that ended normally, with and without a result.
_DONE = (0, -2)


_lock = Lock()


class KernelWarning(UserWarning):
    """Kernels run as plain Python, which is slow."""


class Library(NamedTuple):
    """The loaded library and the content of its manifest."""

    functions: ctypes.CDLL
    #: Digest of each kernel by its symbol.
    kernels: dict[str, str]
    #: Kernels to be called in their form for newer processors.
    wide: frozenset[str]
    #: Whether it was built for development. Its kernels are compared with the sources.
    development: bool


def library_name() -> str:
    """Return the file name of the library on this platform."""
    return {"darwin": "captious_kernels.dylib", "win32": "captious_kernels.dll"}.get(
        sys.platform, "captious_kernels.so"
    )


def load() -> Library | None:
    """Load the library once per process. Without one, warn and return None."""
    # The lock keeps two threads from loading it, and from warning, at the same time.
    with _lock:
        return _load()


@cache
def _load() -> Library | None:
    try:
        manifest: dict[str, Any] = json.loads((FOLDER / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise OSError(f"it has format {manifest['format']}, not {FORMAT}")
        development, kernels, size, wide = (
            manifest[name] for name in ("development", "kernels", "size", "wide")
        )
        if development not in (None, _python()):
            raise OSError(f"it was built for development with Python {development}")
        path = FOLDER / library_name()
        # Loading part of a file would end the process.
        if path.stat().st_size != size:
            raise OSError(f"it has {path.stat().st_size:,} bytes, not {size:,}")
        functions = ctypes.CDLL(str(path))
    except FileNotFoundError:
        _warn("there is no library of compiled kernels")
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"its manifest lacks {error}" if isinstance(error, KeyError) else error
        _warn(f"the library of compiled kernels cannot be used ({reason})")
    else:
        return Library(
            functions,
            kernels,
            frozenset(wide if wide and has_wide_vectors() else ()),
            development is not None,
        )
    return None


def has_wide_vectors() -> bool:
    """Whether the processor has the instructions of x86-64-v3.

    Known on Linux only; elsewhere the oldest form runs.
    """
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            flags = next((line.partition(":")[2] for line in lines if line.startswith("flags")), "")
    except OSError:
        return False
    return set(flags.split()) >= _V3_FLAGS


def find(kernel: Kernel[..., Any]) -> Callable[..., Any] | None:
    """Return the compiled form of a kernel, or None (with a warning) if the library has none that
    matches its source."""
    library = load()
    if library is None:
        return None
    digest = library.kernels.get(kernel.symbol)
    symbol = kernel.symbol + WIDE_SUFFIX if kernel.symbol in library.wide else kernel.symbol
    function = getattr(library.functions, symbol, None)
    name = f"{kernel.__module__}.{kernel.__name__}"
    if digest is None or function is None:
        _warn(f"the library has no kernel {name}")
        return None
    if library.development and digest != kernel.digest:
        _warn(f"{name} has changed since the library was built")
        return None
    return _bind(kernel, function)


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _warn(reason: str) -> None:
    warnings.warn(
        KernelWarning(
            f"{reason}; plain Python runs instead, which is slow. In a clone, 'make kernels' builds the "
            "library."
        ),
        stacklevel=4,
    )


def _bind(kernel: Kernel[..., Any], function: Any) -> Callable[..., Any]:
    """Return a function that checks and passes arguments."""
    parameters, result = kernel.signature
    function.restype = ctypes.c_int32
    function.argtypes = [kind for spec in parameters.values() for kind in _c_types(spec)] + [
        ctypes.c_void_p
    ] * (result is not None)
    result_type = None if result is None else _C_TYPES[result.dtype]
    specs = [(f"{kernel.__name__}: {name}", spec) for name, spec in parameters.items()]

    def call(*arguments: Any) -> Any:
        if len(arguments) != len(specs):
            raise TypeError(f"{kernel.__name__} takes {len(specs)} arguments, not {len(arguments)}")
        values: list[Any] = []
        for (name, spec), argument in zip(specs, arguments):
            _pack(name, spec, argument, values)
        if result_type is None:
            status = function(*values)
        else:
            out = result_type()
            status = function(*values, ctypes.byref(out))
        if status not in _DONE:
            raise MemoryError(
                f"kernel {kernel.__name__} failed with status {status}: out of memory, or arrays of unequal "
                "shapes"
            )
        return None if result_type is None else out.value

    return call


def _c_types(spec: Spec) -> list[Any]:
    if isinstance(spec, Group):
        return [kind for part in spec.parts for kind in _c_types(part)]
    if isinstance(spec, Array):
        return [ctypes.c_void_p] + [ctypes.c_int64] * spec.ndim
    return [_C_TYPES[spec.dtype]]


def _pack(name: str, spec: Spec, argument: Any, values: list[Any]) -> None:
    """Check an argument and append what the library receives for it."""
    if isinstance(spec, Array):
        # Arrays mapped from files are a subclass.
        if not isinstance(argument, np.ndarray):
            raise TypeError(f"{name} is {spec}, not {_described(argument)}")
        flags = argument.flags
        is_fit = argument.dtype == _DTYPES[spec.dtype] and argument.ndim == spec.ndim
        if not is_fit or not flags.c_contiguous or not flags.aligned:
            raise TypeError(f"{name} is {spec}, C-contiguous and aligned, not {_described(argument)}")
        if spec.written and not flags.writeable:
            raise TypeError(f"{name} is written to, but the array is read-only")
        values.append(argument.ctypes.data)
        values.extend(argument.shape)
    elif isinstance(spec, Group):
        if not isinstance(argument, tuple) or len(argument) != len(spec.parts):
            raise TypeError(f"{name} is a tuple of {len(spec.parts)} parts, not {_described(argument)}")
        for number, (part, value) in enumerate(zip(spec.parts, argument)):
            _pack(f"{name}[{number}]", part, value, values)
    else:
        convert, accepted, low, high = _NUMBERS[spec.dtype]
        if not isinstance(argument, accepted):
            raise TypeError(f"{name} is {spec}, not {_described(argument)}")
        value = convert(argument)
        # ctypes would drop the upper bits without a word.
        if convert is int and not low <= value <= high:
            raise OverflowError(f"{name} is {spec}, which cannot hold {argument}")
        values.append(value)


def _described(argument: Any) -> str:
    if isinstance(argument, np.ndarray):
        order = "" if argument.flags.c_contiguous else ", not contiguous"
        return f"an array {Array(argument.dtype.name, argument.ndim)}{order}"
    return type(argument).__name__


# Decorators ---------------------------------------------------------------------------------------


P = ParamSpec("P")
R = TypeVar("R")

_plain_depth = 0


@contextmanager
def plain_forms() -> Iterator[None]:
    """Run every kernel in its plain Python form inside the block, in all threads.

    Meant for tests and debugging.
    """
    global _plain_depth
    _plain_depth += 1
    try:
        yield
    finally:
        _plain_depth -= 1


class Inner(Generic[P, R]):
    """A function that only kernels call. It is compiled as a part of each, for the types that they pass."""

    def __init__(self, function: Callable[P, R], options: dict[str, Any]) -> None:
        self.plain = function
        #: Options for the compiler.
        self.options = options
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__wrapped__ = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.plain(*args, **kwargs)

    @property
    def symbol(self) -> str:
        """Name of the kernel in the library."""
        return f"{self.__module__}.{self.__name__}".replace(".", "_")

    @cached_property
    def code_digest(self) -> str:
        """Digest of the code with all kernels and constants that it uses."""
        state = hashlib.blake2b(repr(sorted(self.options.items())).encode(), digest_size=8)
        for part in _content(self.plain):
            state.update(part.encode() + b"\0")
        return state.hexdigest()


class Kernel(Inner[P, R]):
    """A function with a plain form and a form in the library. Calling it runs the latter if there is one."""

    @cached_property
    def signature(self) -> tuple[dict[str, Spec], Scalar | None]:
        """Declared parameters and result."""
        return signature_of(self.plain)

    @cached_property
    def built(self) -> Callable[P, R] | None:
        """The compiled form, or None if the library has none."""
        return find(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if _plain_depth or self.built is None:
            return self.plain(*args, **kwargs)
        return self.built(*args, **kwargs)

    @cached_property
    def digest(self) -> str:
        """Digest of the code and of the declared types."""
        parameters, result = self.signature
        declared = f"{[repr(spec) for spec in parameters.values()]} {result}"
        return hashlib.blake2b(f"{self.code_digest} {declared}".encode(), digest_size=8).hexdigest()


def _content(function: Any) -> Iterator[str]:
    """Yield all that the compiled form of a function depends on."""
    yield from _code(function.__code__, function.__doc__)
    for name in sorted({*function.__code__.co_names, *function.__code__.co_freevars}):
        value = function.__globals__.get(name)
        if isinstance(value, Inner):
            yield f"{name}={value.code_digest}"
        elif isinstance(value, np.ndarray):
            yield f"{name}={value.dtype}{value.shape}{value.tobytes().hex()}"
        elif isinstance(value, bool | int | float | str | tuple | np.generic):
            yield f"{name}={value!r}"


def _code(code: types.CodeType, doc: str | None = None) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_argcount))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        elif constant != doc:
            yield repr(constant)


@overload
def kernel(function: Callable[P, R], /) -> Kernel[P, R]: ...
@overload
def kernel(**options: Any) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...
def kernel(function: Any = None, /, **options: Any) -> Any:
    """Mark a function as a kernel. All parameters and the result have types of `captious.kernels.types`.

    `options` are for the compiler, for example `fastmath`. `wide=True` compiles the kernel a second
    time for newer processors; its results must not depend on the processor, so it must not be combined
    with `fastmath`.
    """
    if function is None:
        return lambda wrapped: Kernel(wrapped, options)
    return Kernel(function, options)


@overload
def inner(function: Callable[P, R], /) -> Inner[P, R]: ...
@overload
def inner(**options: Any) -> Callable[[Callable[P, R]], Inner[P, R]]: ...
def inner(function: Any = None, /, **options: Any) -> Any:
    """Mark a function that is called by kernels only."""
    if function is None:
        return lambda wrapped: Inner(wrapped, options)
    return Inner(function, options)
