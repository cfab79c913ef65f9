"""Safe reading of tables of n-grams from pickles.

A pickle is a program for a small stack machine. First a kernel checks the program, with kinds in place of
values. It accepts texts, numbers, flat tuples of them, dictionaries with such tuples as keys, and the few
objects that NumPy's numbers and ``collections`` need. Then Python's own unpickler runs the program, with
harmless replacements of those objects. The first step also protects the second from programs that never
end: hashing deeply nested tuples takes exponential time.
"""

from __future__ import annotations

import io
import pickle
import re
from typing import Any

import numpy as np

from captious.core.errors import InputError
from captious.kernels import inner, kernel
from captious.kernels.types import Int8, Int64, Out, UInt8


class _Plain(dict[Any, Any]):
    """Replacement of collections.defaultdict: a dictionary without a default factory."""

    __slots__ = ()

    def __init__(self, *arguments: object) -> None:
        super().__init__(arguments[0] if arguments and isinstance(arguments[0], dict) else ())

    def __setstate__(self, state: object) -> None:
        """Ignore attributes."""


class _Kind:
    """Replacement of numpy.dtype that holds only the code."""

    __slots__ = ("code",)

    def __init__(self, code: str, *_: object) -> None:
        self.code = str(code)

    def __setstate__(self, state: object) -> None:
        """Ignore byte order and the like: these files hold little-endian numbers."""


_CODE = re.compile(r"[<|=]?([fiu][1248])")


def _scalar(kind: _Kind, data: bytes | str = b"") -> float | int:
    """Return a NumPy scalar from its bytes, without NumPy's own unpickling."""
    raw = data.encode("latin-1") if isinstance(data, str) else data
    code = _CODE.fullmatch(kind.code)
    if code is None or len(raw) != int(code[1][1:]):
        raise pickle.UnpicklingError(f"a number of kind {kind.code[:20]!r}")
    return np.frombuffer(raw, dtype=np.dtype("<" + code[1]), count=1)[0].item()


def _as_bytes(text: str, encoding: str = "latin1") -> bytes:
    """Return bytes that an older pickle holds as text in Latin-1."""
    return text.encode("latin-1")


def _number(_: object = 0) -> int:
    """Replacement of float and int, which only occur as default factories of dictionaries."""
    return 0


def _replacements() -> dict[tuple[str, str], Any]:
    by_name: dict[tuple[str, str], Any] = {
        ("collections", "defaultdict"): _Plain,
        ("collections", "OrderedDict"): _Plain,
        ("collections", "Counter"): _Plain,
        ("_codecs", "encode"): _as_bytes,
        ("numpy", "dtype"): _Kind,
        ("numpy.core.multiarray", "scalar"): _scalar,
        ("numpy._core.multiarray", "scalar"): _scalar,
    }
    for module in ("builtins", "__builtin__"):
        by_name |= {(module, "float"): _number, (module, "int"): _number, (module, "dict"): _Plain}
    return by_name


_REPLACEMENTS = _replacements()


