"""Safe reading of untrusted NumPy archives: only arrays of the expected types, within the limits."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, printable
from captious.core.limits import CONTENT

_KINDS = "biuf"


def read_npz(content: bytes, name: str, what: str, kinds: str = _KINDS) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive by name.

    ``what`` names the expected content, ``kinds`` the dtype kinds.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            CONTENT.check(sum(member.file_size for member in members), name)
            if len({member.filename for member in members}) < len(members):
                raise ValueError("a part occurs twice")
            return {
                member.filename.removesuffix(".npy"): _array(archive.read(member), kinds)
                for member in members
            }
    except InputError:
        raise
    except (
        ValueError, KeyError, OSError, EOFError, MemoryError, OverflowError, RuntimeError,
        NotImplementedError, zipfile.BadZipFile, zlib.error,
    ) as error:  # fmt: skip
        reason = printable(str(error))[:200]
        raise InputError(f"{name}: {what} was expected, but the archive is damaged ({reason})") from None


def read_npy(data: bytes, name: str) -> NDArray[Any]:
    """Return the array of an ``.npy`` file."""
    try:
        return _array(data, _KINDS)
    except ValueError as error:
        reason = printable(str(error))[:200]
        raise InputError(f"{name}: not a NumPy array file of numbers, or a damaged one ({reason})") from None


def _array(data: bytes, kinds: str) -> NDArray[Any]:
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(
        version
    )
    if read is None:
        raise ValueError(f"an array of version {version}")
    try:
        shape, by_columns, dtype = read(stream)
    except Exception as error:  # the header is parsed as Python, so damage can raise many kinds of errors
        raise ValueError(f"an invalid header: {error}") from None
    size = math.prod(shape) * dtype.itemsize
    if dtype.kind not in kinds or any(side < 0 for side in shape) or size != len(data) - stream.tell():
        raise ValueError(f"an array of {dtype} with the shape {shape} in {len(data):,} bytes")
    flat = np.frombuffer(data, dtype, math.prod(shape), stream.tell())
    return flat.reshape(shape, order="F" if by_columns else "C")
