"""How diverse captions are: the sets of one image (:mod:`~captious.diversity.sets`), and whole corpora.

The package is also a function: ``captious.diversity(corpus)`` and
``from captious.diversity import human, best, latent_space`` both work.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

#: All of them from :mod:`captious.diversity.sets`, on first use.
__all__ = [
    "Agreement",
    "CaptionKernel",
    "SetDiversity",
    "SetMeasure",
    "agreement",
    "best",
    "caption_map",
    "f_measure",
    "human",
    "latent_space",
    "mds",
]


class _CallableModule(ModuleType):
    """A module that can be called: a function and a package share the name ``captious.diversity``."""

    def __call__(self, source: Any, **options: Any) -> Any:
        """See :func:`captious.diversity.sets.diversity`."""
        from captious.diversity.sets import diversity as measure

        return measure(source, **options)


def __getattr__(name: str) -> Any:
    if name == "diversity":
        # What ``captious.__getattr__`` asks for: this very module.
        return sys.modules[__name__]
    if name in __all__:
        return getattr(import_module("captious.diversity.sets"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "corpus", "sets"})


sys.modules[__name__].__class__ = _CallableModule
