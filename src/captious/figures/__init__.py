"""Figures drawn by matplotlib from scores."""
