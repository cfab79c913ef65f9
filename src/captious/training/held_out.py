"""Images that models are not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from captious.core.errors import InputError
from captious.io import read


def excluded_ids(captions: str | Path | None) -> set[str]:
    """Return the images of a file of captions that must not be learned from."""
    return set(read(captions, "references").ids) if captions is not None else set()


def hold_out_images(ids: Sequence[str], count: int, seed: int) -> list[str]:
    """Draw images for validation, in the order of ``ids``."""
    if count >= len(ids):
        raise InputError(
            f"{count:,} images cannot be held back for validation: there are {len(ids):,}; lower --validation"
        )
    picked = np.random.default_rng(seed).choice(len(ids), count, replace=False)
    return [ids[i] for i in sorted(picked.tolist())]
