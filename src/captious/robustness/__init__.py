"""Robustness of metrics: transformed captions (Cui et al. 2018) and distraction tasks (Hodosh & Hockenmaier 2016)."""

from __future__ import annotations

from captious.robustness.accuracy import DistractionAccuracy, distraction_accuracy
from captious.robustness.curves import STRENGTHS, TRANSFORMATIONS, RobustnessCurve, robustness_curves
from captious.robustness.distractions import TASKS, make_distractions

__all__ = [
    "STRENGTHS",
    "TASKS",
    "TRANSFORMATIONS",
    "DistractionAccuracy",
    "RobustnessCurve",
    "distraction_accuracy",
    "make_distractions",
    "robustness_curves",
]
