"""Thread-safe caches of derived values, some of which can be saved in a file, and their locks.

The locks do not block a forked child. A child has only the thread that forked, so a lock that another thread
of the parent held would never be released there. That concerns locks of this package, and Python's own
locks of modules that are being imported.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray


class Lock:
    """Reentrant lock that a forked child can take even if another thread of the parent holds it.

    The other thread may have been anywhere in the locked section, so the section must be safe to repeat.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _all_locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def _renew(self) -> None:
        # The thread that forked can take a lock that it holds, and releases it later.
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = threading.RLock()


_all_locks: WeakSet[Lock] = WeakSet()


def _renew_locks() -> None:
    for lock in list(_all_locks):
        lock._renew()


def _forget_imports() -> None:
    """Drop modules that other threads were importing, and their locks. The child imports them again."""
    locks = getattr(getattr(importlib, "_bootstrap", None), "_module_locks", {})
    own = threading.get_ident()
    for name, reference in list(locks.items()):
        lock = reference()
        if getattr(lock, "owner", None) == own:
            continue
        del locks[name]
        specification = getattr(sys.modules.get(name), "__spec__", None)
        if getattr(specification, "_initializing", False):
            del sys.modules[name]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
    os.register_at_fork(after_in_child=_forget_imports)


if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - used like functools.cached_property
        """Property that is computed on first use, without a lock.

        Two threads may both compute the value, and both get the one that was stored first. The lock of
        Python 3.11's ``functools.cached_property`` would stay locked for ever in a child that is forked while
        another thread computes.
        """

        def __init__(self, function):
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            # Without a __set__, Python finds the stored value before this method.
            return instance.__dict__.setdefault(self.name, self.function(instance))


T = TypeVar("T")
Arrays = Mapping[str, NDArray[Any]]
ProductKey = tuple[str, ...]


@dataclass(frozen=True)
class Product(Generic[T]):
    """Kind of derived value that a prepared file can hold: conversion to arrays and back."""

    name: str
    pack: Callable[[T], Arrays]
    unpack: Callable[[Arrays], T]


class Memo:
    """Values by key. If two threads request one key, one of them computes the value and the other waits."""

    def __init__(self, stored: Mapping[ProductKey, Arrays] | None = None) -> None:
        #: Products from a file, by name and parameters, unpacked on first use.
        self.stored: Mapping[ProductKey, Arrays] = stored if stored is not None else {}
        self._values: dict[Hashable, Any] = {}
        self._kinds: dict[ProductKey, Product[Any]] = {}
        self._locks: dict[Hashable, Lock] = {}
        self._guard = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key. The first call computes it with ``make``."""
        if key in self._values:
            return cast(T, self._values[key])
        with self._guard:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._values:
                self._values[key] = make()
        # Threads that wait hold the lock object itself, and later ones find the value.
        with self._guard:
            self._locks.pop(key, None)
        return cast(T, self._values[key])

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def __getitem__(self, key: Hashable) -> Any:
        return self._values[key]

    def product(self, kind: Product[T], parameters: tuple[str, ...], make: Callable[[], T]) -> T:
        """Return a product, from the prepared file if it has it.

        ``parameters`` identify everything that the value depends on besides the captions, such as
        digests of resources.
        """
        key: ProductKey = (kind.name, *parameters)
        self._kinds[key] = kind
        return self.get(key, lambda: kind.unpack(self.stored[key]) if key in self.stored else make())

    def products(self) -> Iterator[tuple[ProductKey, Arrays]]:
        """Yield all products, computed and from a file, as arrays."""
        # A copy, because other threads can add more.
        computed = {key: kind for key, kind in self._kinds.copy().items() if key in self._values}
        for key, kind in computed.items():
            yield key, kind.pack(self._values[key])
        for key, arrays in self.stored.items():
            if key not in computed:
                yield key, arrays

    def __getstate__(self) -> dict[ProductKey, dict[str, NDArray[Any]]]:
        # Products are expensive, so they are sent to other processes. The rest is computed there again.
        return {
            key: {name: np.asarray(array) for name, array in arrays.items()}
            for key, arrays in self.products()
        }

    def __setstate__(self, stored: Mapping[ProductKey, Arrays]) -> None:
        Memo.__init__(self, stored)
