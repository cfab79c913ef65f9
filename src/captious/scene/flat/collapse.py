"""From trees to collapsed graphs, as :func:`captious.language.graph.collapse` makes them, in arrays."""

from __future__ import annotations

from captious.kernels import kernel
from captious.scene.flat.codes import (
    ACL,
    ADVCL,
    ADVMOD,
    AGENT,
    AUXPASS,
    BY,
    CASE,
    CC,
    CCOMP,
    CONJ,
    CSUBJ,
    CSUBJPASS,
    DEP,
    EMPTY,
    FINITE,
    FIRST,
    IS_AGENT,
    IS_OF,
    IS_POSS,
    MARK,
    MARKED,
    MWE,
    NMOD,
    NSUBJ,
    NSUBJPASS,
    OF,
    OTHER,
    PARATAXIS,
    POSS,
    RELCL,
    ROOT,
    SHARES,
)  # fmt: skip
from captious.scene.flat.space import ARCS, FULL, JOINED, NODES


@kernel
def collapse(n, space, bits, three, nested, flat):  # type: ignore[no-untyped-def]
    """The arcs of a sentence of n words, ordered by dependent, then governor."""
    _join_prepositions(n, space, bits, three, nested, flat)
    _look_around(n, space)
    _add_tree(n, space, bits)
    if space.state[JOINED]:
        _copy_governors(n, space, bits)
        _propagate(space)
        _sort(space)
    _number_copies(n, space)


@kernel
def _has_three(table, a, b, c):  # type: ignore[no-untyped-def]
    for i in range(table.shape[0]):  # noqa: SIM110 - Numba compiles no generators
        if table[i, 0] == a and table[i, 1] == b and table[i, 2] == c:
            return True
    return False


@kernel
def _has_two(table, a, b):  # type: ignore[no-untyped-def]
    for i in range(table.shape[0]):  # noqa: SIM110 - Numba compiles no generators
        if table[i, 0] == a and table[i, 1] == b:
            return True
    return False


@kernel
def _replace(n, space, old, new, relation):  # type: ignore[no-untyped-def]
    """``new``, a child of ``old``, takes its place and its other children."""
    above = space.head[old]
    for child in range(1, n + 1):
        if space.head[child] == old and child != new:
            space.head[child] = new
    space.head[new] = above
    space.relation[new] = relation


@kernel
def _join_prepositions(n, space, bits, three, nested, flat):  # type: ignore[no-untyped-def]
    word, head, relation = space.word, space.head, space.relation
    for a in range(1, n):
        if not bits[word[a]] & FIRST:
            continue
        b = a + 1
        c = a + 2
        if c <= n and _has_three(three, word[a], word[b], word[c]):
            noun = head[c]
            if (
                head[a] == b
                and relation[a] == CASE
                and (relation[c] == CASE or relation[c] == MARK)
                and noun > 0
                and head[noun] == b
                and (relation[noun] == NMOD or relation[noun] == ACL or relation[noun] == ADVCL)
            ):
                role = relation[noun] if relation[b] == NMOD else relation[b]
                marker = relation[c]
                _replace(n, space, b, noun, role)
                head[a], relation[a] = noun, marker
                head[b], relation[b] = a, MWE
                head[c], relation[c] = a, MWE
                continue
        if relation[b] != CASE:
            continue
        if _has_two(nested, word[a], word[b]):
            noun = head[b]
            if noun > 0 and head[noun] == a and relation[noun] == NMOD:
                role = relation[a]
                if role != ROOT and role != CCOMP and role != ADVCL and role != RELCL and role != PARATAXIS:
                    role = NMOD
                _replace(n, space, a, noun, role)
                head[a], relation[a] = noun, CASE
                head[b], relation[b] = a, MWE
                continue
        if (
            _has_two(flat, word[a], word[b])
            and head[a] == head[b]
            and (relation[a] == ADVMOD or relation[a] == CASE or relation[a] == DEP)
        ):
            head[a], relation[a] = head[b], CASE
            head[b], relation[b] = a, MWE


