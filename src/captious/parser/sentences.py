"""Sentence splitting as CoreNLP does it. Sentences that are too long to parse are cut into pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

LIMIT = 100  # words; longer sentences are cut, so that time stays linear in the length of a text
_END = re.compile(r"\.|[!?]+")
_AFTER_END = re.compile(r"[)\]}»”’'\"]|''|-R[CRS]B-")
_CUT_AFTER = frozenset({",", ";", ":", "--", "-", "..."})
_CUT_BEFORE = frozenset({"and", "but", "while", "with", "as", "or"})


def terminators(tokens: Iterable[str]) -> frozenset[str]:
    """Return the tokens that end a sentence."""
    return frozenset(token for token in set(tokens) if token[:1] in ".!?" and _END.fullmatch(token))


def split(tokens: Sequence[str], ends: frozenset[str] | None = None) -> list[Sequence[str]]:
    """Split a tokenized text into sentences, after `.`, `!` or `?` and the brackets and quotes that follow.

    `ends` are the `terminators` among the tokens, if the caller has computed them for many texts at once.
    """
    ends = terminators(tokens) if ends is None else ends
    if ends.isdisjoint(tokens):
        return cut(tokens) if len(tokens) else []
    sentences: list[Sequence[str]] = []
    start = 0
    for i, token in enumerate(tokens):
        if i >= start and token in ends:
            end = i + 1
            while end < len(tokens) and _AFTER_END.fullmatch(tokens[end]):
                end += 1
            sentences.extend(cut(tokens[start:end]))
            start = end
    if start < len(tokens):
        sentences.extend(cut(tokens[start:]))
    return sentences


def cut(tokens: Sequence[str], limit: int = LIMIT) -> list[Sequence[str]]:
    """Cut a sentence into parts of at most `limit` words, at commas and conjunctions where possible."""
    if len(tokens) <= limit:
        return [tokens]
    parts: list[Sequence[str]] = []
    start = 0
    while len(tokens) - start > limit:
        end = limit
        for size in range(limit, limit // 2, -1):
            if tokens[start + size - 1] in _CUT_AFTER or tokens[start + size] in _CUT_BEFORE:
                end = size
                break
        parts.append(tokens[start : start + end])
        start += end
    parts.append(tokens[start:])
    return parts
