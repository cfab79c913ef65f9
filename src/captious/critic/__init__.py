"""Critic that learns to tell human captions from a system's captions (Cui et al. 2018).

It needs PyTorch (``pip install 'captious[train]'``), which is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from captious.critic.system_judging import CriticOptions, CriticReport, judge_systems

__all__ = ["CriticOptions", "CriticReport", "judge_systems"]


def __getattr__(name: str) -> Any:
    """Load the public names on first use, so that the measure Critic is found quickly."""
    if name in __all__:
        from captious.critic import system_judging

        return getattr(system_judging, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