@kernel
def _look_around(n, space):  # type: ignore[no-untyped-def]
    for i in range(n + 1):
        space.case[i] = 0
        space.parts[i] = 0
        space.passive[i] = 0
        space.subject[i] = 0
    for d in range(1, n + 1):
        head, relation = space.head[d], space.relation[d]
        if relation == CASE:
            space.case[head] = d
        elif relation == MWE:
            space.parts[head] += 1
        elif relation == AUXPASS:
            space.passive[head] = 1
        elif (
            relation in (NSUBJ, NSUBJPASS, CSUBJ, CSUBJPASS)
        ) and not space.subject[head]:
            space.subject[head] = d
            space.subject_relation[head] = relation


@kernel
def _modifier(space, bits, head, relation, marker):  # type: ignore[no-untyped-def]
    """The relation of a modifier with its preposition."""
    if relation != NMOD:
        return OTHER
    if space.parts[marker]:
        return MARKED
    own = bits[space.word[marker]]
    if own & IS_OF:
        return OF
    if own & IS_AGENT or (own & BY and space.passive[head]):
        return AGENT
    if own & IS_POSS:
        return POSS
    return MARKED


@kernel
def _is_joined(n, space, bits, head, conjunct):  # type: ignore[no-untyped-def]
    """Whether there is a conjunction between a word and its conjunct: the last one before it, or else the first after it."""
    found = 0
    for j in range(1, n + 1):
        if space.relation[j] == CC and space.head[j] == head and (j < conjunct or not found):
            found = j
    return found > 0 and not (bits[space.word[found]] & EMPTY and not space.parts[found])


@kernel
def _find(space, governor, dependent):  # type: ignore[no-untyped-def]
    for i in range(space.state[ARCS]):
        if space.governor[i] == governor and space.dependent[i] == dependent:
            return i
    return -1


@kernel
def _put(space, at, governor, dependent, kind, marker):  # type: ignore[no-untyped-def]
    """Write an arc, as a new one for −1."""
    if at < 0:
        at = space.state[ARCS]
        if at == space.governor.shape[0]:
            space.state[FULL] = 1
            return
        space.state[ARCS] += 1
    space.governor[at] = governor
    space.dependent[at] = dependent
    space.kind[at] = kind
    space.marker[at] = marker


@kernel
def _drop(space, at):  # type: ignore[no-untyped-def]
    """Take an arc away; their order is made at the end."""
    if at >= 0:
        space.state[ARCS] -= 1
        last = space.state[ARCS]
        space.governor[at] = space.governor[last]
        space.dependent[at] = space.dependent[last]
        space.kind[at] = space.kind[last]
        space.marker[at] = space.marker[last]


@kernel
def _join(space, first, conjunct):  # type: ignore[no-untyped-def]
    at = space.state[JOINED]
    space.first[at] = first
    space.conjunct[at] = conjunct
    space.state[JOINED] += 1


@kernel
def _part(space, first, conjunct):  # type: ignore[no-untyped-def]
    """Forget that two words are joined; the others stay in order."""
    kept = 0
    for i in range(space.state[JOINED]):
        if space.first[i] != first or space.conjunct[i] != conjunct:
            space.first[kept] = space.first[i]
            space.conjunct[kept] = space.conjunct[i]
            kept += 1
    space.state[JOINED] = kept


@kernel
def _add_tree(n, space, bits):  # type: ignore[no-untyped-def]
    space.state[ARCS] = 0
    space.state[JOINED] = 0
    for d in range(1, n + 1):
        head, relation, marker = space.head[d], space.relation[d], 0
        if relation in (NMOD, ACL, ADVCL):
            if space.case[d]:
                marker = space.case[d]
                relation = _modifier(space, bits, head, relation, marker)
        elif relation == CONJ and _is_joined(n, space, bits, head, d):
            _join(space, 2 * head, 2 * d)
        _put(space, -1, 2 * head, 2 * d, relation, marker)


