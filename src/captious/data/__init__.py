"""Data that ships with the package."""

from __future__ import annotations

from pathlib import Path

from captious.core.errors import InputError, did_you_mean

_DEMO = Path(__file__).parent / "demo"


def demo_names() -> list[str]:
    """Return the names of the parts of the demo: captions of 60 imagined images.

    ``references`` (five per image, COCO annotations), the systems ``good``, ``generic`` and ``poor`` (one
    caption per image, COCO results), ``sampling`` (ten captions per image, JSON lines) and ``objects``
    (COCO classes per image).
    """
    return sorted(path.stem for path in _DEMO.glob("*.json*"))


def demo_path(name: str) -> Path:
    """Return the file of a part of the demo, such as ``demo_path("references")``."""
    for path in _DEMO.glob("*.json*"):
        if path.stem == name:
            return path
    hint = did_you_mean(name, demo_names())
    raise InputError(f"the demo has no part '{name}'; there are {', '.join(demo_names())}{hint}")
