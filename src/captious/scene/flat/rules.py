"""From collapsed graphs to tuples, as :func:`captious.scene.rules.tuples` reads them, in arrays."""

from __future__ import annotations

from captious.kernels import kernel
from captious.scene.flat.codes import (
    ACL,
    ADJECTIVE,
    AGENT,
    AMOD,
    BE,
    CASE,
    COMPOUND,
    COP,
    DOBJ,
    IOBJ,
    MANY,
    MARKED,
    MWE,
    NOUN,
    NSUBJ,
    NSUBJPASS,
    NUMMOD,
    ODD,
    PARTICLE,
    POSS,
    QUANTIFIER,
    VERB,
)  # fmt: skip
from captious.scene.flat.space import (
    ARCS,
    BELOW,
    DEPENDENT,
    EXPRESSION,
    FULL,
    GOVERNOR,
    HEAD,
    KIND,
    LEMMA,
    MARKER_WORD,
    MIDDLE,
    NODES,
    ONE_END,
    OTHER_END,
    PARTS,
    PHRASE,
    PHRASES,
    POOL,
    QUEUE,
    RELATION,
    ROOM,
    RULE,
    SEEN,
    START,
    STATE,
    TAG,
    TUPLES,
    WORD,
)
from captious.scene.rules import (
    CLAUSE,
    COPULA,
    INTRANSITIVE,
    MODIFIER,
    PASSIVE,
    POSSESSIVE,
    PREDICATIVE,
    PREPOSITION,
    TRANSITIVE,
)

# What follows the rules.
_COUNT, _COMPOUND, _OBJECT = 9, 10, 11
#: How many lists of tuples there are, which follow one another.
LISTS = 12
#: What the first number of a phrase says: words as written; a predicate, its particle (or −1), then a preposition; a preposition.
WRITTEN, PREDICATE, NAMED = 0, 1, 2


@kernel
def read(n, space, bits, kinds, have):  # type: ignore[no-untyped-def]
    """The tuples that the arcs of a sentence state. ``space[RULE]`` says in which list each belongs."""
    _arrange(space)
    space[STATE, TUPLES] = 0
    space[STATE, PHRASES] = 0
    space[STATE, PARTS] = 0
    nodes = space[STATE, NODES]
    # Nodes that are parts of compounds.
    for i in range(nodes):
        space[SEEN, i] = 0
    for node in range(1, nodes):
        if space[START, node] < space[START, node + 1]:
            _at(n, node, space, bits, kinds, have)
            if space[TAG, node] & NOUN:
                for k in range(space[START, node], space[START, node + 1]):
                    arc = space[BELOW, k]
                    child = space[DEPENDENT, arc]
                    if space[KIND, arc] == COMPOUND and space[TAG, child] & NOUN:
                        _state(space, _COMPOUND, space[LEMMA, node], space[LEMMA, child], -1)
                        space[SEEN, node] = 1
                        space[SEEN, child] = 1
    for node in range(1, nodes):
        if space[TAG, node] & NOUN and not space[SEEN, node]:
            _state(space, _OBJECT, space[LEMMA, node], -1, -1)
    _numbers(space)


