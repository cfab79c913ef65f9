"""Compare the kernels of two machines, bit for bit.

On the first machine, record calls of kernels while tests run. On the second, repeat the calls:

    python tools/replay_kernels.py record calls.pickle tests/metrics tests/scene ...
    python tools/replay_kernels.py replay calls.pickle

Relaxed kernels (`fastmath`) may differ by rounding, and are listed apart.
"""

from __future__ import annotations

import importlib
import pickle
import platform
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from captious.kernels import library

#: Calls to record per kernel, and the largest total size of their arrays in bytes.
CALLS, SIZE = 8, 30_000_000


class Call(NamedTuple):
    """A recorded call with flat lists of arguments.

    `aliases` has, for each argument, the place of the first array with the same memory.
    """

    module: str
    name: str
    shape: Any
    before: list[Any]
    after: list[Any]
    aliases: list[int]
    result: Any


def flat(argument: Any) -> list[Any]:
    """Return the parts of nested tuples."""
    return [part for item in argument for part in flat(item)] if isinstance(argument, tuple) else [argument]


def shape_of(argument: Any) -> Any:
    """Return the nesting of tuples, with None for every part."""
    return tuple(map(shape_of, argument)) if isinstance(argument, tuple) else None


def nested(shape: Any, parts: Any) -> Any:
    """Put the parts back into nested tuples."""
    return tuple(nested(item, parts) for item in shape) if isinstance(shape, tuple) else next(parts)


def copied(parts: list[Any]) -> list[Any]:
    """Copy arrays. They are plain arrays afterwards, even if they were mapped from a file."""
    return [np.array(part) if isinstance(part, np.ndarray) else part for part in parts]


def record(output: Path, tests: list[str]) -> None:
    """Run tests and save calls of kernels."""
    import pytest

    calls: list[Call] = []
    counts: Counter[str] = Counter()
    bind = library._bind

    def recording_bind(kernel: Any, function: Any) -> Any:
        call = bind(kernel, function)

        def run(*arguments: Any) -> Any:
            parts = flat(arguments)
            arrays = [part for part in parts if isinstance(part, np.ndarray)]
            if counts[kernel.symbol] >= CALLS or sum(array.nbytes for array in arrays) > SIZE:
                return call(*arguments)
            counts[kernel.symbol] += 1
            places = [
                (part.ctypes.data, part.nbytes) if isinstance(part, np.ndarray) else place
                for place, part in enumerate(parts)
            ]
            before = copied(parts)
            result = call(*arguments)
            aliases = [places.index(place) for place in places]
            calls.append(
                Call(
                    kernel.__module__,
                    kernel.__name__,
                    shape_of(arguments),
                    before,
                    copied(parts),
                    aliases,
                    result,
                )
            )
            return result

        return run

    library._bind = recording_bind
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests])
    output.write_bytes(pickle.dumps(calls, protocol=4))
    print(f"{platform.machine()}: recorded {len(calls)} calls of {len(counts)} kernels")


def replay(path: Path) -> bool:
    """Repeat recorded calls, print kernels with other bits, and return whether these are all relaxed."""
    calls: list[Call] = pickle.loads(path.read_bytes())
    kernels, different, relaxed = set(), Counter[str](), Counter[str]()
    for call in calls:
        kernel = getattr(importlib.import_module(call.module), call.name)
        if kernel.built is None:
            sys.exit("there is no library of kernels")
        parts = copied(call.before)
        for place, alias in enumerate(call.aliases):
            if alias != place:
                parts[place] = parts[alias].view(parts[place].dtype).reshape(parts[place].shape)
        result = kernel.built(*nested(call.shape, iter(parts)))
        pairs = [*zip(parts, call.after), (result, call.result)]
        kernels.add(kernel.symbol)
        if any(np.asarray(here).tobytes() != np.asarray(there).tobytes() for here, there in pairs):
            (relaxed if "fastmath" in kernel.options else different)[kernel.symbol] += 1
    print(f"{platform.machine()}: {len(calls)} calls of {len(kernels)} kernels")
    print(f"  different: {dict(different) or 'none'}\n  different, but relaxed: {dict(relaxed) or 'none'}")
    return not different


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"]:
        record(Path(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1:2] == ["replay"]:
        sys.exit(not replay(Path(sys.argv[2])))
    else:
        sys.exit(__doc__)
