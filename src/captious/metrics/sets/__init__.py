"""Measures of the captions of one image."""
