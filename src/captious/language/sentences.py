"""From tokens to sentences: where CoreNLP's splitter ends them, and in pieces where they are too long to parse."""

from __future__ import annotations

import re
from collections.abc import Sequence

LIMIT = 100  # words; a longer sentence is cut, so that time stays linear in the length of a text
_END = re.compile(r"\.|[!?]+")
_AFTER_END = re.compile(r"[)\]}»”’'\"]|''|-R[CRS]B-")
_CUT_AFTER = frozenset({",", ";", ":", "--", "-", "..."})
_CUT_BEFORE = frozenset({"and", "but", "while", "with", "as", "or"})


def split(tokens: Sequence[str]) -> list[Sequence[str]]:
    """The sentences of a tokenised text: each ends with `.`, `!` or `?` and the brackets and quotes that follow."""
    sentences: list[Sequence[str]] = []
    start = 0
    for i, token in enumerate(tokens):
        # Most tokens are words, which a look at the first character tells.
        if token[:1] in ".!?" and _END.fullmatch(token):
            end = i + 1
            while end < len(tokens) and _AFTER_END.fullmatch(tokens[end]):
                end += 1
            if i >= start:
                sentences.extend(pieces(tokens[start:end]))
                start = end
    if start < len(tokens):
        sentences.extend(pieces(tokens[start:]))
    return sentences


def pieces(tokens: Sequence[str]) -> list[Sequence[str]]:
    """The sentence itself, or parts of at most `LIMIT` words, cut at commas and conjunctions where there are any."""
    if len(tokens) <= LIMIT:
        return [tokens]
    parts: list[Sequence[str]] = []
    start = 0
    while len(tokens) - start > LIMIT:
        cut = LIMIT
        for size in range(LIMIT, LIMIT // 2, -1):
            if tokens[start + size - 1] in _CUT_AFTER or tokens[start + size] in _CUT_BEFORE:
                cut = size
                break
        parts.append(tokens[start : start + cut])
        start += cut
    parts.append(tokens[start:])
    return parts
