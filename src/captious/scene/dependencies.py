"""A sentence as a graph of numbered words, in the shape the rules walk over."""

from __future__ import annotations

from typing import NamedTuple

from captious.language import Edge, Sentence

#: Tags of nouns.
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
#: Tags of singular and of plural nouns.
SINGULAR = frozenset({"NN", "NNP"})
PLURAL = frozenset({"NNS", "NNPS"})

# (governor, dependent, relation), words numbered from 1, 0 the root.
Arc = tuple[int, int, str]
# For every node its outgoing arcs as (relation, dependent).
Children = list[list[tuple[str, int]]]


def place(node: int) -> int:
    """The order in which the reference meets the neighbours of a word: that of a hash table with sixteen buckets. It
    matters where only the first of several counts, and where it is not the order of the sentence."""
    return node & 15


class Dependencies(NamedTuple):
    """Words and arcs. Index 0 of the lists is the root; numbers above ``words`` are copies of words, which appear
    where a conjunction repeats a word that is written once."""

    words: int
    forms: list[str]
    tags: list[str]
    lemmas: list[str]
    arcs: list[Arc]

    @classmethod
    def of(cls, sentence: Sentence) -> Dependencies:
        """The collapsed graph of a parsed sentence; all words in lower case."""
        forms = [""]
        forms += map(str.lower, sentence.forms)
        tags = ["", *sentence.tags]
        lemmas = [""]
        lemmas += map(str.lower, sentence.lemmas)
        words = len(forms) - 1
        edges = sentence.graph
        arcs = [(int(g), int(d), relation) for g, d, relation in edges]
        if arcs != edges:
            arcs = _with_copies(edges, forms, tags, lemmas)
        return cls(words, forms, tags, lemmas, arcs)

    def children(self) -> Children:
        """For every node its outgoing arcs."""
        table: Children = [[] for _ in self.forms]
        for governor, dependent, relation in self.arcs:
            table[governor].append((relation, dependent))
        return table


def _with_copies(edges: list[Edge], *columns: list[str]) -> list[Arc]:
    """Arcs where each copied word has a number of its own, and a row of its own in the columns."""
    copies: dict[float, int] = {}

    def number(end: float) -> int:
        if end % 1 == 0:
            return int(end)
        if end not in copies:
            copies[end] = len(columns[0])
            for column in columns:
                column.append(column[int(end)])
        return copies[end]

    return [(number(governor), number(dependent), relation) for governor, dependent, relation in edges]
