"""Declaring kernels: types, digests, and which form runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from captious.kernels import Kernel, inner, kernel, plain_forms
from captious.kernels.types import Array, Float64, Group, Int32, Int64, Int64x2, Out, Scalar, spec_of
from captious.metrics.sets.mbleu import closest_other_lengths

SOURCE = '''
import numpy as np
from captious.kernels import inner, kernel
from captious.kernels.types import Float64, Int32, Int64, Out

FACTOR = 2
TABLE = np.array([1.0, 2.0])
UNUSED = 3


@inner
def scaled(x: float) -> float:
    return FACTOR * x


@kernel
def total(values: Float64, out: Out[Int64]) -> float:
    """A sum."""
    # Another line.
    out[0] = 1
    return scaled(values[0]) + TABLE[1]
'''


def digest(old: str = "", new: str = "") -> str:
    """Return the digest of the kernel `total` of `SOURCE` after a change."""
    assert old in SOURCE
    scope: dict[str, Any] = {"__name__": "made_up"}
    exec(compile(SOURCE.replace(old, new, 1), "made_up.py", "exec"), scope)
    found: str = scope["total"].digest
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("out[0] = 1", "out[0] = 7"),
        ("out[0] = 1", "out[1] = out[0]"),
        ("FACTOR = 2", "FACTOR = 3"),
        ("FACTOR = 2", "FACTOR = 2.0"),
        ("[1.0, 2.0]", "[1.0, 3.0]"),
        ("np.array([1.0, 2.0])", "np.array([1.0, 2.0], np.float32)"),
        ("FACTOR * x", "FACTOR + x"),
        ("@kernel\n", "@kernel(fastmath=True)\n"),
        ("@inner\n", "@inner(fastmath=True)\n"),
        ("Out[Int64]", "Out[Int32]"),
        ("Out[Int64]", "Int64"),
    ],
)
def test_a_digest_changes_with_all_that_the_compiled_form_depends_on(old: str, new: str) -> None:
    assert digest(old, new) != digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("UNUSED = 3", "UNUSED = 4"),
        ("A sum.", "The sum."),
        ("# Another line.", "# Another\n    # line."),
        ("\n\n\n@inner", "\n\n\n\n@inner"),
    ],
)
def test_a_digest_does_not_change_with_the_text(old: str, new: str) -> None:
    assert digest(old, new) == digest()


class Pair(NamedTuple):
    left: Int32
    right: Float64


def test_declared_types() -> None:
    @kernel
    def everything(
        values: Int64,
        out: Out[Int64x2],
        pair: Pair,
        written: Out[Pair],
        two: tuple[Int32, bool],
        n: int,
        x: float,
        single: np.float32,
        flag: bool,
    ) -> np.uint64:
        return np.uint64(0)

    parameters, result = everything.signature
    assert parameters == {
        "values": Array("int64"),
        "out": Array("int64", 2, written=True),
        "pair": Group((Array("int32"), Array("float64")), Pair),
        "written": Group((Array("int32", written=True), Array("float64", written=True)), Pair),
        "two": Group((Array("int32"), Scalar("bool"))),
        "n": Scalar("int64"),
        "x": Scalar("float64"),
        "single": Scalar("float32"),
        "flag": Scalar("bool"),
    }
    assert result == Scalar("uint64")
    assert [str(spec) for spec in parameters.values()][:5] == [
        "int64[:]",
        "int64[:, :]",
        "(int32[:], float64[:])",
        "(int32[:], float64[:])",
        "(int32[:], bool)",
    ]


@pytest.mark.parametrize("annotation", [list, list[int], str, object, Any, dict[str, int], np.ndarray])
def test_other_types_are_refused(annotation: Any) -> None:
    with pytest.raises(TypeError, match="a kernel takes arrays and numbers"):
        spec_of(annotation)


def test_a_kernel_declares_all_types() -> None:
    @kernel
    def half(values: Int64, n):  # type: ignore[no-untyped-def]
        return 0

    with pytest.raises(TypeError, match="kernel half does not declare the type of n, return"):
        assert half.signature


def test_a_kernel_returns_a_number_or_nothing() -> None:
    @kernel
    def whole(values: Int64) -> Int64:
        return values

    with pytest.raises(
        TypeError, match=r"kernel whole returns int64\[:\]; a kernel returns a number or nothing"
    ):
        assert whole.signature


def test_inner_functions_run_plain_and_keep_their_names() -> None:
    @inner
    def doubled(x: int) -> int:
        """Twice as much."""
        return 2 * x

    assert doubled(4) == 8
    assert (doubled.__name__, doubled.__doc__, doubled.__module__) == ("doubled", "Twice as much.", __name__)
    assert not isinstance(doubled, Kernel) and isinstance(closest_other_lengths, Kernel)
    assert doubled.symbol == "tests_kernels_test_declare_doubled"


def test_plain_forms_run_inside_the_block_only(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = np.array([5, 7, 1]), np.array([0, 3]), np.zeros(3, np.int64)
    built: list[int] = []
    monkeypatch.setitem(closest_other_lengths.__dict__, "built", lambda *_: built.append(1))
    with plain_forms():
        with plain_forms():
            closest_other_lengths(*arguments)
        closest_other_lengths(*arguments)
    assert not built and arguments[2].tolist() == [7, 5, 5]
    with pytest.raises(ValueError, match="x"), plain_forms():
        raise ValueError("x")
    closest_other_lengths(*arguments)
    assert built == [1]
