"""Scores that the exact parser's grammar gives to trees, its own or others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from captious.parser.exact.exact_parser import ExactParser
from captious.parser.exact.pcfg import Floats
from captious.parser.exact.phrase_trees import Node

#: Scores of states.
Cell = dict[int, float]


class TreeScores:
    """Scores of plain trees: of the best derivation whose printed tree it is.

    The search is the parser's, restricted to the phrases and tags of the tree.
    """

    def __init__(self, parser: ExactParser) -> None:
        self._parser = parser
        rules = parser.rules
        self._labels = parser.labels
        start, left, right, score, _ = rules.by_parent
        size = len(self._labels)
        parents = np.repeat(np.arange(size), np.diff(start))
        #: Binary rules by left and then right daughter: parent and score.
        self._binary: dict[int, dict[int, list[tuple[int, float]]]] = {}
        for parent, one, other, value in zip(parents.tolist(), left.tolist(), right.tolist(), score.tolist()):
            self._binary.setdefault(one, {}).setdefault(other, []).append((parent, value))
        start, lowest, score, below = rules.down
        highest = np.repeat(np.arange(size), np.diff(start))
        #: Unary rules by daughter: parent and score. Chains of several rules are left out.
        self._unary: list[list[tuple[int, float]]] = [[] for _ in range(size)]
        for parent, child, value, middle in zip(
            highest.tolist(), lowest.tolist(), score.tolist(), below.tolist()
        ):
            if middle == child:
                self._unary[child].append((parent, value))
        self._tags: dict[str, list[tuple[int, int]]] = {}
        for i, state in enumerate(rules.tag_states.tolist()):
            self._tags.setdefault(self._labels[state], []).append((state, i))
        self._boundary = int(rules.tag_states[int(np.argmax(parser.lexicon.boundary))])
        self._goal = rules.goal

    def score(self, tokens: Sequence[str], tree: Node) -> float:
        """Return the score of a tree under ROOT, minus infinity if the grammar has no such tree."""
        table, [words] = self._parser._numbered([tokens])
        rows = iter([table[row] for row in words[:-1].tolist()])
        [top] = tree.children
        best = -np.inf
        for state, value in self._node(top, rows).items():
            for parent, score in self._binary.get(state, {}).get(self._boundary, ()):
                if parent == self._goal:
                    best = max(best, value + score)
        return best

    def _node(self, node: Node, rows: Iterator[Floats]) -> Cell:
        """Return the states that a node may have, with the score of the words below."""
        if node.word is not None:
            row = next(rows)
            return {state: float(row[i]) for state, i in self._tags.get(node.label, ()) if row[i] > -np.inf}
        children = [self._node(child, rows) for child in node.children]
        count = len(children)
        cells = {(i, i + 1): self._unfinished(child) for i, child in enumerate(children)}
        for width in range(2, count + 1):
            for i in range(count - width + 1):
                label = node.label if width == count else ""
                cells[i, i + width] = self._unfinished(self._joined(cells, i, i + width, label))
        whole = cells[0, count]
        # With one child, the phrase is built by a unary rule.
        result = {s: v for s, v in whole.items() if count > 1 and self._labels[s] == node.label}
        for state, value in whole.items():
            if count == 1 or not self._labels[state]:
                self._raise(result, state, value, node.label)
        return result

    def _joined(self, cells: dict[tuple[int, int], Cell], i: int, j: int, label: str) -> Cell:
        """Return unfinished states and those of `label` over the children from `i` to before `j`."""
        result: Cell = {}
        for k in range(i + 1, j):
            if k - i > 1 and j - k > 1:
                continue  # one of the two is a single child
            after = cells[k, j]
            for one, value in cells[i, k].items():
                partners = self._binary.get(one)
                if partners is None:
                    continue
                both = partners.keys() & after.keys()
                for other in both:
                    for parent, score in partners[other]:
                        if self._labels[parent] in ("", label):
                            total = value + after[other] + score
                            if total > result.get(parent, -np.inf):
                                result[parent] = total
        return result

    def _unfinished(self, cell: Cell) -> Cell:
        """Return states with the unfinished phrases that unary rules make of them."""
        result = dict(cell)
        waiting = list(cell)
        while waiting:
            state = waiting.pop()
            waiting += self._raise(result, state, result[state], "")
        return result

    def _raise(self, cell: Cell, state: int, value: float, label: str) -> list[int]:
        """Apply unary rules whose parents have a label, and return the parents whose score rose."""
        changed = []
        for parent, score in self._unary[state]:
            if self._labels[parent] == label and value + score > cell.get(parent, -np.inf):
                cell[parent] = value + score
                changed.append(parent)
        return changed