class _RestrictedUnpickler(pickle.Unpickler):
    """Unpickler of dictionaries, tuples, strings and numbers. It refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _REPLACEMENTS[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}") from None


def load(content: bytes, name: str, how: str) -> Any:
    """Return the value of a pickle that holds a table. ``how`` ends messages: how else to get a table."""
    try:
        problem = find_problem(content)
        if problem:
            raise pickle.UnpicklingError(problem)
        # Python 2 wrote most published tables. Its words are bytes, and so are NumPy's numbers, which need
        # not be UTF-8.
        try:
            return _RestrictedUnpickler(io.BytesIO(content), encoding="utf-8").load()
        except UnicodeDecodeError:
            return _RestrictedUnpickler(io.BytesIO(content), encoding="latin-1").load()
    except Exception as error:
        raise InputError(
            f"{name}: a pickle that was not loaded: {str(error)[:200]}. Only tables of n-grams and numbers "
            "are read, because "
            f"a pickle can run any code; {how}"
        ) from None


# Check of the program -----------------------------------------------------------------------------

#: Kinds of values on the stack. A tuple of simple values can be a key. A deeper one can only be an argument
#: of NumPy's constructors.
_SIMPLE, _TUPLE, _DEEP, _NAMED, _OBJECT, _MARK = 0, 1, 2, 3, 4, 5

#: Layout of an operation: the number of bytes that follow it, or one of these kinds of length.
_LINE, _TWO_LINES, _SIZE1, _SIZE4, _SIZE8 = 100, 101, 102, 103, 104
#: Actions of operations.
(
    _PUSH, _DROP, _MARKS, _DROP_MARK, _TUPLE_MARK, _TUPLES, _EMPTY_TUPLE, _DICT, _DICT_MARK, _SET_ITEM,
    _SET_ITEMS, _NAME,
    _NAME_STACK, _REDUCE, _BUILD, _PUT_BYTE, _PUT_LONG, _PUT_LINE, _MEMOIZE, _GET_BYTE, _GET_LONG, _GET_LINE,
    _SKIP, _STOP,
) = range(1, 25)  # fmt: skip


def _operations() -> tuple[Any, Any]:
    layout, action = np.zeros(256, np.int64), np.zeros(256, np.int64)
    for letters, arguments, effect in (
        ("N\x88\x89)", 0, _PUSH), ("K", 1, _PUSH), ("M", 2, _PUSH), ("J", 4, _PUSH), ("G", 8, _PUSH),
        ("IFLSV", _LINE, _PUSH), ("U\x8cC\x8a", _SIZE1, _PUSH), ("XTB\x8b", _SIZE4, _PUSH),
        ("\x8d\x8e", _SIZE8, _PUSH),
        ("0", 0, _DROP), ("(", 0, _MARKS), ("1", 0, _DROP_MARK), ("t", 0, _TUPLE_MARK),
        ("\x85\x86\x87", 0, _TUPLES),
        (")", 0, _EMPTY_TUPLE), ("}", 0, _DICT), ("d", 0, _DICT_MARK), ("s", 0, _SET_ITEM),
        ("u", 0, _SET_ITEMS),
        ("c", _TWO_LINES, _NAME), ("\x93", 0, _NAME_STACK), ("R", 0, _REDUCE), ("b", 0, _BUILD),
        ("q", 1, _PUT_BYTE),
        ("r", 4, _PUT_LONG), ("p", _LINE, _PUT_LINE), ("\x94", 0, _MEMOIZE), ("h", 1, _GET_BYTE),
        ("j", 4, _GET_LONG),
        ("g", _LINE, _GET_LINE), ("\x80", 1, _SKIP), ("\x95", 8, _SKIP), (".", 0, _STOP),
    ):  # fmt: skip
        for letter in letters:
            layout[ord(letter)], action[ord(letter)] = arguments, effect
    return layout, action


_LAYOUT, _ACTION = _operations()


@inner
def _little_endian(data: UInt8, low: int, high: int) -> int:
    value = 0
    for i in range(high - 1, low - 1, -1):
        value = value * 256 + int(data[i])
    return value


@inner
def _decimal(data: UInt8, low: int, high: int) -> int:
    value = 0
    for i in range(low, min(high, low + 12)):
        if 48 <= data[i] <= 57:
            value = value * 10 + int(data[i]) - 48
    return value


@kernel
def _check_program(data: UInt8, layout: Int64, action: Int64, stack: Out[Int8], memo: Out[Int8]) -> int:
    """Run the program on kinds of values.

    Return 0 if it only does what tables need, else 1 + the index of the first operation that does not.
    """
    at, top, size, memoized = 0, 0, len(data), 0
    while at < size:
        operation = int(data[at])
        place = at
        effect, argument = action[operation], layout[operation]
        at += 1
        low = at
        if argument < _LINE:
            at += argument
        elif argument in (_LINE, _TWO_LINES):
            for _ in range(1 + argument - _LINE):
                while at < size and data[at] != 10:
                    at += 1
                at += 1
        else:
            width = 1 if argument == _SIZE1 else 4 if argument == _SIZE4 else 8
            if low + width > size:
                return place + 1
            length = _little_endian(data, low, low + width)
            if length < 0 or length > size:
                return place + 1
            at += width + length
        if at > size or effect == 0 or top + 1 >= len(stack):
            return place + 1
        if effect == _PUSH:
            stack[top] = _SIMPLE
            top += 1
        elif effect in (_DROP, _DROP_MARK):
            if top < 1:
                return place + 1
            top -= 1
            while effect == _DROP_MARK and top > 0 and stack[top] != _MARK:
                top -= 1
        elif effect == _MARKS:
            stack[top] = _MARK
            top += 1
        elif effect in (_TUPLE_MARK, _TUPLES):
            start = top
            if effect == _TUPLES:
                start = top - (operation - 0x84)
            else:
                while start > 0 and stack[start - 1] != _MARK:
                    start -= 1
                if start < 1:
                    return place + 1
            if start < 0:
                return place + 1
            result = _TUPLE
            for k in range(start, top):
                if stack[k] == _MARK:
                    return place + 1
                if stack[k] != _SIMPLE:
                    # Arguments of NumPy's constructors hold types and empty tuples. They are never keys.
                    result = _DEEP
                if stack[k] == _DEEP:
                    return place + 1
            top = start if effect == _TUPLES else start - 1
            stack[top] = result
            top += 1
        elif effect == _EMPTY_TUPLE:
            stack[top] = _TUPLE
            top += 1
        elif effect == _DICT:
            stack[top] = _OBJECT
            top += 1
        elif effect in (_DICT_MARK, _SET_ITEMS):
            start = top
            while start > 0 and stack[start - 1] != _MARK:
                start -= 1
            if start < 1 or (top - start) % 2:
                return place + 1
            for k in range(start, top, 2):
                if stack[k] > _TUPLE:
                    return place + 1
            top = start - 1
            if effect == _DICT_MARK:
                stack[top] = _OBJECT
                top += 1
            elif top < 1 or stack[top - 1] != _OBJECT:
                return place + 1
        elif effect == _SET_ITEM:
            if top < 3 or stack[top - 2] > _TUPLE or stack[top - 1] == _MARK or stack[top - 3] != _OBJECT:
                return place + 1
            top -= 2
        elif effect == _NAME:
            stack[top] = _NAMED
            top += 1
        elif effect == _NAME_STACK:
            if top < 2 or stack[top - 1] != _SIMPLE or stack[top - 2] != _SIMPLE:
                return place + 1
            top -= 1
            stack[top - 1] = _NAMED
        elif effect == _REDUCE:
            if top < 2 or stack[top - 2] != _NAMED or (stack[top - 1] != _TUPLE and stack[top - 1] != _DEEP):
                return place + 1
            top -= 1
            stack[top - 1] = _OBJECT
        elif effect == _BUILD:
            if top < 2 or stack[top - 2] != _OBJECT or stack[top - 1] == _MARK:
                return place + 1
            top -= 1
        elif effect <= _MEMOIZE:
            number = memoized
            if effect in (_PUT_BYTE, _PUT_LONG):
                number = _little_endian(data, low, at)
            elif effect == _PUT_LINE:
                number = _decimal(data, low, at)
            if top < 1 or stack[top - 1] == _MARK or number >= len(memo):
                return place + 1
            memo[number] = 1 + stack[top - 1]
            memoized += 1
        elif effect <= _GET_LINE:
            number = _decimal(data, low, at) if effect == _GET_LINE else _little_endian(data, low, at)
            if number >= len(memo) or memo[number] == 0:
                return place + 1
            stack[top] = memo[number] - 1
            top += 1
        elif effect == _STOP:
            return 0
    return size + 1


def find_problem(content: bytes) -> str:
    """Describe the first operation of a pickle that no table of n-grams needs, or return an empty text."""
    data = np.frombuffer(content, np.uint8)
    # Each item on the stack or in the memo takes at least a byte of the program.
    room = len(data) + 16
    stopped = _check_program(data, _LAYOUT, _ACTION, np.zeros(room, np.int8), np.zeros(room, np.int8))
    if not stopped:
        return ""
    place = int(stopped) - 1
    if place >= len(data):
        return "it ends too early"
    operation = bytes(data[place : place + 1])
    return f"at byte {place:,} it does something that no table of n-grams needs (operation {operation!r})"
