"""Run one reader on mutations of its file, and classify the outcomes."""

from __future__ import annotations

import contextlib
import hashlib
import io
import shutil
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from captious.core.errors import CaptiousError
from tests.fuzz.damage import mutated
from tests.fuzz.formats import Format

REFUSED, SAME, CHANGED, FAILED = "refused", "same", "changed", "failed"
#: Address space that a reader may use beyond that of the process before it.
_ROOM = 2 << 30


class Outcome(NamedTuple):
    """Result of one mutation."""

    number: int
    #: `REFUSED`, `SAME` or `CHANGED` content, or `FAILED`.
    kind: str
    seconds: float
    #: Message of the error, or the traceback of a failure.
    detail: str = ""


def digest_of(value: object) -> str:
    """Return a digest of nested content: texts, numbers, arrays, mappings and sequences."""
    state = hashlib.blake2b(digest_size=16)
    _update(state, value)
    return state.hexdigest()


def _update(state: Any, value: object) -> None:
    if isinstance(value, np.ndarray):
        state.update(repr((value.dtype.str, value.shape)).encode())
        state.update(np.ascontiguousarray(value).tobytes() if value.dtype != object else repr(value).encode())
    elif isinstance(value, str | bytes | int | float | bool | None):
        state.update(repr(value).encode("utf-8", "surrogatepass"))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _update(state, key)
            _update(state, item)
    else:
        state.update(b"(")
        for item in value:  # type: ignore[attr-defined]
            _update(state, item)
        state.update(b")")


def prepared(form: Format, folder: Path) -> tuple[Path, bytes, str]:
    """Write the sound file of a format. Return its path, its bytes and the digest of its content."""
    path = form.write(folder)
    return path, path.read_bytes(), digest_of(form.read(path))


def outcomes(form: Format, folder: Path, seed: int, first: int, last: int) -> Iterator[Outcome]:
    """Read mutations ``first`` to ``last`` of the file of a format."""
    sound = folder / "sound"
    sound.mkdir(exist_ok=True)
    path, content, expected = prepared(form, sound)
    for number in range(first, last):
        # A folder of its own, because some readers cache content by path.
        copy = folder / f"mutation {number}"
        shutil.copytree(sound, copy)
        (copy / path.name).write_bytes(mutated(content, seed, number))
        start = time.perf_counter()
        kind, detail = _read(form, copy / path.name, expected)
        yield Outcome(number, kind, time.perf_counter() - start, detail)
        shutil.rmtree(copy)


def _read(form: Format, path: Path, expected: str) -> tuple[str, str]:
    silent = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(silent):
            warnings.simplefilter("ignore")
            content = digest_of(form.read(path))
    except CaptiousError as error:
        message = str(error)
        if "\n" in message or len(message) > 2_000:
            return FAILED, f"a message of several lines or {len(message):,} characters: {message[:500]}"
        return REFUSED, message
    except Exception:
        return FAILED, traceback.format_exc()
    return (SAME if content == expected else CHANGED), ""


def limit_memory() -> None:
    """Refuse allocations that would take the process far beyond its present size."""
    import resource  # not on Windows

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + _ROOM
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def peak_megabytes() -> float:
    """Return the largest resident size of the process so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
