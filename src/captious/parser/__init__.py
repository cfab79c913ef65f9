"""Part-of-speech tags, lemmas, dependency trees and collapsed dependency graphs of captions."""

from __future__ import annotations

from captious.parser.choice import Parser, parses_of
from captious.parser.dependency_graph import Edge, collapse
from captious.parser.fast_parser import ParsedBatch, parse, parse_batch, parse_tokens
from captious.parser.parsed_sentences import Parse, Sentence

__all__ = [
    "Edge",
    "Parse",
    "ParsedBatch",
    "Parser",
    "Sentence",
    "collapse",
    "parse",
    "parse_batch",
    "parse_tokens",
    "parses_of",
]
