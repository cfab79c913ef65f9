"""Robustness of metrics: transformed captions (Cui et al. 2018) and distraction tasks (Hodosh & Hockenmaier 2016)."""

from __future__ import annotations

from captious.io.judgements.distractions import TASKS, load_distractions
from captious.robustness.accuracy import DistractionAccuracy, distraction_accuracy
from captious.robustness.curves import STRENGTHS, TRANSFORMATIONS, RobustnessCurve, robustness_curves
from captious.robustness.distractions import make_distractions

__all__ = [
    "STRENGTHS",
    "TASKS",
    "TRANSFORMATIONS",
    "DistractionAccuracy",
    "RobustnessCurve",
    "distraction_accuracy",
    "load_distractions",
    "make_distractions",
    "robustness_curves",
]
