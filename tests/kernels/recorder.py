"""Compare both forms of every kernel that a workload calls."""

from __future__ import annotations

import ctypes
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.kernels import Kernel, library, plain_forms
from captious.kernels.types import Array, Group, Spec


class Recorder:
    """Runs the plain form of kernels after the built one, on copies of the same arguments, and compares
    results and arrays.

    Plain forms are slow: only the first `MOST` calls of each kernel are compared, and of those with
    large arrays only the first `MOST_LARGE`.
    """

    MOST = 40
    MOST_LARGE = 3
    #: Bytes of all arrays of a large call.
    LARGE = 200_000

    def __init__(self) -> None:
        #: Compared calls by symbol.
        self.calls: Counter[str] = Counter()
        #: Symbols of kernels that filled or changed some array, or returned something other than 0.
        self.effective: set[str] = set()
        #: Symbols of kernels that have a form for newer processors.
        self.wide: set[str] = set()
        self.differences: list[str] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Compare the calls inside the block, except those that a comparison makes itself.

        Threads compare one after the other.
        """
        usual: Callable[..., Any] = Kernel.__call__
        recorder = self
        lock, own = threading.Lock(), threading.local()

        def call(kernel: Kernel[..., Any], *arguments: Any) -> Any:
            if getattr(own, "is_comparing", False) or recorder.has_enough(kernel, arguments):
                return usual(kernel, *arguments)
            with lock:
                own.is_comparing = True
                try:
                    return recorder.compare(kernel, arguments)
                finally:
                    own.is_comparing = False

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Kernel, "__call__", call)
            yield

    def has_enough(self, kernel: Kernel[..., Any], arguments: tuple[Any, ...]) -> bool:
        """Return whether to skip the comparison of this call."""
        large = sum(array.nbytes for array in arrays_in(arguments)) > self.LARGE
        return self.calls[kernel.symbol] >= (self.MOST_LARGE if large else self.MOST)

    def compare(self, kernel: Kernel[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Run all forms, note differences, and return the result of the built form."""
        assert kernel.built is not None
        self.calls[kernel.symbol] += 1
        before, copies = copy_of(arguments), copy_of(arguments)
        oldest = form_for_oldest_processor(kernel)
        older, older_result = copy_of(arguments), None
        if oldest is not None:
            self.wide.add(kernel.symbol)
            older_result = oldest(*older)
        result = kernel.built(*arguments)
        if oldest is not None and not (
            is_same(result, older_result, 0.0) and all(map(is_equal, arrays_in(arguments), arrays_in(older)))
        ):
            self.differences.append(f"{kernel.symbol} gives other bits on newer processors")
        with plain_forms(), np.errstate(all="ignore"):
            expected = kernel.plain(*copies)
        tolerance = 2e-6 if kernel.options.get("fastmath") else 0.0
        if not is_same(result, expected, tolerance):
            self.differences.append(f"{kernel.symbol} returns {result!r}, its plain form {expected!r}")
        for (name, spec), one, other, old in zip(kernel.signature[0].items(), arguments, copies, before):
            for path, written, ours, theirs, original in flat(name, spec, one, other, old):
                if not is_same(ours, theirs, tolerance):
                    self.differences.append(
                        f"{kernel.symbol} leaves other values in {path} than its plain form"
                    )
                if not written and not is_same(ours, original, 0.0):
                    self.differences.append(f"{kernel.symbol} changes {path}, which it should only read")
                if written and not is_same(ours, original, 0.0):
                    self.effective.add(kernel.symbol)
        if result:
            self.effective.add(kernel.symbol)
        return result


def form_for_oldest_processor(kernel: Kernel[..., Any]) -> Callable[..., Any] | None:
    """Return the form that older processors run, if this one runs another."""
    loaded = library.load()
    if loaded is None or kernel.symbol not in loaded.wide:
        return None
    return library._bind(kernel, getattr(loaded.functions, kernel.symbol))


def is_equal(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two arrays have the same bits."""
    return is_same(one, other, 0.0)


def copy_of(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a deep copy of arguments. Arrays that share memory share it in the copy, too."""
    buffers: list[tuple[int, int, NDArray[np.uint8]]] = []
    for low, high in sorted(
        (array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays_in(arguments)
    ):
        if buffers and low < buffers[-1][1]:
            low, high = buffers[-1][0], max(high, buffers.pop()[1])
        # Keep the alignment.
        room = np.empty(high - low + 64, np.uint8)
        start = (low - room.ctypes.data) % 64
        buffers.append((low, high, room[start : start + high - low]))
    for low, high, copied in buffers:
        ctypes.memmove(copied.ctypes.data, low, high - low)

    def copy(value: Any) -> Any:
        if isinstance(value, tuple):
            parts = [copy(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if not isinstance(value, np.ndarray):
            return value
        address = value.ctypes.data
        low, copied = next(
            (low, copied)
            for low, high, copied in buffers
            if low <= address and address + value.nbytes <= high
        )
        return np.ndarray(value.shape, value.dtype, copied, address - low)

    return tuple(map(copy, arguments))


def arrays_in(value: Any) -> Iterator[NDArray[Any]]:
    """Yield the arrays in tuples of any depth."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays_in(part)


def flat(path: str, spec: Spec, *values: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the arrays in corresponding values, with their path and whether the kernel writes to them."""
    if isinstance(spec, Group):
        for i, (part, *inner) in enumerate(zip(spec.parts, *values)):
            yield from flat(f"{path}[{i}]", part, *inner)
    elif isinstance(spec, Array):
        yield path, spec.written, *values


def is_same(one: Any, other: Any, tolerance: float) -> bool:
    """Return whether two numbers or arrays have the same bits, or nearly the same values where some
    tolerance is allowed."""
    if one is None or other is None:
        return one is other
    first, second = np.asarray(one), np.asarray(other)
    if tolerance and first.dtype.kind == "f":
        return bool(np.allclose(first, second, rtol=tolerance, atol=tolerance))
    if not isinstance(one, np.ndarray):
        # Plain forms return numbers of Python's or NumPy's types.
        return bool(first == second) or bool(first != first and second != second)
    return first.dtype == second.dtype and first.tobytes() == second.tobytes()
