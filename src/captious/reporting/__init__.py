"""HTML report: a single self-contained page."""

from __future__ import annotations

from captious.reporting.document import Report
from captious.reporting.make_report import report

__all__ = ["Report", "report"]
