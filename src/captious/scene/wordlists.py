"""Word lists, written as text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
