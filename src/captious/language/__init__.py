"""Tags, lemmas, dependency trees and collapsed graphs of captions, by a small model of our own."""

from __future__ import annotations

from captious.language.graph import collapse
from captious.language.model import parser_name
from captious.language.parse_types import Edge, Parse, Sentence
from captious.language.parser import ParsedBatch, parse, parse_batch, parse_tokens, parses_of

__all__ = ["Edge", "Parse", "ParsedBatch", "Sentence", "collapse", "parse", "parse_batch", "parse_tokens", "parser_name", "parses_of"]
