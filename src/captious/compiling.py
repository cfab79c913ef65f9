"""Compiling kernels with Numba: compiled code is kept on disk with a checksum, and work goes on where it cannot be kept."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

from captious.cache import warn_once

_SUM = 16


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The Numba form of a function: compiled on first use, cached on disk where there is a place for it."""
    import numba

    dispatcher = numba.njit(**options)(function)
    try:
        dispatcher.enable_caching()
    except (RuntimeError, OSError) as error:
        _unkept(str(error))
        return dispatcher  # type: ignore[no-any-return]
    kept = dispatcher._cache._cache_file
    # Where another version of Numba keeps its code in another way, its own way is good enough.
    if type(kept).__name__ == "IndexDataCacheFile":
        dispatcher._cache._cache_file = _checked_file()(kept._cache_path, kept._index_name[: -len(".nbi")], kept._source_stamp)
    return dispatcher  # type: ignore[no-any-return]


def _unkept(why: str) -> None:
    warn_once(
        f"compiled code cannot be kept ({why}), so it is compiled again in each run, which takes seconds to a minute; "
        "set NUMBA_CACHE_DIR to a folder that can be written",
        # The reason names the function, and there are dozens of them.
        topic="compiled code",
    )


@cache
def _checked_file() -> Any:
    from numba.core.caching import IndexDataCacheFile
    from numba.core.serialize import dumps

    class CheckedFile(IndexDataCacheFile):  # type: ignore[misc,unused-ignore]
        """Numba trusts what it finds; damaged machine code ends the process. Here it has a checksum, or is made again."""

        def _load_index(self) -> dict[Any, str]:
            try:
                # When the source was written is of no account: the name of a kernel has the digest of its code in it.
                _, overloads = pickle.loads(self._checked(self._index_path))
            except (OSError, ValueError, EOFError, pickle.UnpicklingError):
                return {}
            return overloads  # type: ignore[no-any-return]

        def _save_index(self, overloads: dict[Any, str]) -> None:
            self._write(self._index_path, dumps((self._source_stamp, overloads)))

        def _load_data(self, name: str) -> Any:
            # Numba compiles anew where the file is missing.
            return pickle.loads(self._checked(self._data_path(name)))

        def _save_data(self, name: str, data: Any) -> None:
            self._write(self._data_path(name), dumps(data))

        def save(self, key: Any, data: Any) -> None:
            try:
                super().save(key, data)
            except OSError as error:
                _unkept(str(error))

        def _sum(self, data: bytes) -> bytes:
            return hashlib.blake2b(self._version.encode() + data, digest_size=_SUM).digest()

        def _write(self, path: str, data: bytes) -> None:
            with self._open_for_write(path) as out:
                out.write(self._sum(data) + data)

        def _checked(self, path: str) -> bytes:
            with open(path, "rb") as stored:  # noqa: PTH123 - Numba's paths are text
                content = stored.read()
            if self._sum(content[_SUM:]) != content[:_SUM]:
                raise OSError(f"{path} is damaged")
            return content[_SUM:]

    return CheckedFile
