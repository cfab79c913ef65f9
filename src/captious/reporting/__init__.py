"""HTML report: a single self-contained page."""

from __future__ import annotations

from captious.reporting.make_report import report
from captious.reporting.report_file import Report

__all__ = ["Report", "report"]
