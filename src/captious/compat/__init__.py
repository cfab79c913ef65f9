"""Interfaces of other tools: pycocoevalcap (here) and torchmetrics (`captious.compat.torchmetrics`).

:func:`install` lets unmodified code that imports pycocoevalcap run on captious.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

#: Modules that are imported on first use, and the other names, by module.
_MODULES = ("lightning", "pyciderevalcap", "torchmetrics")
_NAMES = {
    **dict.fromkeys(("install", "uninstall"), "stand_in"),
    "CiderD": "pyciderevalcap",
    "hf_metrics": "huggingface",
    **dict.fromkeys(
        (
            *("COCO", "Bleu", "BleuScorer", "COCOEvalCap", "Cider", "CiderScorer"),
            *("Meteor", "PTBTokenizer", "Rouge", "Spice"),
        ),
        "pycocoevalcap",
    ),
}

__all__ = list(_NAMES)


def evaluate_module() -> str:
    """Return the path of the module for the package evaluate: ``evaluate.load(evaluate_module())``."""
    return str(Path(__file__).with_name("evaluate_module") / "captious_score")


def __getattr__(name: str) -> Any:
    """Import modules on first use. The stand-in must not slow down the start of programs."""
    if name in _MODULES:
        return import_module(f"captious.compat.{name}")
    if name not in _NAMES:
        raise AttributeError(f"module 'captious.compat' has no attribute {name!r}")
    return getattr(import_module(f"captious.compat.{_NAMES[name]}"), name)
