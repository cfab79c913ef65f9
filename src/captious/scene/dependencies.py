"""A sentence as a graph of numbered words, in the shape the rules walk over."""

from __future__ import annotations

from typing import NamedTuple

from captious.language import Sentence

#: Tags of nouns.
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
#: Tags of singular and of plural nouns.
SINGULAR = frozenset({"NN", "NNP"})
PLURAL = frozenset({"NNS", "NNPS"})

# (governor, dependent, relation), words numbered from 1, 0 the root.
Arc = tuple[int, int, str]


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
        copies: dict[float, int] = {}
        arcs: list[Arc] = []
        for governor, dependent, relation in sentence.graph:
            ends = []
            for place in (governor, dependent):
                node = int(place)
                if node != place:
                    if place not in copies:
                        copies[place] = len(forms)
                        forms.append(forms[node])
                        tags.append(tags[node])
                        lemmas.append(lemmas[node])
                    node = copies[place]
                ends.append(node)
            arcs.append((ends[0], ends[1], relation))
        return cls(words, forms, tags, lemmas, arcs)

    def children(self) -> list[list[tuple[str, int]]]:
        """For every node its outgoing arcs as (relation, dependent)."""
        table: list[list[tuple[str, int]]] = [[] for _ in self.forms]
        for governor, dependent, relation in self.arcs:
            table[governor].append((relation, dependent))
        return table
