"""HTML report: a single self-contained page."""

from __future__ import annotations

from captious.reporting.document import Report, join_reports
from captious.reporting.make_report import report

__all__ = ["Report", "join_reports", "report"]
