"""Measures with one row of statistics per caption."""
