"""Collapsed graphs in plain Python on texts: the expected output of the kernels.

The steps, in order: join prepositions of several words; give conjoined prepositional phrases a copy of their
governor; move prepositions and conjunctions into the names of relations; copy the relations of a word to its
conjuncts. The result depends on the tree, the words and the tags alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from captious.parser.graph_codes import THREE_WORDS, TWO_WORDS_FLAT, TWO_WORDS_NESTED

# (governor, dependent, relation). Words count from 1, 0 is the root, x.5 is a copy of word x.
Edge = tuple[float, float, str]

# "is next to the tree" is a predicate and keeps its relation. In any other role such a phrase is a modifier.
_PREDICATES = frozenset({"root", "ccomp", "advcl", "acl:relcl", "parataxis"})
_MODIFIERS = ("nmod", "acl", "advcl")
_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass")


class _Tree:
    """A tree that is modified step by step. Words count from 1; index 0 is unused."""

    def __init__(
        self, forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
    ) -> None:
        self.words = ["", *(form.lower() for form in forms)]
        self.tags = ["", *tags]
        self.heads = [-1, *heads]
        self.relations = ["", *relations]

    def children(self, head: int, relation: str | None = None) -> list[int]:
        return [
            d
            for d in range(1, len(self.heads))
            if self.heads[d] == head and (relation is None or self.relations[d] == relation)
        ]

    def attach(self, dependent: int, head: int, relation: str) -> None:
        self.heads[dependent] = head
        self.relations[dependent] = relation

    def replace(self, old: int, new: int, relation: str) -> None:
        """Move `new`, a child of `old`, to the place of `old`, with its other children.

        The caller reattaches `old`.
        """
        head = self.heads[old]
        for child in self.children(old):
            if child != new:
                self.heads[child] = new
        self.attach(new, head, relation)


def _join_prepositions(tree: _Tree) -> None:
    n = len(tree.words) - 1
    words, heads, relations = tree.words, tree.heads, tree.relations
    for a in range(1, n):
        b, c = a + 1, a + 2
        if c <= n and (words[a], words[b], words[c]) in THREE_WORDS:
            noun = heads[c]
            if (
                heads[a] == b
                and relations[a] == "case"
                and relations[c] in ("case", "mark")
                and noun > 0
                and heads[noun] == b
                and relations[noun] in _MODIFIERS
            ):
                role = relations[noun] if relations[b] == "nmod" else relations[b]
                marker = relations[c]
                tree.replace(b, noun, role)
                tree.attach(a, noun, marker)
                tree.attach(b, a, "mwe")
                tree.attach(c, a, "mwe")
                continue
        pair = (words[a], words[b])
        if pair in TWO_WORDS_NESTED and relations[b] == "case":
            noun = heads[b]
            if noun > 0 and heads[noun] == a and relations[noun] == "nmod":
                tree.replace(a, noun, relations[a] if relations[a] in _PREDICATES else "nmod")
                tree.attach(a, noun, "case")
                tree.attach(b, a, "mwe")
                continue
        if (
            pair in TWO_WORDS_FLAT
            and relations[b] == "case"
            and heads[a] == heads[b]
            and relations[a] in ("advmod", "case", "dep")
        ):
            tree.attach(a, heads[b], "case")
            tree.attach(b, a, "mwe")


def _name(tree: _Tree, marker: int) -> str:
    """Return a preposition or conjunction with the other words of its expression."""
    name = "_".join(tree.words[part] for part in sorted([marker, *tree.children(marker, "mwe")]))
    return "and" if name == "as_well_as" else name


class _Graph:
    """The edges of a graph under construction. A copy of word x is the node x + 0.5."""

    def __init__(self, tree: _Tree) -> None:
        self.tree = tree
        self.edges: dict[tuple[float, float], str] = {}
        self.conjuncts: list[tuple[float, float]] = []
        markers: dict[int, list[int]] = {}
        joiners: dict[int, list[int]] = {}
        passive = set()
        self.subjects: dict[float, tuple[float, str]] = {}
        for d in range(1, len(tree.words)):
            head, relation = tree.heads[d], tree.relations[d]
            if relation == "case":
                markers.setdefault(head, []).append(d)
            elif relation == "cc":
                joiners.setdefault(head, []).append(d)
            elif relation == "auxpass":
                passive.add(head)
            elif relation in _SUBJECTS:
                self.subjects.setdefault(head, (d, relation))
        self.markers, self.joiners, self.passive = markers, joiners, passive

    def modifier(self, head: int, relation: str, marker: int) -> str:
        """Return the relation of a modifier with its preposition."""
        name = _name(self.tree, marker)
        if name == "by" and relation == "nmod" and head in self.passive:
            name = "agent"
        return f"{relation}:{name}"

    def add_tree(self) -> None:
        tree = self.tree
        for d in range(1, len(tree.words)):
            head, relation = tree.heads[d], tree.relations[d]
            if relation in _MODIFIERS and d in self.markers:
                markers = self.markers[d]
                if relation == "nmod" and head in self.passive:
                    markers = [m for m in markers if _name(tree, m) == "by"] or markers
                relation = self.modifier(head, relation, markers[-1])
            elif relation == "conj":
                name = self.conjunction(head, d)
                if name:
                    relation = f"conj:{name}"
                    self.conjuncts.append((head, d))
            self.edges[head, d] = relation

    def conjunction(self, head: int, conjunct: int) -> str:
        """Return the conjunction of a conjunct: the last one before it, otherwise the first after it."""
        joiners = self.joiners.get(head)
        if not joiners:
            return ""
        before = [j for j in joiners if j < conjunct]
        return _name(self.tree, before[-1] if before else joiners[0])

    def copy_governors(self) -> None:
        """Give each of several conjoined prepositional phrases a governor of its own, a copy of the word."""
        tree = self.tree
        for d in range(1, len(tree.words)):
            if tree.relations[d] != "conj":
                continue
            first = tree.heads[d]
            name = self.conjunction(first, d)
            if not name:
                continue
            head = tree.heads[first]
            if tree.relations[first] == "nmod" and first in self.markers and d in self.markers and head > 0:
                # "with a hat and with a cane"
                del self.edges[first, d]
                self.conjuncts.remove((first, d))
                for joiner in self.joiners[first]:
                    self.edges.pop((first, joiner), None)
                    self.edges[head, joiner] = "cc"
                self.edges[head + 0.5, d] = self.modifier(head, "nmod", self.markers[d][-1])
            elif (
                tree.relations[first] == "case"
                and tree.relations[head] in _MODIFIERS
                and tree.heads[head] > 0
            ):
                # "in and around the house"
                self.conjuncts.remove((first, d))
                governor = tree.heads[head]
                self.edges[governor + 0.5, head] = self.modifier(governor, tree.relations[head], d)
                head = governor
            else:
                continue
            if (head, head + 0.5) not in self.edges:
                self.edges[head, head + 0.5] = f"conj:{name}"
                self.conjuncts.append((head, head + 0.5))

    def propagate(self) -> None:
        """Copy the relations of a word, and the subject of a predicate, to its conjuncts."""
        into: dict[float, list[tuple[float, str]]] = {}
        for (governor, dependent), relation in self.edges.items():
            into.setdefault(dependent, []).append((governor, relation))
        for first, conjunct in self.conjuncts:
            for governor, relation in into[first]:
                if relation != "root" and governor != conjunct:
                    self.edges.setdefault((governor, conjunct), relation)
            tag = self.tree.tags[int(conjunct)]
            if first in self.subjects and conjunct not in self.subjects and tag.startswith(("VB", "JJ")):
                subject, relation = self.subjects[first]
                if relation == "nsubjpass" and tag in ("VB", "VBZ", "VBP", "JJ", "JJR", "JJS"):
                    relation = "nsubj"
                elif relation == "nsubj" and conjunct in self.passive:
                    relation = "nsubjpass"
                self.edges.setdefault((conjunct, subject), relation)


def collapse(
    forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> list[Edge]:
    """Return the collapsed, CC-processed edges of a sentence, ordered by dependent, then governor."""
    tree = _Tree(forms, tags, heads, relations)
    _join_prepositions(tree)
    graph = _Graph(tree)
    graph.add_tree()
    if graph.conjuncts:
        graph.copy_governors()
        graph.propagate()
    edges = [
        (float(governor), float(dependent), relation)
        for (governor, dependent), relation in graph.edges.items()
    ]
    edges.sort(key=lambda edge: (edge[1], edge[0]))
    return edges
