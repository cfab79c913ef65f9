"""Quantifier phrases and pronouns, as :func:`captious.scene.enhance.enhance` repairs them, in arrays."""

from __future__ import annotations

from captious.kernels import kernel
from captious.scene.flat.codes import (
    ARTICLE,
    CASE,
    DEFINITE,
    DET,
    IS_OF,
    LOT,
    LOTS,
    MWE,
    NOUN,
    OF,
    ONE,
    PERSONAL,
    PRONOUN,
    QUANTIFIER,
    SINGLE,
)
from captious.scene.flat.space import (
    ARCS,
    DEPENDENT,
    FULL,
    GOVERNOR,
    KIND,
    MARKER_WORD,
    NODES,
    QUEUE,
    ROOM,
    SEEN,
    STATE,
    TAG,
    WORD,
)


@kernel
def repair(n, space, bits):  # type: ignore[no-untyped-def]
    """Turn quantifier phrases round, then let nouns take over the arcs of pronouns."""
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


@kernel
def _quantified(space, quantifier, of):  # type: ignore[no-untyped-def]
    """The noun or pronoun that a quantifier counts; 0 if there is none."""
    for i in range(space[STATE, ARCS]):
        noun = space[DEPENDENT, i]
        if space[GOVERNOR, i] == quantifier and space[KIND, i] == OF and space[TAG, noun] & (NOUN | PRONOUN):
            for k in range(space[STATE, ARCS]):
                if space[GOVERNOR, k] == noun and space[DEPENDENT, k] == of and space[KIND, k] == CASE:
                    return noun
    return 0


@kernel
def _phrase_start(space, bits, quantifier, noun):  # type: ignore[no-untyped-def]
    """The first word of a quantifier phrase; 0 if it is none."""
    own = bits[space[WORD, quantifier]]
    if own & LOT:
        for i in range(space[STATE, ARCS]):
            word = space[DEPENDENT, i]
            if space[GOVERNOR, i] == quantifier and space[KIND, i] == DET and bits[space[WORD, word]] & ARTICLE:
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
    first = quantifier
    for i in range(space[STATE, ARCS]):
        if space[GOVERNOR, i] == quantifier and space[DEPENDENT, i] < first:
            first = space[DEPENDENT, i]
    return first


@kernel
def _turn(space, first, quantifier, of, noun):  # type: ignore[no-untyped-def]
    """The noun of a quantifier phrase takes the quantifier's place."""
    arcs = space[STATE, ARCS]
    kept = -1
    for i in range(arcs):
        governor = space[GOVERNOR, i]
        if space[DEPENDENT, i] == quantifier and governor != noun and (kept < 0 or governor & 15 < kept & 15):
            kept = governor
    at = 0
    for i in range(arcs):
        governor, dependent = space[GOVERNOR, i], space[DEPENDENT, i]
        if dependent == quantifier:
            if governor != kept:
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
    space[GOVERNOR, at], space[DEPENDENT, at], space[KIND, at], space[MARKER_WORD, at] = noun, first, QUANTIFIER, 0
    at += 1
    for word in range(first + 1, of + 1):
        space[GOVERNOR, at], space[DEPENDENT, at], space[KIND, at], space[MARKER_WORD, at] = first, word, MWE, 0
        at += 1
    space[STATE, ARCS] = at


@kernel
def _pronouns(n, space, bits):  # type: ignore[no-untyped-def]
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


@kernel
def _antecedent(space, fitting):  # type: ignore[no-untyped-def]
    """The first noun met going down from the root, level by level and left to right; 0 if there is none."""
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
