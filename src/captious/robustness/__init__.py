"""Robustness of metrics: transformed captions (Cui et al. 2018) and distraction tasks (Hodosh & Hockenmaier
2016).
"""

from __future__ import annotations

from captious.io.judgements.distraction_sets import TASKS, load_distractions
from captious.robustness.caption_changes import CaptionChanges, caption_changes
from captious.robustness.distractions import make_distractions
from captious.robustness.pairwise_accuracy import DistractionAccuracy, distraction_accuracy
from captious.robustness.robustness_curves import (
    STRENGTHS,
    TRANSFORMATIONS,
    RobustnessCurve,
    robustness_curves,
)
from captious.robustness.robustness_study import RobustnessReport, measure_robustness

__all__ = [
    "STRENGTHS",
    "TASKS",
    "TRANSFORMATIONS",
    "CaptionChanges",
    "DistractionAccuracy",
    "RobustnessCurve",
    "RobustnessReport",
    "caption_changes",
    "distraction_accuracy",
    "load_distractions",
    "make_distractions",
    "measure_robustness",
    "robustness_curves",
]
