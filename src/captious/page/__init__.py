"""The HTML report: one file with everything inside, for people to look at."""

from __future__ import annotations

from captious.page.making import report
from captious.page.output import Report

__all__ = ["Report", "report"]
