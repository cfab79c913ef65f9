"""Agreement of metrics with people: sets of judgements, protocols, coefficients, error bars and tests."""

from __future__ import annotations

from captious.agreement.agreement_report import AgreementReport, measure_agreement
from captious.agreement.agreement_scores import (
    HumanAgreement,
    MetricComparison,
    agreement,
    compare_metrics,
    measure,
)
from captious.agreement.study import METRICS, Study
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
    "AgreementReport",
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
    "measure_agreement",
]
