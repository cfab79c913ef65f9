"""Where the kernels work on one sentence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from captious.scene.flat.codes import Numbers

# Places of ``Space.state``.
ARCS, JOINED, NODES, TUPLES, PHRASES, PARTS, FULL = range(7)


class Space(NamedTuple):
    """Arrays for a sentence. Words count from 1, copies of words follow them; 0 is the root."""

    # What is known of each node.
    word: Numbers
    lemma: Numbers
    tag: Numbers
    # The tree while it is being changed.
    head: Numbers
    relation: Numbers
    # For each word of the tree: its last preposition, how many words hang from it as parts of one expression, whether it is
    # passive, its first subject and what relation that has.
    case: Numbers
    parts: Numbers
    passive: Numbers
    subject: Numbers
    subject_relation: Numbers
    # The arcs: governor, dependent, relation and the word that names the relation. While arcs are collected, word x is 2x and its
    # copy 2x + 1.
    governor: Numbers
    dependent: Numbers
    kind: Numbers
    marker: Numbers
    # Words and their conjuncts.
    first: Numbers
    conjunct: Numbers
    # Arcs by governor.
    start: Numbers
    below: Numbers
    # For walks, and for sets of nodes.
    queue: Numbers
    seen: Numbers
    # Tuples by rule, and phrases of several words.
    rule: Numbers
    subjects: Numbers
    middle: Numbers
    objects: Numbers
    phrase: Numbers
    pool: Numbers
    # Counts of what is in the arrays, and whether one of them was too small.
    state: Numbers


def space(longest: int) -> Space:
    """For sentences of at most so many words. What does not fit (many conjuncts with many governors) is told by ``FULL``."""
    nodes, arcs, tuples = 2 * longest + 2, 4 * longest + 16, 8 * longest + 16
    sizes = {
        **dict.fromkeys(("word", "lemma", "tag", "queue", "seen", "first", "conjunct"), nodes),
        "start": nodes + 1,
        **dict.fromkeys(("governor", "dependent", "kind", "marker", "below"), arcs),
        **dict.fromkeys(("rule", "subjects", "middle", "objects"), tuples),
        "phrase": tuples + 1,
        "pool": 8 * tuples,
        "state": 7,
    }
    return Space(*(np.zeros(sizes.get(name, longest + 2), np.int32) for name in Space._fields))