@kernel
def _arrange(space):  # type: ignore[no-untyped-def]
    """Arcs by governor, in their order."""
    start, below = space[START], space[BELOW]
    nodes = space[STATE, NODES]
    for i in range(nodes + 1):
        start[i] = 0
    for i in range(space[STATE, ARCS]):
        start[space[GOVERNOR, i] + 1] += 1
    for i in range(nodes):
        start[i + 1] += start[i]
    for i in range(space[STATE, ARCS]):
        governor = space[GOVERNOR, i]
        below[start[governor]] = i
        start[governor] += 1
    for i in range(nodes, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0


@kernel
def _state(space, rule, subject, middle, target):  # type: ignore[no-untyped-def]
    at = space[STATE, TUPLES]
    if at == space[STATE, ROOM]:
        space[STATE, FULL] = 1
        return
    space[RULE, at] = rule
    space[ONE_END, at] = subject
    space[MIDDLE, at] = middle
    space[OTHER_END, at] = target
    space[STATE, TUPLES] += 1


@kernel
def _add(space, number):  # type: ignore[no-untyped-def]
    """Write the next number of a phrase."""
    at = space[STATE, PARTS]
    if at == space[STATE, ROOM]:
        space[STATE, FULL] = 1
        return
    space[POOL, at] = number
    space[STATE, PARTS] += 1


@kernel
def _begin(space, kind):  # type: ignore[no-untyped-def]
    """Begin a phrase. In a tuple it is a number below −1."""
    at = space[STATE, PHRASES]
    if at == space[STATE, ROOM]:
        space[STATE, FULL] = 1
        return -2
    space[PHRASE, at] = space[STATE, PARTS]
    space[STATE, PHRASES] += 1
    _add(space, kind)
    return -2 - at


@kernel
def _is_object(kind):  # type: ignore[no-untyped-def]
    return kind in (DOBJ, IOBJ) or kind >= MARKED


@kernel
def _at(n, node, space, bits, kinds, have):  # type: ignore[no-untyped-def]
    """What most rules read from one word and its dependents."""
    tag, lemma = space[TAG], space[LEMMA]
    noun = tag[node] & NOUN
    low, high = space[START, node], space[START, node + 1]
    copula = False
    subjects = 0
    objects = 0
    case = -1
    for k in range(low, high):
        arc = space[BELOW, k]
        kind, child = space[KIND, arc], space[DEPENDENT, arc]
        if kind == CASE:
            if case < 0 or child & 15 < case & 15:
                case = child
        elif kind == AMOD:
            _state(space, MODIFIER, lemma[node], lemma[child], -1)
        elif kind >= MARKED:
            if tag[child] & NOUN:
                objects += 1
                if noun and kind == POSS:
                    _state(space, POSSESSIVE, lemma[child], have, lemma[node])
            if noun and kind != POSS and kind != AGENT:
                _state(space, PREPOSITION, lemma[node], _named(n, space, bits, kinds, arc), lemma[child])
        elif kind == NSUBJ:
            if tag[child] & NOUN:
                subjects += 1
            if tag[node] & ADJECTIVE:
                _state(space, PREDICATIVE, lemma[child], lemma[node], -1)
        elif kind in (DOBJ, IOBJ):
            if tag[child] & NOUN:
                objects += 1
        elif kind == COP:
            copula = True
        elif kind == ACL and tag[child] & VERB:
            for j in range(space[START, child], space[START, child + 1]):
                inner = space[BELOW, j]
                target = space[DEPENDENT, inner]
                if tag[target] & NOUN and _is_object(space[KIND, inner]):
                    _state(space, CLAUSE, lemma[node], _predicate(n, child, inner, space, bits, kinds), lemma[target])
    if subjects:
        if objects and not copula:
            _transitive(n, node, space, bits, kinds)
        else:
            rule = COPULA if copula else INTRANSITIVE
            if case >= 0:
                phrase = _preposition(space, case)
                for k in range(low, high):
                    arc = space[BELOW, k]
                    if space[KIND, arc] == NSUBJ and tag[space[DEPENDENT, arc]] & NOUN:
                        _state(space, rule, lemma[space[DEPENDENT, arc]], phrase, lemma[node])
            elif not bits[lemma[node]] & BE:
                for k in range(low, high):
                    arc = space[BELOW, k]
                    if space[KIND, arc] == NSUBJ and tag[space[DEPENDENT, arc]] & NOUN:
                        _state(space, rule, lemma[space[DEPENDENT, arc]], lemma[node], -1)
    if objects and tag[node] & VERB:
        _passive(n, node, space, bits, kinds)


@kernel
def _transitive(n, node, space, bits, kinds):  # type: ignore[no-untyped-def]
    low, high = space[START, node], space[START, node + 1]
    for k in range(low, high):
        one = space[BELOW, k]
        subject = space[DEPENDENT, one]
        if space[KIND, one] != NSUBJ or not space[TAG, subject] & NOUN:
            continue
        for j in range(low, high):
            arc = space[BELOW, j]
            target = space[DEPENDENT, arc]
            if _is_object(space[KIND, arc]) and space[TAG, target] & NOUN:
                name = _predicate(n, node, arc, space, bits, kinds)
                _state(space, TRANSITIVE, space[LEMMA, subject], name, space[LEMMA, target])


@kernel
def _passive(n, node, space, bits, kinds):  # type: ignore[no-untyped-def]
    """The agent of a passive does something to its subject."""
    low, high = space[START, node], space[START, node + 1]
    for k in range(low, high):
        arc = space[BELOW, k]
        agent = space[DEPENDENT, arc]
        if space[KIND, arc] != AGENT or not space[TAG, agent] & NOUN:
            continue
        name = _predicate(n, node, arc, space, bits, kinds)
        for j in range(low, high):
            one = space[BELOW, j]
            patient = space[DEPENDENT, one]
            if space[KIND, one] == NSUBJPASS and space[TAG, patient] & NOUN:
                _state(space, PASSIVE, space[LEMMA, agent], name, space[LEMMA, patient])


@kernel
def _number(space, noun, quantified):  # type: ignore[no-untyped-def]
    """(noun, number) for a noun with a number to its left, or else with a quantifier."""
    found = -1
    for k in range(space[START, noun], space[START, noun + 1]):
        arc = space[BELOW, k]
        child = space[DEPENDENT, arc]
        if space[KIND, arc] == NUMMOD and child < noun and (found < 0 or child & 15 < found & 15):
            found = child
    if found < 0 and quantified:
        for k in range(space[START, noun], space[START, noun + 1]):
            arc = space[BELOW, k]
            child = space[DEPENDENT, arc]
            if space[KIND, arc] == QUANTIFIER and (found < 0 or child & 15 < found & 15):
                found = child
    if found >= 0:
        _state(space, _COUNT, space[LEMMA, noun], space[LEMMA, found], -1)


@kernel
def _numbers(space):  # type: ignore[no-untyped-def]
    """Numbers and quantifiers of plural nouns; where a plural subject meets plural objects, of the first of each."""
    counted = False
    for i in range(space[STATE, ARCS]):
        if space[KIND, i] == NUMMOD or space[KIND, i] == QUANTIFIER:
            counted = True
    if not counted:
        return
    nodes = space[STATE, NODES]
    done = space[QUEUE]
    for i in range(nodes):
        done[i] = 0
    for node in range(1, nodes):
        subject = -1
        target = -1
        direct = False
        for k in range(space[START, node], space[START, node + 1]):
            arc = space[BELOW, k]
            kind, child = space[KIND, arc], space[DEPENDENT, arc]
            if not space[TAG, child] & MANY:
                continue
            if kind == NSUBJ:
                if subject < 0 or child & 15 < subject & 15:
                    subject = child
            elif _is_object(kind):
                close = kind in (DOBJ, IOBJ)
                if target < 0 or child & 15 < target & 15 or (child & 15 == target & 15 and child < target):
                    target = child
                    direct = close
                elif child == target:
                    direct = direct and close
        if subject >= 0 and target >= 0:
            _number(space, subject, True)
            _number(space, target, direct)
            for k in range(space[START, node], space[START, node + 1]):
                arc = space[BELOW, k]
                child = space[DEPENDENT, arc]
                if space[TAG, child] & MANY and (space[KIND, arc] == NSUBJ or _is_object(space[KIND, arc])):
                    done[child] = 1
    for node in range(1, nodes):
        if space[TAG, node] & MANY and not done[node]:
            _number(space, node, True)


@kernel
def _add_name(n, space, kinds, arc):  # type: ignore[no-untyped-def]
    """The words of the preposition that names a relation."""
    if space[KIND, arc] != MARKED:
        _add(space, kinds[space[KIND, arc] - POSS])
        return
    marker = space[MARKER_WORD, arc]
    for word in range(1, n + 1):
        if word == marker or (space[RELATION, word] == MWE and space[HEAD, word] == marker):
            _add(space, space[WORD, word])


@kernel
def _named(n, space, bits, kinds, arc):  # type: ignore[no-untyped-def]
    """A preposition that names a relation: the number of its word, or a phrase."""
    if space[KIND, arc] != MARKED:
        name = kinds[space[KIND, arc] - POSS]
        if not bits[name] & ODD:
            return name
    elif not space[EXPRESSION, space[MARKER_WORD, arc]]:
        name = space[WORD, space[MARKER_WORD, arc]]
        if not bits[name] & ODD:
            return name
    phrase = _begin(space, NAMED)
    _add_name(n, space, kinds, arc)
    return phrase


@kernel
def _predicate(n, node, arc, space, bits, kinds):  # type: ignore[no-untyped-def]
    """A predicate's name: its lemma, its particle, and the preposition before its object."""
    name = space[LEMMA, node]
    particle = -1
    for k in range(space[START, node], space[START, node + 1]):
        one = space[BELOW, k]
        if space[KIND, one] == PARTICLE:
            particle = space[LEMMA, space[DEPENDENT, one]]
            break
    if particle >= 0 and bits[name] & BE:
        name = particle
        particle = -1
    kind = space[KIND, arc]
    prepositional = kind >= MARKED and kind != POSS and kind != AGENT
    if particle < 0 and not prepositional and not bits[name] & ODD:
        return name
    phrase = _begin(space, PREDICATE)
    _add(space, name)
    _add(space, particle)
    if prepositional:
        _add_name(n, space, kinds, arc)
    return phrase


@kernel
def _preposition(space, case):  # type: ignore[no-untyped-def]
    """A preposition as written, with the other words of one that has several."""
    parts = 0
    for k in range(space[START, case], space[START, case + 1]):
        if space[KIND, space[BELOW, k]] == MWE:
            parts += 1
    if not parts:
        return space[WORD, case]
    phrase = _begin(space, WRITTEN)
    _add(space, space[WORD, case])
    for k in range(space[START, case], space[START, case + 1]):
        if space[KIND, space[BELOW, k]] == MWE:
            _add(space, space[WORD, space[DEPENDENT, space[BELOW, k]]])
    return phrase
