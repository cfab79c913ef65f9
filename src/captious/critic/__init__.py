"""Critic that learns to tell human captions from a system's captions (Cui et al. 2018).

It needs PyTorch (``pip install 'captious[train]'``), which is imported on first use.
"""

from __future__ import annotations

from captious.critic.system_judging import CriticOptions, CriticReport, judge_systems

__all__ = ["CriticOptions", "CriticReport", "judge_systems"]
