"""A caption grammar of our own, learned from CoreNLP's output, and the parser that searches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from captious.parser.grammar.grammar_parser import GrammarParser

__all__ = ["GrammarParser"]


def __getattr__(name: str) -> Any:
    if name == "GrammarParser":
        from captious.parser.grammar.grammar_parser import GrammarParser

        return GrammarParser
    raise AttributeError(name)
