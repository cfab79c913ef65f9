"""Where the kernels work on one sentence: the rows of one array, which is quick to hand on."""

from __future__ import annotations

import numpy as np

from captious.scene.flat.codes import Numbers

# Words count from 1, copies of words follow them; 0 is the root.
(
    # What is known of each node.
    WORD,
    LEMMA,
    TAG,
    # The tree while it is being changed.
    HEAD,
    RELATION,
    # For each word of the tree: its last preposition, how many words hang from it as parts of one expression, whether it is passive,
    # its first subject and what relation that has.
    LAST_CASE,
    EXPRESSION,
    VOICE,
    SUBJECT,
    SUBJECT_RELATION,
    # The arcs: governor, dependent, relation and the word that names the relation. While arcs are collected, word x is 2x and its copy
    # 2x + 1.
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
    # For walks, and for sets of nodes.
    QUEUE,
    SEEN,
    # Tuples by rule, and phrases of several words, which begin in the pool.
    RULE,
    ONE_END,
    MIDDLE,
    OTHER_END,
    PHRASE,
    POOL,
    STATE,
) = range(27)

# Places of the last row: how many arcs, joined words, nodes, tuples, phrases and numbers in the pool there are, whether there was room
# for all of them, and for how many of each there is room.
ARCS, JOINED, NODES, TUPLES, PHRASES, PARTS, FULL, ROOM = range(8)


def space(longest: int) -> Numbers:
    """For sentences of at most so many words. What does not fit (many conjuncts with many governors) is told by ``FULL``."""
    made = np.zeros((STATE + 1, 16 * longest + 64), np.int32)
    made[STATE, ROOM] = made.shape[1]
    return made