@kernel
def _copy_governors(n, space, bits):  # type: ignore[no-untyped-def]
    """Give conjoined prepositional phrases a governor each: the second governs from a copy of the word."""
    for d in range(1, n + 1):
        first = space.head[d]
        if space.relation[d] != CONJ or first == 0 or not _is_joined(n, space, bits, first, d):
            continue
        head = space.head[first]
        if space.relation[first] == NMOD and space.case[first] and space.case[d] and head > 0:
            # "with a hat and with a cane"
            _drop(space, _find(space, 2 * first, 2 * d))
            _part(space, 2 * first, 2 * d)
            for joiner in range(1, n + 1):
                if space.relation[joiner] == CC and space.head[joiner] == first:
                    _drop(space, _find(space, 2 * first, 2 * joiner))
                    _put(space, _find(space, 2 * head, 2 * joiner), 2 * head, 2 * joiner, CC, 0)
            marker = space.case[d]
            kind = _modifier(space, bits, head, NMOD, marker)
            _put(space, _find(space, 2 * head + 1, 2 * d), 2 * head + 1, 2 * d, kind, marker)
        elif space.relation[first] == CASE and head > 0 and space.head[head] > 0:
            # "in and around the house"
            role = space.relation[head]
            if role != NMOD and role != ACL and role != ADVCL:
                continue
            _part(space, 2 * first, 2 * d)
            governor = space.head[head]
            kind = _modifier(space, bits, governor, role, d)
            _put(space, _find(space, 2 * governor + 1, 2 * head), 2 * governor + 1, 2 * head, kind, d)
            head = governor
        else:
            continue
        if _find(space, 2 * head, 2 * head + 1) < 0:
            _put(space, -1, 2 * head, 2 * head + 1, CONJ, 0)
            _join(space, 2 * head, 2 * head + 1)


@kernel
def _propagate(space):  # type: ignore[no-untyped-def]
    """Let each conjunct take part in what the word it is joined to takes part in."""
    before = space.state[ARCS]
    for k in range(space.state[JOINED]):
        first, conjunct = space.first[k], space.conjunct[k]
        for i in range(before):
            governor = space.governor[i]
            takes_part = space.dependent[i] == first and space.kind[i] != ROOT and governor != conjunct
            if takes_part and _find(space, governor, conjunct) < 0:
                _put(space, -1, governor, conjunct, space.kind[i], space.marker[i])
        is_copy = conjunct & 1
        own = conjunct >> 1
        subject = space.subject[first >> 1]
        tag = space.tag[own]
        if subject and tag & SHARES and (is_copy or not space.subject[own]):
            relation = space.subject_relation[first >> 1]
            if relation == NSUBJPASS and tag & FINITE:
                relation = NSUBJ
            elif relation == NSUBJ and not is_copy and space.passive[own]:
                relation = NSUBJPASS
            if _find(space, conjunct, 2 * subject) < 0:
                _put(space, -1, conjunct, 2 * subject, relation, 0)


@kernel
def _sort(space):  # type: ignore[no-untyped-def]
    """By dependent, then governor; most arcs are in order already."""
    for i in range(1, space.state[ARCS]):
        governor, dependent, kind, marker = space.governor[i], space.dependent[i], space.kind[i], space.marker[i]
        k = i - 1
        while k >= 0 and (space.dependent[k] > dependent or (space.dependent[k] == dependent and space.governor[k] > governor)):
            space.governor[k + 1] = space.governor[k]
            space.dependent[k + 1] = space.dependent[k]
            space.kind[k + 1] = space.kind[k]
            space.marker[k + 1] = space.marker[k]
            k -= 1
        space.governor[k + 1], space.dependent[k + 1], space.kind[k + 1], space.marker[k + 1] = governor, dependent, kind, marker


@kernel
def _numbered(space, end):  # type: ignore[no-untyped-def]
    """The node of one end of an arc: a copy gets the next number, and what its word has."""
    own = end >> 1
    if not end & 1:
        return own
    if not space.seen[own]:
        new = space.state[NODES]
        space.seen[own] = new
        space.word[new] = space.word[own]
        space.lemma[new] = space.lemma[own]
        space.tag[new] = space.tag[own]
        space.state[NODES] += 1
    return space.seen[own]


@kernel
def _number_copies(n, space):  # type: ignore[no-untyped-def]
    space.state[NODES] = n + 1
    for i in range(n + 1):
        space.seen[i] = 0
    for i in range(space.state[ARCS]):
        space.governor[i] = _numbered(space, space.governor[i])
        space.dependent[i] = _numbered(space, space.dependent[i])
