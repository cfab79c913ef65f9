"""Rules whose scores change during training: the search's arrays, refreshed without arranging them again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.parser.exact.pcfg import Floats, Grammar, Ints
from captious.parser.exact.rule_arrays import Rules, arrange

Integers = NDArray[np.int64]


class RuleScores:
    """Arrays of the search for a fixed set of rules.

    `number` maps states of the grammar to the search's numbers.
    """

    def __init__(self, grammar: Grammar) -> None:
        places: Floats = np.arange(len(grammar.binary), dtype=np.float32)
        unary: Floats = np.full(len(grammar.unary), -1, np.float32)
        self.rules: Rules = arrange(
            Grammar(
                **{**vars(grammar), "binary_scores": places, "unary_scores": unary},
            )
        )
        rules = self.rules
        index = {name: i for i, name in enumerate(rules.names)}
        self.number: Ints = np.array([index[name] for name in grammar.states], np.int32)
        self._right = rules.right[4].astype(np.int64)
        self._left = rules.left[4].astype(np.int64)
        self._by_parent = rules.by_parent[3].astype(np.int64)
        self._parents = np.flatnonzero(np.diff(rules.by_parent[0]) > 0)
        self._chains(self.number[grammar.unary])

    def _chains(self, unary: Ints) -> None:
        """Prepare the combinations of unary chains and rules on top of them."""
        start, lowest, _, _ = self.rules.down
        size = len(self.rules.names)
        highest = np.repeat(np.arange(size), np.diff(start))
        pair = {key: i for i, key in enumerate(zip(highest.tolist(), lowest.tolist()))}
        by_highest: dict[int, list[int]] = {}
        for i, state in enumerate(highest.tolist()):
            by_highest.setdefault(state, []).append(i)
        rows: list[tuple[int, int, int, int]] = []  # target, chain below (-1: none), rule, state below
        for rule, (parent, child) in enumerate(unary.tolist()):
            rows.append((pair[parent, child], -1, rule, child))
            for below in by_highest.get(child, ()):
                if parent != lowest[below]:
                    rows.append((pair[parent, int(lowest[below])], below, rule, child))
        table = np.array(sorted(rows), np.int64).reshape(-1, 4)
        self._target, self._chain, self._rule, self._child = table.T
        self._first = np.flatnonzero(np.diff(self._target, prepend=-1))
        up_start, up_parent, _ = self.rules.up
        up_lowest = np.repeat(np.arange(size), np.diff(up_start))
        self._up = np.array(
            [pair[key] for key in zip(up_parent.tolist(), up_lowest.tolist())], np.int64
        ).reshape(-1)

    def refresh(self, binary: Floats, unary: Floats) -> Rules:
        """Return the rules with other scores, in the order of the grammar. Unary scores are at most 0."""
        rules = self.rules
        rules.right = (*rules.right[:4], binary[self._right])
        rules.left = (*rules.left[:4], binary[self._left])
        scores = binary[self._by_parent]
        largest: Floats = np.full(len(rules.names), -np.inf, np.float32)
        if len(scores):
            largest[self._parents] = np.maximum.reduceat(scores, rules.by_parent[0][self._parents])
        rules.by_parent = (*rules.by_parent[:3], scores, largest)
        if len(self._first):
            chains, below = self._best_chains(unary)
            rules.down = (*rules.down[:2], chains, below)
            rules.up = (*rules.up[:2], chains[self._up])
        return rules

    def _best_chains(self, unary: Floats) -> tuple[Floats, Ints]:
        chains: Floats = np.full(len(self._first) + 1, -np.inf, np.float32)
        chains[-1] = 0  # the empty chain
        while True:
            candidates = unary[self._rule] + chains[self._chain]
            best = np.maximum.reduceat(candidates, self._first)
            if (best == chains[:-1]).all():
                break
            chains[:-1] = best
        is_best = candidates == np.repeat(best, np.diff(self._first, append=len(candidates)))
        chosen = np.flatnonzero(is_best)
        _, places = np.unique(self._target[chosen], return_index=True)
        return chains[:-1].copy(), self._child[chosen[places]].astype(np.int32)
