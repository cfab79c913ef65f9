"""Showing results: figures and the HTML report. Uses scores, never metrics."""
