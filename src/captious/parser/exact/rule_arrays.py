"""The grammar's rules in the order and grouping that the search needs.

Phrases of many daughters are built one daughter at a time, from the head outwards: every binary rule joins a
phrase or tag with an unfinished phrase (a state whose name begins with @). The search iterates over
unfinished phrases and looks the others up, so states are renumbered: phrases, then tags, then unfinished
phrases, grouped by the phrase they become.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.parser.exact.pcfg import START, Floats, Grammar, Ints

Shorts = NDArray[np.int16]
Group = tuple[Ints, Ints, Shorts, Shorts, Floats]
MAX_STATES = 1 << 15  # their numbers are stored in 16 bits


@dataclass
class Rules:
    """Rules by state, as slices of flat arrays: those of state s are `start[s]` to `start[s + 1]`."""

    names: list[str]
    looked_up: int  # states below this number are looked up
    phrases: int  # states below this number occur over several words
    goal: int
    tag_states: Ints
    #: By left daughter: start, end of the rules with phrases, right daughter (tags count from 0), parent,
    #: score.
    right: Group
    #: By right daughter: the same with left daughters.
    left: Group
    #: Chains of unary rules by lowest state: start, highest state, score.
    up: tuple[Ints, Ints, Floats]
    #: Chains of unary rules by highest state: start, lowest state, score, the state below the highest.
    down: tuple[Ints, Ints, Floats, Ints]
    #: In the grammar's order: start, left daughter, right daughter, score; then the largest score by state.
    by_parent: tuple[Ints, Ints, Ints, Floats, Floats]
    #: Log frequencies of states for a beam search, otherwise 0.
    prior: Floats


def unary_chains(rows: Ints, scores: Floats) -> tuple[Ints, Ints, Floats, Ints]:
    """Return the best unary chains between states: highest, lowest, score, state below the highest."""
    above: dict[int, list[tuple[int, np.float32]]] = {}
    for (parent, child), score in zip(rows.tolist(), scores):
        above.setdefault(child, []).append((parent, score))
    chains: list[tuple[int, int, np.float32, int]] = []
    for lowest in sorted(above):
        best: dict[int, tuple[np.float32, int]] = {lowest: (np.float32(0), -1)}
        changed = [lowest]
        while changed:
            following: list[int] = []
            for state in changed:
                for parent, score in above.get(state, ()):
                    total = best[state][0] + score
                    if parent != lowest and (parent not in best or total > best[parent][0]):
                        best[parent] = total, state
                        following.append(parent)
            changed = following
        chains += [
            (highest, lowest, score, below) for highest, (score, below) in best.items() if highest != lowest
        ]
    numbers = np.array([(h, c, b) for h, c, _, b in chains], np.int32).reshape(-1, 3)
    return numbers[:, 0], numbers[:, 1], np.array([s for _, _, s, _ in chains], np.float32), numbers[:, 2]


def _starts(keys: Ints, size: int) -> Ints:
    return np.searchsorted(keys, np.arange(size + 1)).astype(np.int32)


def _numbering(grammar: Grammar) -> tuple[NDArray[np.int64], int, int]:
    """Return the new order of states, how many are looked up, and how many of those cover several words."""
    size = len(grammar.states)
    unfinished = np.array([name.startswith("@") for name in grammar.states])
    parent, left, right = grammar.binary.T
    unfinished[right[unfinished[left] & unfinished[right]]] = False
    over_words = np.zeros(size, bool)
    over_words[[grammar.states.index(tag) for tag in grammar.tags]] = True
    over_words[parent] = False
    over_words[grammar.unary[:, 0]] = False
    # An unfinished state belongs to the phrase it becomes. Grouping them keeps related states close in
    # memory.
    owner = np.where(unfinished, size, np.arange(size))
    while True:
        before = owner.copy()
        for above, below in ((parent, left), (parent, right), (grammar.unary[:, 0], grammar.unary[:, 1])):
            chosen = unfinished[below]
            np.minimum.at(owner, below[chosen], before[above[chosen]])
        if (owner == before).all():
            break
    order = np.lexsort((np.arange(size), owner, np.where(unfinished, 2, over_words)))
    return order, int((~unfinished).sum()), int((~unfinished & ~over_words).sum())


def arrange(grammar: Grammar) -> Rules:
    """Arrange the grammar's rules for the search."""
    if len(grammar.states) > MAX_STATES:
        raise InputError(
            f"the grammar has {len(grammar.states)} states (at most {MAX_STATES}); "
            "expected CoreNLP 3.6.0's englishPCFG"
        )
    order, looked_up, phrases = _numbering(grammar)
    size = len(order)
    number = np.empty(size, np.int32)
    number[order] = np.arange(size, dtype=np.int32)
    parent, left, right = (number[column] for column in grammar.binary.T)
    scores = grammar.binary_scores

    def group(daughter: Ints, other: Ints, chosen: NDArray[np.bool_]) -> Group:
        places = np.flatnonzero(chosen)
        places = places[np.lexsort((parent[places], other[places], daughter[places]))]
        start = _starts(daughter[places], size)
        ends = start[:-1] + np.array(
            [int((other[places[a:b]] < phrases).sum()) for a, b in itertools.pairwise(start)], np.int32
        )
        return (
            start,
            ends.astype(np.int32),
            np.where(other[places] < phrases, other[places], other[places] - phrases).astype(np.int16),
            parent[places].astype(np.int16),
            scores[places],
        )

    by_parent = np.argsort(parent, kind="stable")
    largest: Floats = np.full(size, -np.inf, np.float32)
    np.maximum.at(largest, parent, scores)
    highest, lowest, chain_scores, below = unary_chains(grammar.unary, grammar.unary_scores)
    highest, lowest, below = number[highest], number[lowest], number[below]
    rising, falling = np.argsort(lowest, kind="stable"), np.argsort(highest, kind="stable")
    return Rules(
        names=[grammar.states[i] for i in order.tolist()],
        looked_up=looked_up,
        phrases=phrases,
        goal=int(number[grammar.states.index(START)]),
        tag_states=number[[grammar.states.index(tag) for tag in grammar.tags]],
        right=group(left, right, right < looked_up),
        left=group(right, left, right >= looked_up),
        up=(_starts(lowest[rising], size), highest[rising], chain_scores[rising]),
        down=(_starts(highest[falling], size), lowest[falling], chain_scores[falling], below[falling]),
        prior=np.zeros(size, np.float32),
        by_parent=(
            _starts(parent[by_parent], size),
            left[by_parent],
            right[by_parent],
            scores[by_parent],
            largest,
        ),
    )
