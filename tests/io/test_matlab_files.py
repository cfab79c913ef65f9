"""MATLAB files are read as SciPy reads them. Damaged ones give one message."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from captious.core.errors import InputError
from captious.io.matlab_files import read_variables


def saved(variables: dict[str, Any], compressed: bool = True) -> bytes:
    out = io.BytesIO()
    savemat(out, variables, do_compression=compressed)
    return out.getvalue()


def plain(value: Any) -> Any:
    """Return SciPy's values as our reader returns them."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        texts = value.ravel().tolist()
        return texts[0] if len(texts) == 1 else texts or ""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return [{name: plain(item[name]) for name in value.dtype.names} for item in value.ravel(order="F")]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [plain(item) for item in value.ravel(order="F")]
    return (value.shape, value.tolist())


def ours(value: Any) -> Any:
    if isinstance(value, list):
        return [ours(item) for item in value]
    if isinstance(value, dict):
        return {name: ours(item) for name, item in value.items()}
    return (value.shape, value.tolist()) if isinstance(value, np.ndarray) else value


def cells(*values: Any) -> Any:
    held = np.empty((1, len(values)), object)
    held[0, :] = values
    return held


def records(*rows: tuple[Any, ...]) -> Any:
    held = np.empty((1, len(rows)), dtype=[(name, object) for name in "abc"])
    for k, row in enumerate(rows):
        held[0, k] = row
    return held


VARIABLES: dict[str, Any] = {
    "numbers": np.arange(12.0).reshape(3, 4),
    "small": np.array([[1, -2, 3]], np.int8),
    "unsigned": np.array([[1], [60_000]], np.uint16),
    "cube": np.arange(24, dtype=np.int32).reshape(2, 3, 4),
    "nothing": np.zeros((0, 3)),
    "text": "a dog, Käse, 犬",
    "table": np.array(["abc", "xyz"]),
    "cells": cells("a", np.array([[1.5]]), cells("b", cells("c")), "", np.zeros((0, 0))),
    "records": records(("a", 1.0, cells("x", "y")), ("", -1.0, "z")),
}


@pytest.mark.parametrize("compressed", [True, False], ids=["compressed", "plain"])
def test_values_are_those_of_scipy(compressed: bool) -> None:
    data = saved(VARIABLES, compressed)
    theirs = {name: value for name, value in loadmat(io.BytesIO(data)).items() if name[0] != "_"}
    assert list(read_variables(data, "f.mat")) == list(VARIABLES) == list(theirs)
    for name, value in read_variables(data, "f.mat").items():
        if name == "nothing":
            assert value.shape == (0, 3)
        elif name == "cells":
            *most, last = value
            assert ours(most) == plain(theirs[name])[:-1] and last.size == 0
        else:
            assert ours(value) == plain(theirs[name]), name


def test_files_of_machines_with_the_other_byte_order() -> None:
    little = saved({"a": np.array([[1.0, 2.0]])}, compressed=False)
    # The same file by hand, with the bytes of every number reversed.
    words = [14, 56 + 0, 6, 8, 6, 0, 5, 8, 1, 2]
    body = np.array(words, ">u4").tobytes() + np.array([(1 << 16) | 1], ">u4").tobytes() + b"a\0\0\0"
    body += np.array([9, 16], ">u4").tobytes() + np.array([1.0, 2.0], ">f8").tobytes()
    body = body[:4] + np.array([len(body) - 8], ">u4").tobytes() + body[8:]
    big = little[:124] + b"\x01\x00MI" + body
    assert read_variables(big, "f.mat")["a"].tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (saved({"a": "text"})[:140], "ends too early"),
        (saved({"a": "text"}, compressed=False)[:150], "ends too early"),
        (saved({"a": np.array([[1 + 2j]])}), "class"),
        (b"MATLAB 5.0".ljust(126) + b"??", "byte order"),
    ],
)
def test_damaged_files(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"f\.mat: the MATLAB file is damaged \(.*{message}"):
        read_variables(data, "f.mat")


def test_limits_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    nested: Any = "text"
    for _ in range(30):
        nested = cells(nested)
    with pytest.raises(InputError, match="nested deeper than 16 levels"):
        read_variables(saved({"a": nested}), "f.mat")
    monkeypatch.setenv("CAPTIOUS_MAX_BYTES", "10k")
    with pytest.raises(InputError, match="CAPTIOUS_MAX_BYTES"):
        read_variables(saved({"a": np.zeros((1000, 1000))}), "f.mat")
