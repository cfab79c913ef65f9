"""Values computed once, from any thread, and pickled for other processes."""

from __future__ import annotations

import pickle
import threading
import time

import numpy as np
import pytest

from captious.core.memo import Memo, Product
from tests.threads import at_once, eager_switching

PAIR: Product[tuple[int, str]] = Product(
    "pair",
    lambda pair: {"number": np.array([pair[0]]), "text": np.frombuffer(pair[1].encode(), np.uint8)},
    lambda arrays: (int(arrays["number"][0]), arrays["text"].tobytes().decode()),
)


def test_made_once_per_key() -> None:
    memo, calls = Memo(), []

    def make(value: int) -> int:
        calls.append(value)
        return value

    assert memo.get("a", lambda: make(1)) == memo.get("a", lambda: make(2)) == 1
    assert memo.get(("a",), lambda: make(3)) == 3
    assert calls == [1, 3]


def test_nothing_is_a_value_too() -> None:
    memo, calls = Memo(), []
    for _ in range(2):
        assert memo.get("none", lambda: calls.append(1)) is None
    assert calls == [1]


def test_threads_wait_for_the_one_that_makes_it() -> None:
    memo, calls = Memo(), []

    def make() -> object:
        calls.append(threading.get_ident())
        time.sleep(0.05)
        return object()

    with eager_switching():
        found = at_once([lambda: memo.get("slow", make)] * 8)
    assert len(calls) == 1
    assert all(value is found[0] for value in found)
    assert not memo._locks


def test_different_keys_do_not_wait_for_each_other() -> None:
    """Each of two makers waits until the other has begun, which only works if both run at the same time."""
    memo, both = Memo(), threading.Barrier(2, timeout=10)
    assert at_once([lambda k=k: memo.get(k, lambda: both.wait() >= 0) for k in ("a", "b")]) == [True, True]


def test_making_one_thing_may_need_another() -> None:
    memo = Memo()
    assert memo.get("outer", lambda: 1 + memo.get("inner", lambda: 2)) == 3
    assert memo.get("inner", lambda: 7) == 2


def test_what_failed_is_tried_again() -> None:
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.get("a", lambda: 1 // 0)
    assert memo.get("a", lambda: 5) == 5
    assert not memo._locks


def test_products_travel_and_the_rest_does_not() -> None:
    memo = Memo()
    memo.get("here", lambda: threading.Lock())  # a value that cannot be pickled
    assert memo.product(PAIR, ("x",), lambda: (3, "three")) == (3, "three")
    memo.product(PAIR, ("y",), lambda: (4, "four"))
    for _ in range(2):  # computed again from the value that was pickled
        memo = pickle.loads(pickle.dumps(memo))
        assert sorted(memo.stored) == [("pair", "x"), ("pair", "y")]
    assert memo.product(PAIR, ("x",), lambda: pytest.fail("it is stored")) == (3, "three")
    assert memo.product(PAIR, ("z",), lambda: (5, "five")) == (5, "five")
    assert memo.get("here", lambda: "made anew") == "made anew"
    assert sorted(key for key, _ in memo.products()) == [("pair", "x"), ("pair", "y"), ("pair", "z")]
