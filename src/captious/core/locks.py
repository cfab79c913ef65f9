"""Locks that do not block a forked child.

A child has only the thread that forked. A lock that another thread of the parent held would never be released
there. That concerns locks of this package, and Python's own locks of modules that are being imported.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from types import TracebackType
from weakref import WeakSet


class Lock:
    """Reentrant lock that a forked child can take even if another thread of the parent holds it.

    The other thread may have been anywhere in the locked section, so the section must be safe to repeat.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _all_locks.add(self)

    def acquire(self) -> None:
        """Wait for the lock and take it."""
        self._lock.acquire()

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

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
