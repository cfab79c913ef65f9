"""Scores of derivations: sums of the scores of their rules and words."""

from __future__ import annotations

import numpy as np

from captious.parser.exact.pcfg import Floats, Ints
from captious.parser.exact.rule_arrays import Rules


class DerivationScores:
    """Scores of the derivations of a grammar, natural logarithms in double precision."""

    def __init__(self, rules: Rules) -> None:
        start, left, right, score, _ = rules.by_parent
        parents = np.repeat(np.arange(len(start) - 1), np.diff(start))
        self._binary = dict(zip(zip(parents.tolist(), left.tolist(), right.tolist()), score.tolist()))
        start, lowest, score, _ = rules.down
        highest = np.repeat(np.arange(len(start) - 1), np.diff(start))
        self._chains = dict(zip(zip(highest.tolist(), lowest.tolist()), score.tolist()))
        self._tag_numbers = {state: i for i, state in enumerate(rules.tag_states.tolist())}

    def score(self, derivation: Ints, words: Ints, table: Floats) -> float:
        """Return the score of a derivation, which lists states with their number of daughters.

        `words` are rows of `table`, which has the scores of words by tag.
        """
        steps: list[list[int]] = derivation.tolist()
        rows = iter(words.tolist())
        total = 0.0
        place = 0
        # States that wait for their second daughter: parent and first daughter.
        waiting: list[list[int]] = []
        while place < len(steps):
            highest, daughters = steps[place]
            if waiting and len(waiting[-1]) == 2:
                parent, first = waiting.pop()
                total += self._binary[parent, first, highest]
            elif waiting:
                waiting[-1].append(highest)
            state = highest
            while daughters == 1:
                place += 1
                state, daughters = steps[place]
            if state != highest:
                total += self._chains[highest, state]
            if daughters == 2:
                waiting.append([state])
            else:
                total += float(table[next(rows), self._tag_numbers[state]])
            place += 1
        return total
