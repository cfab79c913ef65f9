"""Children that are forked while other threads hold locks, import modules or score."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import captious
from captious.core.memo import Lock, Memo, cached_property
from captious.metrics import registry
from tests.forks import fork_round
from tests.threads import at_once

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork"),
]


def in_child(work: Callable[[], object], seconds: float = 20) -> bool:
    """Return whether a forked child returns a true value in time."""
    child = os.fork()
    if not child:
        status = 1
        try:
            status = 0 if work() else 1
        finally:
            os._exit(status)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


class Busy:
    """Thread that stays inside a function until the block ends."""

    def __init__(self, work: Callable[[Callable[[], None]], object]) -> None:
        self._inside, self._end = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=work, args=(self._wait,))

    def _wait(self) -> None:
        self._inside.set()
        self._end.wait(60)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._inside.wait(60)

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


def take(lock: Lock) -> bool:
    with lock:
        return True


def test_a_lock_of_another_thread_is_free_in_the_child() -> None:
    lock = Lock()

    def hold(wait: Callable[[], None]) -> None:
        with lock:
            wait()

    with Busy(hold):
        assert in_child(lambda: take(lock) and take(lock))
        assert not lock._lock.acquire(blocking=False), "it is still locked in the parent"
    assert take(lock)


def test_a_lock_of_the_thread_that_forks_is_its_own_in_the_child() -> None:
    lock = Lock()

    def work() -> bool:
        with lock:
            child = os.fork()
            own = take(lock)
        if not child:
            os._exit(0 if own and take(lock) else 1)
        return os.waitpid(child, 0)[1] == 0

    assert work() and take(lock)


def test_a_memo_and_a_property_are_computed_again_in_the_child() -> None:
    class Owner:
        memo = Memo()

        @cached_property
        def slow(self) -> int:
            wait_here()
            return 7

    owner, wait_here = Owner(), lambda: None

    def compute(wait: Callable[[], None]) -> None:
        nonlocal wait_here
        wait_here = wait
        Owner.memo.get("key", lambda: owner.slow)

    with Busy(compute):
        wait_here = lambda: None  # noqa: E731
        assert in_child(lambda: Owner.memo.get("key", lambda: owner.slow) == 7)
    assert Owner.memo.get("key", lambda: 0) == 7


def test_a_module_that_another_thread_imports_is_imported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slow_module.py").write_text("import builtins\nbuiltins.captious_wait()\nvalue = 7\n")
    waits: list[Callable[[], None]] = []
    monkeypatch.setattr("builtins.captious_wait", lambda: waits.pop()() if waits else None, raising=False)

    def load(wait: Callable[[], None]) -> None:
        waits.append(wait)
        importlib.import_module("slow_module")

    with Busy(load):
        assert in_child(lambda: importlib.import_module("slow_module").value == 7)
    assert sys.modules.pop("slow_module").value == 7


def test_all_locks_of_the_package_are_renewed() -> None:
    """Python's own locks, also that of ``functools.cached_property``, would block a child."""
    package = Path(captious.__file__).parent
    own = {package / "core" / "locks.py", package / "core" / "memo.py"}
    blocking = re.compile(r"threading\.(R?Lock|Condition|Semaphore)\(|functools import .*\bcached_property\b")
    assert [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if path not in own and blocking.search(path.read_text(encoding="utf-8"))
    ] == []


def test_threads_get_one_object_from_a_property() -> None:
    class Owner:
        @cached_property
        def value(self) -> object:
            """A description."""
            return object()

    for _ in range(20):
        owner = Owner()
        values = at_once([lambda owner=owner: owner.value] * 8)  # type: ignore[misc]
        assert all(value is values[0] for value in values)
    assert Owner.value.__doc__ == "A description."


def test_children_forked_while_eight_threads_score() -> None:
    """The short form of ``python -m tests.forks``."""
    names = [str(name) for name in registry.resolve("lexical,METEOR,SPICE,CHAIRi")]
    assert [fork_round(names, 4, 0.05, seed) for seed in range(2)] == [["equal"] * 4] * 2
