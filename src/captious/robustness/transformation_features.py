"""Image features from a file, to find the nearest images visually."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError


def read_features(path: str | Path) -> dict[str, NDArray[np.float64]]:
    """Read image id → vector from an ``.npz`` file with ``ids`` and ``features`` (one row per id)."""
    try:
        data = Path(path).read_bytes()
        # allow_pickle=False: no code from the file is executed.
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            ids, features = archive["ids"], np.asarray(archive["features"], dtype=np.float64)
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror or problem}") from None
    except Exception as problem:  # damaged archives raise many kinds of errors
        raise InputError(f"{path}: not an .npz file with 'ids' and 'features' ({problem})") from None
    if features.ndim != 2 or ids.ndim != 1 or len(ids) != len(features):
        raise InputError(
            f"{path}: {len(ids)} ids but features of shape {features.shape}; save one row of features per id"
        )
    if not np.all(np.isfinite(features)):
        raise InputError(f"{path}: the features contain NaN or infinite values; remove them")
    return {str(name): row for name, row in zip(ids.tolist(), features)}
