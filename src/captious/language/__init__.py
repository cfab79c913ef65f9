"""Tags, lemmas, dependency trees and collapsed graphs of captions, by a small model of our own."""

from __future__ import annotations

from captious.language.graph import Edge, collapse
from captious.language.parse_types import Parse, Sentence
from captious.language.parser import ParsedBatch, parse, parse_batch, parse_tokens
from captious.language.parsers import Parser, parses_of

__all__ = ["Edge", "Parse", "ParsedBatch", "Parser", "Sentence", "collapse", "parse", "parse_batch", "parse_tokens", "parses_of"]
