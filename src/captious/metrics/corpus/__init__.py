"""Measures of a whole corpus of captions."""
