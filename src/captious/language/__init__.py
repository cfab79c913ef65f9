"""Tags, lemmas, dependency trees and collapsed graphs of captions, by a small model of our own."""

from __future__ import annotations

from captious.language.parse_types import Edge, Parse, Sentence

__all__ = ["Edge", "Parse", "Sentence"]
