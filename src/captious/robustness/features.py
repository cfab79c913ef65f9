"""Features of images from a file, for nearest images by sight."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError


def read_features(path: str | Path) -> dict[str, NDArray[np.float64]]:
    """Image id → vector, from an ``.npz`` file with ``ids`` (one for each image) and ``features`` (one row for each)."""
    try:
        data = Path(path).read_bytes()
        # Nothing in the file is run: arrays of Python objects are refused.
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            ids, features = held["ids"], np.asarray(held["features"], dtype=np.float64)
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror or problem}") from None
    except Exception as problem:  # whatever a damaged archive leads to
        raise InputError(f"{path}: not an .npz file with 'ids' and 'features' ({problem})") from None
    if features.ndim != 2 or ids.ndim != 1 or len(ids) != len(features):
        raise InputError(f"{path}: {len(ids)} ids and features of shape {features.shape}; there must be one row for each id")
    if not np.all(np.isfinite(features)):
        raise InputError(f"{path}: the features are not all finite numbers")
    return {str(name): row for name, row in zip(ids.tolist(), features)}
