"""CoreNLP's analyses by an exact search over its grammar, read from the user's copy of its models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from captious.parser.exact.exact_parser import ExactParser
    from captious.parser.exact.pcfg import find_grammar

__all__ = ["ExactParser", "find_grammar"]


def __getattr__(name: str) -> Any:
    if name == "ExactParser":
        from captious.parser.exact.exact_parser import ExactParser

        return ExactParser
    if name == "find_grammar":
        from captious.parser.exact.pcfg import find_grammar

        return find_grammar
    raise AttributeError(name)
