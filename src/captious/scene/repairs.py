"""Two repairs of a dependency graph before tuples are read from it: quantifier phrases and pronouns.

"a couple of men" speaks of men, not of a couple: the noun takes the quantifier's place in the graph, and the
quantifier becomes its ``det:qmod``. The arcs of a pronoun move to the first fitting noun of the sentence.
Where only the first of several governors counts, "first" is the order of the reference's hash table with
sixteen buckets (``node & 15``).
"""

from __future__ import annotations

from captious.kernels import inner
from captious.kernels.types import Int32, Int32x2, Out
from captious.parser.graph_codes import (
    ARCS,
    ARTICLE,
    CASE,
    DEFINITE,
    DEPENDENT,
    DET,
    FULL,
    GOVERNOR,
    IS_OF,
    KIND,
    LOT,
    LOTS,
    MARKER_WORD,
    MWE,
    NODES,
    NOUN,
    OF,
    ONE,
    PERSONAL,
    PRONOUN,
    QUANTIFIER,
    QUEUE,
    ROOM,
    SEEN,
    SINGLE,
    STATE,
    TAG,
    WORD,
)


@inner
def repair(n: int, space: Out[Int32x2], bits: Int32) -> None:
    """Turn quantifier phrases round, then move the arcs of pronouns to nouns."""
    personal = 0
    for i in range(1, n + 1):
        personal |= space[TAG, i] & PERSONAL
    for i in range(2, n + 1):
        if bits[space[WORD, i]] & IS_OF:
            noun = _quantified(space, i - 1, i)
            first = _phrase_start(space, bits, i - 1, noun) if noun else 0
            if first:
                _turn(space, first, i - 1, i, noun)
    if personal:
        _pronouns(n, space, bits)


@inner
def _quantified(space: Int32x2, quantifier: int, of: int) -> int:
    """Return the noun or pronoun that a quantifier counts, or 0."""
    for i in range(space[STATE, ARCS]):
        noun = space[DEPENDENT, i]
        if space[GOVERNOR, i] == quantifier and space[KIND, i] == OF and space[TAG, noun] & (NOUN | PRONOUN):
            for k in range(space[STATE, ARCS]):
                if space[GOVERNOR, k] == noun and space[DEPENDENT, k] == of and space[KIND, k] == CASE:
                    return noun
    return 0


@inner
def _phrase_start(space: Int32x2, bits: Int32, quantifier: int, noun: int) -> int:
    """Return the first word of a quantifier phrase, or 0 if it is none."""
    own = bits[space[WORD, quantifier]]
    if own & LOT:
        for i in range(space[STATE, ARCS]):
            word = space[DEPENDENT, i]
            if (
                space[GOVERNOR, i] == quantifier
                and space[KIND, i] == DET
                and bits[space[WORD, word]] & ARTICLE
            ):
                return word
        return 0
    if not own & LOTS:
        if not own & DEFINITE:
            return 0
        definite = space[TAG, noun] & PRONOUN
        for i in range(space[STATE, ARCS]):
            if space[GOVERNOR, i] == noun and space[KIND, i] == DET:
                definite = 1
        if not definite:
            return 0
    # Everything left of the quantifier that depends on it belongs to the phrase, even a preposition: from
    # "with lots of donuts" the reference reads the attribute (donut, with).
    first = quantifier
    for i in range(space[STATE, ARCS]):
        if space[GOVERNOR, i] == quantifier and space[DEPENDENT, i] < first:
            first = space[DEPENDENT, i]
    return first


@inner
def _turn(space: Out[Int32x2], first: int, quantifier: int, of: int, noun: int) -> None:
    """Give the noun of a quantifier phrase the quantifier's place."""
    # One of several governors hands the quantifier over; the arcs from the others are lost.
    arcs = space[STATE, ARCS]
    heir = -1
    for i in range(arcs):
        governor = space[GOVERNOR, i]
        if space[DEPENDENT, i] == quantifier and governor != noun and (heir < 0 or governor & 15 < heir & 15):
            heir = governor
    at = 0
    for i in range(arcs):
        governor, dependent = space[GOVERNOR, i], space[DEPENDENT, i]
        if dependent == quantifier:
            if governor != heir:
                continue
            dependent = noun
        elif first <= dependent <= of or (governor == quantifier and dependent == noun):
            continue
        space[GOVERNOR, at] = governor
        space[DEPENDENT, at] = dependent
        space[KIND, at] = space[KIND, i]
        space[MARKER_WORD, at] = space[MARKER_WORD, i]
        at += 1
    if at + 1 + of - first > space[STATE, ROOM]:
        space[STATE, FULL] = 1
        return
    space[GOVERNOR, at], space[DEPENDENT, at], space[KIND, at], space[MARKER_WORD, at] = (
        noun,
        first,
        QUANTIFIER,
        0,
    )
    at += 1
    for word in range(first + 1, of + 1):
        space[GOVERNOR, at], space[DEPENDENT, at], space[KIND, at], space[MARKER_WORD, at] = (
            first,
            word,
            MWE,
            0,
        )
        at += 1
    space[STATE, ARCS] = at


@inner
def _pronouns(n: int, space: Out[Int32x2], bits: Int32) -> None:
    for word in range(2, n + 1):
        if not space[TAG, word] & PRONOUN:
            continue
        hangs = False
        for i in range(space[STATE, ARCS]):
            if space[DEPENDENT, i] == word and space[GOVERNOR, i]:
                hangs = True
                break
        if not hangs:
            continue
        noun = _antecedent(space, ONE if bits[space[WORD, word]] & SINGLE else NOUN)
        if 0 < noun < word:
            for i in range(space[STATE, ARCS]):
                if space[GOVERNOR, i] == word:
                    space[GOVERNOR, i] = noun
                if space[DEPENDENT, i] == word:
                    space[DEPENDENT, i] = noun


@inner
def _antecedent(space: Out[Int32x2], fitting: int) -> int:
    """Return the first fitting noun from the root down, level by level and left to right, or 0."""
    queue, seen = space[QUEUE], space[SEEN]
    for i in range(space[STATE, NODES]):
        seen[i] = 0
    top = 0
    for i in range(space[STATE, ARCS]):
        if space[GOVERNOR, i] == 0 and (top == 0 or space[DEPENDENT, i] < top):
            top = space[DEPENDENT, i]
    if top == 0:
        return 0
    queue[0] = top
    seen[top] = 1
    end = 1
    at = 0
    while at < end:
        node = queue[at]
        at += 1
        if space[TAG, node] & fitting:
            return node
        level = end
        for i in range(space[STATE, ARCS]):
            child = space[DEPENDENT, i]
            if space[GOVERNOR, i] == node and not seen[child]:
                seen[child] = 1
                k = end
                while k > level and queue[k - 1] > child:
                    queue[k] = queue[k - 1]
                    k -= 1
                queue[k] = child
                end += 1
    return 0
