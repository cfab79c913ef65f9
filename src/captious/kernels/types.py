"""Types of kernel parameters.

One declaration serves the build, which compiles a kernel for exactly these types, the loader, which checks
arguments against them, and the type checker, which sees ordinary NumPy arrays. `Int32` is a one-dimensional
array of 32-bit integers and `Int32x2` a two-dimensional one. `Out[Int32]` is an array that the kernel
writes to; all others are read only, which the compiler checks. All arrays are C-contiguous.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Array:
    """A C-contiguous array."""

    dtype: str
    ndim: int = 1
    written: bool = False

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(':' * self.ndim)}]"


@dataclass(frozen=True)
class Scalar:
    """A number, by the name of its NumPy type."""

    dtype: str

    def __str__(self) -> str:
        return self.dtype


@dataclass(frozen=True)
class Group:
    """A tuple or named tuple. The library receives its parts one by one."""

    parts: tuple[Spec, ...]
    #: The class of a named tuple.
    named: Any = None

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parts))})"


Spec: TypeAlias = Array | Scalar | Group


class Written:
    """Marks parameters that a kernel writes to."""


T = TypeVar("T")
Out: TypeAlias = Annotated[T, Written]

Bool: TypeAlias = Annotated[NDArray[np.bool_], Array("bool")]
Int8: TypeAlias = Annotated[NDArray[np.int8], Array("int8")]
Int16: TypeAlias = Annotated[NDArray[np.int16], Array("int16")]
Int32: TypeAlias = Annotated[NDArray[np.int32], Array("int32")]
Int64: TypeAlias = Annotated[NDArray[np.int64], Array("int64")]
UInt8: TypeAlias = Annotated[NDArray[np.uint8], Array("uint8")]
UInt32: TypeAlias = Annotated[NDArray[np.uint32], Array("uint32")]
UInt64: TypeAlias = Annotated[NDArray[np.uint64], Array("uint64")]
Float32: TypeAlias = Annotated[NDArray[np.float32], Array("float32")]
Float64: TypeAlias = Annotated[NDArray[np.float64], Array("float64")]

Boolx2: TypeAlias = Annotated[NDArray[np.bool_], Array("bool", 2)]
Int16x2: TypeAlias = Annotated[NDArray[np.int16], Array("int16", 2)]
Int32x2: TypeAlias = Annotated[NDArray[np.int32], Array("int32", 2)]
Int64x2: TypeAlias = Annotated[NDArray[np.int64], Array("int64", 2)]
UInt8x2: TypeAlias = Annotated[NDArray[np.uint8], Array("uint8", 2)]
UInt16x2: TypeAlias = Annotated[NDArray[np.uint16], Array("uint16", 2)]
UInt64x2: TypeAlias = Annotated[NDArray[np.uint64], Array("uint64", 2)]
Float32x2: TypeAlias = Annotated[NDArray[np.float32], Array("float32", 2)]
Float64x2: TypeAlias = Annotated[NDArray[np.float64], Array("float64", 2)]

Int32x3: TypeAlias = Annotated[NDArray[np.int32], Array("int32", 3)]
Int64x3: TypeAlias = Annotated[NDArray[np.int64], Array("int64", 3)]
Float32x3: TypeAlias = Annotated[NDArray[np.float32], Array("float32", 3)]
Float64x3: TypeAlias = Annotated[NDArray[np.float64], Array("float64", 3)]

_NUMBERS = {bool: "bool", int: "int64", float: "float64"}


def spec_of(annotation: Any) -> Spec:
    """Return what an annotation declares, or raise `TypeError` if kernels cannot take it."""
    if typing.get_origin(annotation) is Annotated:
        kind, *extras = typing.get_args(annotation)
        array = next((extra for extra in extras if isinstance(extra, Array)), None)
        spec = array or spec_of(kind)
        return _written(spec) if Written in extras else spec
    if annotation in _NUMBERS:
        return Scalar(_NUMBERS[annotation])
    if isinstance(annotation, type) and issubclass(annotation, np.generic):
        return Scalar(np.dtype(annotation).name)
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        hints = typing.get_type_hints(annotation, include_extras=True)
        return Group(tuple(spec_of(hints[field]) for field in annotation._fields), annotation)
    if typing.get_origin(annotation) is tuple:
        return Group(tuple(map(spec_of, typing.get_args(annotation))))
    raise TypeError(f"a kernel takes arrays and numbers (captious.kernels.types), not {annotation}")


def _written(spec: Spec) -> Spec:
    if isinstance(spec, Group):
        return replace(spec, parts=tuple(map(_written, spec.parts)))
    return replace(spec, written=True) if isinstance(spec, Array) else spec


def signature_of(function: Any) -> tuple[dict[str, Spec], Scalar | None]:
    """Return the declared parameters of a kernel by name, and its result (None if it returns nothing)."""
    hints = typing.get_type_hints(function, include_extras=True)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    missing = [name for name in (*names, "return") if name not in hints]
    if missing:
        raise TypeError(f"kernel {function.__name__} does not declare the type of {', '.join(missing)}")
    result = hints["return"]
    specified = None if result in (None, type(None)) else spec_of(result)
    if not isinstance(specified, Scalar | None):
        raise TypeError(
            f"kernel {function.__name__} returns {specified}; a kernel returns a number or nothing"
        )
    return {name: spec_of(hints[name]) for name in names}, specified
