"""Numeric kernels that run both as plain Python and compiled by Numba.

Importing Numba costs more than scoring a small file does, so a kernel is compiled only when there is enough work to
pay for it. The plain form is the same source: it can be stepped through, and the tests run both.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from functools import cached_property
from typing import Any

#: Kernels are typed by their arrays at run time, as Numba sees them.
Form = Callable[..., Any]

#: Below this many inner operations plain Python is quicker than loading Numba and the compiled code.
SMALL = 300_000


class Kernel:
    """A function with a plain and a compiled form; calling it runs the plain form."""

    def __init__(self, function: Form) -> None:
        self.plain: Form = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__wrapped__ = function

    def __call__(self, *args: Any) -> Any:
        return self.plain(*args)

    @cached_property
    def compiled(self) -> Form:
        """The Numba form: compiled on first use, cached on disk, releasing the GIL."""
        import numba

        plain: Any = self.plain
        # Numba resolves names through the function's globals and cannot see through this wrapper, so the copy it
        # compiles gets the compiled form of each kernel that the function calls.
        names = plain.__code__.co_names
        scope = dict(plain.__globals__)
        for name in names:
            if isinstance(scope.get(name), Kernel):
                scope[name] = scope[name].compiled
        copy = types.FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__, plain.__closure__)
        copy.__module__ = plain.__module__
        copy.__qualname__ = plain.__qualname__
        compiled: Form = numba.njit(cache=True, nogil=True)(copy)
        return compiled

    def pick(self, work: float) -> Form:
        """The form to use for about ``work`` inner operations."""
        if work < SMALL and "numba" not in sys.modules:
            return self.plain
        if work < SMALL / 30:
            return self.plain
        return self.compiled


def kernel(function: Form) -> Kernel:
    """Mark a function on arrays and scalars as a kernel (see :class:`Kernel`)."""
    return Kernel(function)
