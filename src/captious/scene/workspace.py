"""Scratch memory of the kernels for one sentence: the rows of one array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Nodes count from 1, copies of words after the words; 0 is the root.
(
    # For each node: text numbers of form and lemma, bits of the tag.
    WORD,
    LEMMA,
    TAG,
    # The tree while prepositions are joined.
    HEAD,
    RELATION,
    # For each word of the tree: its last preposition, how many words continue the expression that it begins,
    # whether it is passive, its first subject and the relation of that subject.
    LAST_CASE,
    EXPRESSION,
    VOICE,
    SUBJECT,
    SUBJECT_RELATION,
    # The arcs: governor, dependent, relation and the word that names the relation. While arcs are collected,
    # word x is 2x and its copy 2x + 1.
    GOVERNOR,
    DEPENDENT,
    KIND,
    MARKER_WORD,
    # Words and their conjuncts.
    JOINT,
    CONJUNCT,
    # Arcs by governor.
    START,
    BELOW,
    # Queues and sets of nodes.
    QUEUE,
    SEEN,
    # Tuples with the rule that states them, and starts of phrases in the pool.
    RULE,
    ONE_END,
    MIDDLE,
    OTHER_END,
    PHRASE,
    POOL,
    STATE,
) = range(27)

# Columns of the last row: numbers of arcs, joined words, nodes, tuples, phrases and elements of the pool;
# whether one of them exceeded the room; the room for each.
ARCS, JOINED, NODES, TUPLES, PHRASES, PARTS, FULL, ROOM = range(8)


def workspace(width: int) -> NDArray[np.int32]:
    """Allocate room for `width` arcs, tuples and phrases.

    Kernels set ``FULL`` where a sentence needs more.
    """
    space = np.zeros((STATE + 1, width), np.int32)
    space[STATE, ROOM] = width
    return space
