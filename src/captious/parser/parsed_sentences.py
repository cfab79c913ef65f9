"""Sentences: splitting of texts as CoreNLP does it, and parsed sentences with tags, lemmas and trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from captious.core.errors import InputError
from captious.parser.dependency_graph import Edge, collapse

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


@dataclass(slots=True)
class Sentence:
    """One parsed sentence: Penn tags, lemmas and a basic tree of Universal Dependencies v1.

    `heads` count words from 1; 0 is the root.
    """

    forms: list[str]
    tags: list[str]
    lemmas: list[str]
    heads: list[int]
    relations: list[str]
    _graph: list[Edge] | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def graph(self) -> list[Edge]:
        """Collapsed edges with conjunctions propagated, derived from the tree on first use."""
        if self._graph is None:
            self._graph = collapse(self.forms, self.tags, self.heads, self.relations)
        return self._graph

    @classmethod
    def from_dict(cls, row: Mapping[str, Any], *, keep_graph: bool = True) -> Sentence:
        """Build a sentence from a dictionary with `form`, `tag`, `lemma`, `basic` and optionally `cc`.

        With `keep_graph` the graph stored under `cc` is used; otherwise it is derived by rules.
        """
        forms = list(row["form"])
        heads = [0] * len(forms)
        relations = ["root"] * len(forms)
        for head, dependent, relation in row["basic"]:
            if not 1 <= dependent <= len(forms):
                raise InputError(
                    f"A basic edge names word {dependent} of a sentence with {len(forms)} words; "
                    "words count from 1."
                )
            heads[dependent - 1] = int(head)
            relations[dependent - 1] = str(relation)
        graph: list[Edge] | None = None
        if keep_graph and "cc" in row:
            graph = [
                (float(governor), float(dependent), str(relation))
                for governor, dependent, relation in row["cc"]
            ]
        return cls(forms, list(row["tag"]), list(row.get("lemma", ())), heads, relations, graph)

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as a dictionary that `from_dict` reads, with the graph."""
        return {
            "form": self.forms,
            "tag": self.tags,
            "lemma": self.lemmas,
            "basic": [[h, d, r] for d, (h, r) in enumerate(zip(self.heads, self.relations), start=1)],
            "cc": [list(edge) for edge in self.graph],
        }


# The sentences of one caption; an empty caption has none.
Parse = list[Sentence]
