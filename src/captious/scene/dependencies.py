"""The dependency graph of one sentence with numbered nodes."""

from __future__ import annotations

from typing import NamedTuple

from captious.parser import Edge, Sentence

# (governor, dependent, relation); words are numbered from 1, 0 is the root.
Arc = tuple[int, int, str]


class Dependencies(NamedTuple):
    """Words and arcs of a sentence.

    Index 0 of the lists is the root. Numbers above `words` are copies of words, which appear where a
    conjunction repeats a word that is written once.
    """

    words: int
    forms: list[str]
    tags: list[str]
    lemmas: list[str]
    arcs: list[Arc]

    @classmethod
    def of(cls, sentence: Sentence) -> Dependencies:
        """Return the collapsed graph of a parsed sentence, with all words in lower case."""
        forms = ["", *map(str.lower, sentence.forms)]
        tags = ["", *sentence.tags]
        lemmas = ["", *map(str.lower, sentence.lemmas)]
        words = len(forms) - 1
        return cls(words, forms, tags, lemmas, _number_copies(sentence.graph, forms, tags, lemmas))


def _number_copies(edges: list[Edge], *columns: list[str]) -> list[Arc]:
    """Give each copied word a number of its own, and a row of its own in the columns."""
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
