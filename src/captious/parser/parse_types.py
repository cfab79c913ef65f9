"""Parsed captions: sentences with tags, lemmas and dependency trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from captious.core.errors import InputError
from captious.parser.dependency_graph import Edge, collapse


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
