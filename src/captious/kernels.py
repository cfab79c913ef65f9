"""Numeric kernels that run both as plain Python and compiled by Numba.

Importing Numba costs more than scoring a small file does, so a kernel is compiled only when there is enough work to
pay for it; where an earlier process compiled it, less work will do. The plain form is the same source: it can be stepped
through, and the tests run both.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from captious.native import Native

#: Kernels are typed by their arrays at run time, as Numba sees them.
Form = Callable[..., Any]

#: Below this many inner operations plain Python is quicker than compiling.
SMALL = 300_000
#: Below this many, it is quicker than loading machine code that was kept.
TINY = 10_000

_often: ContextVar[bool] = ContextVar("often", default=False)


def is_often() -> bool:
    """Whether this runs inside :func:`called_often`."""
    return _often.get()


@contextmanager
def called_often() -> Iterator[None]:
    """Small work that is done again and again, as in a training loop: compiled code is worth loading."""
    token = _often.set(True)
    try:
        yield
    finally:
        _often.reset(token)


class Kernel:
    """A function with a plain and a compiled form; calling it runs the plain form."""

    #: Inner operations that :meth:`pick` was asked for in this process, but for tiny pieces.
    asked = 0.0

    def __init__(self, function: Form, **options: Any) -> None:
        self.plain: Form = function
        #: For Numba.
        self.options = options
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__wrapped__ = function

    def __call__(self, *args: Any) -> Any:
        return self.plain(*args)

    @cached_property
    def compiled(self) -> Native:
        """The compiled form, releasing the GIL: compiled by Numba where no earlier process did it, and kept on disk."""
        from captious.native import Native

        return Native(self.__name__, self.digest, self.dispatcher)

    def dispatcher(self, wrapped: bool) -> Any:
        """What Numba compiles: for calls from Python (``wrapped``), or for calls from machine code alone."""
        import numba

        plain: Any = self.plain
        # Numba resolves names through the function's globals and cannot see through this wrapper, so the copy it
        # compiles gets the compiled form of each kernel that the function calls.
        scope = dict(plain.__globals__)
        for name in plain.__code__.co_names:
            if isinstance(scope.get(name), Kernel):
                scope[name] = scope[name].callee
        copy = types.FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__, plain.__closure__)
        copy.__module__ = plain.__module__
        return numba.njit(nogil=True, no_cpython_wrapper=not wrapped, no_cfunc_wrapper=not wrapped, **self.options)(copy)

    @cached_property
    def callee(self) -> Any:
        """The form that other compiled kernels call."""
        return self.dispatcher(wrapped=False)

    @cached_property
    def digest(self) -> str:
        """Names the code: its instructions, and all kernels and constants that it takes from elsewhere."""
        state = hashlib.blake2b(repr(sorted(self.options.items())).encode(), digest_size=8)
        for part in _content(self.plain):
            state.update(part.encode() + b"\0")
        return state.hexdigest()

    def pick(self, work: float) -> Form:
        """The form to use for about ``work`` inner operations."""
        if _often.get():
            return self.compiled
        if work < TINY:
            return self.plain
        # Much small work is as good a reason to compile as one large piece. Threads may lose a count, which does no harm.
        Kernel.asked += work
        return self.kept if Kernel.asked < SMALL else self.compiled

    def kept(self, *args: Any) -> Any:
        """The compiled form if its machine code is at hand, the plain form otherwise."""
        return (self.compiled.kept(*args) or self.plain)(*args)


def _content(function: Any) -> Iterator[str]:
    """What the compiled form of a function depends on."""
    yield from _code(function.__code__)
    for name in sorted({*function.__code__.co_names, *function.__code__.co_freevars}):
        value = function.__globals__.get(name)
        if isinstance(value, Kernel):
            yield f"{name}={value.digest}"
        elif isinstance(value, np.ndarray):
            yield f"{name}={value.dtype}{value.shape}{value.tobytes().hex()}"
        elif isinstance(value, bool | int | float | str | tuple | np.generic):
            yield f"{name}={value!r}"


def _code(code: types.CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_argcount))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        else:
            yield repr(constant)


def kernel(function: Form, **options: Any) -> Kernel:
    """Mark a function on arrays and scalars as a kernel (see :class:`Kernel`); ``options`` are for Numba."""
    return Kernel(function, **options)
