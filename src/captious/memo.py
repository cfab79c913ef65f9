"""Things that are made once, by whoever asks first, from any thread; some of them can be kept in a file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Arrays = Mapping[str, NDArray[Any]]
ProductKey = tuple[str, ...]


@dataclass(frozen=True)
class Product(Generic[T]):
    """A kind of thing derived from captions that a prepared file can keep: how it becomes arrays, and comes back."""

    name: str
    pack: Callable[[T], Arrays]
    unpack: Callable[[Arrays], T]


class Memo:
    """Values by key. Two threads that ask for one key get one value; one of them makes it and the other waits."""

    def __init__(self, stored: Mapping[ProductKey, Arrays] | None = None) -> None:
        #: Products that a file has, by name and parameters; they are unpacked when first asked for.
        self.stored: Mapping[ProductKey, Arrays] = stored if stored is not None else {}
        self._values: dict[Hashable, Any] = {}
        self._kinds: dict[ProductKey, Product[Any]] = {}
        self._locks: dict[Hashable, threading.RLock] = {}
        self._guard = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """``make()`` once per key."""
        if key in self._values:
            return cast(T, self._values[key])
        with self._guard:
            lock = self._locks.setdefault(key, threading.RLock())
        with lock:
            if key not in self._values:
                self._values[key] = make()
        # Whoever waits holds the lock object itself, and whoever comes later finds the value.
        with self._guard:
            self._locks.pop(key, None)
        return cast(T, self._values[key])

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def product(self, kind: Product[T], parameters: tuple[str, ...], make: Callable[[], T]) -> T:
        """Like :meth:`get`, for what a prepared file may have already. Parameters name all that the value depends on
        besides the captions (digests of resources, say)."""
        key: ProductKey = (kind.name, *parameters)
        self._kinds[key] = kind
        return self.get(key, lambda: kind.unpack(self.stored[key]) if key in self.stored else make())

    def products(self) -> Iterator[tuple[ProductKey, Arrays]]:
        """All products that were made, and those that came from a file, as arrays."""
        # A copy, because other threads may be making more.
        made = {key: kind for key, kind in self._kinds.copy().items() if key in self._values}
        for key, kind in made.items():
            yield key, kind.pack(self._values[key])
        for key, arrays in self.stored.items():
            if key not in made:
                yield key, arrays

    def __getstate__(self) -> dict[ProductKey, dict[str, NDArray[Any]]]:
        # Products travel to other processes, since they are dear; the rest is made there anew.
        return {key: {name: np.asarray(array) for name, array in arrays.items()} for key, arrays in self.products()}

    def __setstate__(self, stored: Mapping[ProductKey, Arrays]) -> None:
        Memo.__init__(self, stored)
