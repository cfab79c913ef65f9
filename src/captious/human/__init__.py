"""Agreement of metrics with people: sets of judgements, protocols, coefficients, error bars and tests."""

from __future__ import annotations

from captious.human.agreement import HumanAgreement, MetricComparison, agreement, compare_metrics, measure
from captious.human.study import METRICS, Study
from captious.io.judgements import (
    SETS,
    CaptionPairs,
    Protocol,
    RatedCaptions,
    RatedSystems,
    find_judgements,
    load_judgements,
)

__all__ = [
    "METRICS",
    "SETS",
    "CaptionPairs",
    "HumanAgreement",
    "MetricComparison",
    "Protocol",
    "RatedCaptions",
    "RatedSystems",
    "Study",
    "agreement",
    "compare_metrics",
    "find_judgements",
    "load_judgements",
    "measure",
]
