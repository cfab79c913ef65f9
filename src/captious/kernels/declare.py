"""The decorators `@kernel` and `@inner`."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from captious.core.memo import cached_property
from captious.kernels import library
from captious.kernels.types import Scalar, Spec, signature_of

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
        return library.find(self)

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
