"""Figures drawn by matplotlib. Uses scores, never metrics."""
