"""Compiled kernels that start without a compiler.

Numba compiles a kernel once for each combination of argument types. Its machine code is kept with a checksum, and later
processes load it by themselves (:mod:`captious.linking`): importing Numba and reading its own cache would take longer than
scoring thousands of captions. Numba's calling convention is reached through an entry point of our own
(:mod:`captious.compiling`).
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
from typing import Any

import numpy as np

from captious import linking
from captious.cache import cache_directory, warn_once
from captious.compiling import (
    DATA,
    DIMENSIONS,
    RESULTS,
    STRIDES,
    Code,
    Kind,
    UnsupportedError,
    c_function,
    compiled,
    flat,
    loaded,
    target,
)
from captious.errors import WriteError
from captious.progress import shown
from captious.writing import atomic_write

_FORMAT = b"captious kernel 2\n"
_SUM = 16
_C_ORDER, _F_ORDER, _WRITEABLE = 1, 2, 0x400

_SCALARS = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(np.float64)}

_C: dict[str, Any] = {
    "b1": ctypes.c_bool, "i1": ctypes.c_int8, "i2": ctypes.c_int16, "i4": ctypes.c_int32, "i8": ctypes.c_int64, "u1": ctypes.c_uint8, "u2": ctypes.c_uint16,
    "u4": ctypes.c_uint32, "u8": ctypes.c_uint64, "f4": ctypes.c_float, "f8": ctypes.c_double,
}  # fmt: skip


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

    def kept(self, *arguments: Any) -> Callable[..., Any] | None:
        """The function for arguments of these types, if it is loaded or can be in a moment: without a compiler."""
        kinds = tuple([_kind(argument) for argument in arguments])
        found = self._forms.get(kinds)
        if found is None and linking.usable():
            with _lock:
                found = self._forms.get(kinds) or self._loaded(kinds)
                if found is not None:
                    self._forms[kinds] = found
        return found

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
        _tell()
        try:
            code = compiled(self._dispatcher(False), kinds, arguments)
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
    parts = []
    for size in about["sizes"]:
        parts.append(rest[:size])
        rest = rest[size:]
    if "entry" not in about:
        return Code(about["result"], tuple(parts))
    own, places, which = (np.frombuffer(part, np.int64) for part in parts[1:])
    return Code(about["result"], block=linking.Block(parts[0], about["entry"], own, tuple(about["names"]), places, which))


def write_code(path: Path, code: Code) -> None:
    about: dict[str, Any] = {"result": code.result}
    parts = code.objects
    if code.block is not None:
        about |= {"entry": code.block.entry, "names": code.block.names}
        parts = (code.block.content, code.block.own.tobytes(), code.block.places.tobytes(), code.block.which.tobytes())
    head = json.dumps({**about, "sizes": [len(part) for part in parts]})
    rest = head.encode() + b"\n" + b"".join(parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as temporary:
        temporary.write_bytes(_FORMAT + _sum(rest) + rest)


def _sum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SUM).digest()


@cache
def _tell() -> None:
    """Say why nothing seems to happen, once in a process."""
    if shown():
        print("captious: compiling for this processor; this is done once on a machine and can take a minute", file=sys.stderr, flush=True)


_lock = threading.RLock()


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


def _parts(arguments: tuple[Any, ...]) -> list[Any]:
    return [part for argument in arguments for part in (_parts(argument) if isinstance(argument, tuple) else [argument])]


@cache
def _usable() -> bool:
    """Whether machine code can be called from here: not on Windows, nor with a NumPy that lays out its arrays differently."""
    if os.name != "posix" or sys.maxsize < 2**32 or sys.implementation.name != "cpython":
        return False
    probe = np.zeros((2, 3), np.int16)
    at = [ctypes.c_void_p.from_address(id(probe) + offset).value for offset in (DATA, DIMENSIONS, STRIDES)]
    if at[0] != probe.ctypes.data or at[1] is None or at[2] is None:
        return False
    shape, strides = ((ctypes.c_int64 * 2).from_address(place) for place in at[1:] if place is not None)
    return tuple(shape) == probe.shape and tuple(strides) == probe.strides


@cache
def _machine() -> str:
    """What machine code depends on besides the code itself: the processor."""
    if linking.usable():
        with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            told = {}
            for line in lines:
                name, colon, value = line.partition(":")
                if not colon:  # the first processor ends here
                    break
                told[name.strip()] = value.strip()
            if "flags" in told:
                return " ".join(told.get(name, "") for name in ("vendor_id", "cpu family", "model", "stepping", "flags"))
    return target()


# Calling machine code ------------------------------------------------------------------------------------------------


def _linked(code: Code, kinds: tuple[Kind, ...], name: str) -> Callable[..., Any]:
    start = loaded(code.objects) if code.block is None else linking.load(code.block, c_function)
    types = [ctypes.py_object if kind[2] else _C[kind[0].str[1:]] for kind in flat(kinds)]
    # ctypes lets go of the interpreter's lock while the code runs.
    entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *types)(start)
    result_type = RESULTS[code.result]
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
