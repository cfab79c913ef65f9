"""From collapsed graphs to tuples.

Tuples are objects (noun,), attributes (noun, word) and relations (noun, phrase, noun).
"""

from __future__ import annotations

from captious.kernels import inner
from captious.kernels.types import Int32, Int32x2, Out
from captious.parser.graph_codes import (
    ACL,
    ADJECTIVE,
    AGENT,
    AMOD,
    ARCS,
    BE,
    BELOW,
    CASE,
    COMPOUND,
    COP,
    DEPENDENT,
    DOBJ,
    EXPRESSION,
    FULL,
    GOVERNOR,
    HAVE,
    HEAD,
    IOBJ,
    KIND,
    LEMMA,
    MANY,
    MARKED,
    MARKER_WORD,
    MIDDLE,
    MWE,
    NODES,
    NOUN,
    NSUBJ,
    NSUBJPASS,
    NUMMOD,
    ODD,
    ONE_END,
    OTHER_END,
    PARTICLE,
    PARTS,
    PHRASE,
    PHRASES,
    POOL,
    POSS,
    QUANTIFIER,
    QUEUE,
    RELATION,
    ROOM,
    RULE,
    SEEN,
    START,
    STATE,
    TAG,
    TUPLES,
    VERB,
    WORD,
)

# The rules in the order in which the reference applies them, then numbers, compounds and objects. The order
# matters when synonyms merge.
(
    TRANSITIVE,  # a dog chases a cat: (dog, chase, cat)
    CLAUSE,  # a dog chasing a cat: (dog, chase, cat)
    INTRANSITIVE,  # a dog sleeps: (dog, sleep)
    COPULA,  # a dog is on a bed: (dog, on, bed)
    MODIFIER,  # a brown dog: (dog, brown)
    PREDICATIVE,  # the dog is brown: (dog, brown)
    PREPOSITION,  # a dog on a bed: (dog, on, bed)
    POSSESSIVE,  # the man's dog: (man, have, dog)
    PASSIVE,  # a cat chased by a dog: (dog, chase, cat)
    COUNT,  # two dogs: (dog, two)
    COMPOUND_NOUN,  # a park bench: (bench, park)
    OBJECT,  # (dog,)
) = range(12)
#: Number of lists of tuples.
LISTS = 12
#: First element of a phrase in the pool. The rest are words as written; a predicate, its particle (or −1) and
#: maybe a preposition; or a preposition.
WRITTEN, PREDICATE, NAMED = 0, 1, 2


@inner
def read(n: int, space: Out[Int32x2], bits: Int32, prepositions: Int32) -> None:
    """Read the tuples that the arcs of a sentence state. ``space[RULE]`` is the rule of each."""
    _arrange(space)
    space[STATE, TUPLES] = 0
    space[STATE, PHRASES] = 0
    space[STATE, PARTS] = 0
    nodes = space[STATE, NODES]
    # SEEN marks parts of compounds.
    for i in range(nodes):
        space[SEEN, i] = 0
    for node in range(1, nodes):
        if space[START, node] < space[START, node + 1]:
            _at(n, node, space, bits, prepositions)
            if space[TAG, node] & NOUN:
                for k in range(space[START, node], space[START, node + 1]):
                    arc = space[BELOW, k]
                    child = space[DEPENDENT, arc]
                    if space[KIND, arc] == COMPOUND and space[TAG, child] & NOUN:
                        _state(space, COMPOUND_NOUN, space[LEMMA, node], space[LEMMA, child], -1)
                        space[SEEN, node] = 1
                        space[SEEN, child] = 1
    for node in range(1, nodes):
        if space[TAG, node] & NOUN and not space[SEEN, node]:
            _state(space, OBJECT, space[LEMMA, node], -1, -1)
    _numbers(space)


@inner
def _arrange(space: Out[Int32x2]) -> None:
    """List the arcs of each governor, in their order."""
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


@inner
def _state(space: Out[Int32x2], rule: int, subject: int, middle: int, target: int) -> None:
    at = space[STATE, TUPLES]
    if at == space[STATE, ROOM]:
        space[STATE, FULL] = 1
        return
    space[RULE, at] = rule
    space[ONE_END, at] = subject
    space[MIDDLE, at] = middle
    space[OTHER_END, at] = target
    space[STATE, TUPLES] += 1


@inner
def _add(space: Out[Int32x2], number: int) -> None:
    """Append an element to the current phrase."""
    at = space[STATE, PARTS]
    if at == space[STATE, ROOM]:
        space[STATE, FULL] = 1
        return
    space[POOL, at] = number
    space[STATE, PARTS] += 1


@inner
def _begin(space: Out[Int32x2], kind: int) -> int:
    """Begin a phrase. Tuples refer to it by a number below −1."""
    at = space[STATE, PHRASES]
    if at == space[STATE, ROOM]:
        space[STATE, FULL] = 1
        return -2
    space[PHRASE, at] = space[STATE, PARTS]
    space[STATE, PHRASES] += 1
    _add(space, kind)
    return -2 - at


@inner
def _is_object(kind: int) -> bool:
    return kind in (DOBJ, IOBJ) or kind >= MARKED


@inner
def _at(n: int, node: int, space: Out[Int32x2], bits: Int32, prepositions: Int32) -> None:
    """Apply the rules that look at one word and its dependents."""
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
                    _state(space, POSSESSIVE, lemma[child], HAVE, lemma[node])
            if noun and kind != POSS and kind != AGENT:
                _state(
                    space, PREPOSITION, lemma[node], _named(n, space, bits, prepositions, arc), lemma[child]
                )
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
                    _state(
                        space,
                        CLAUSE,
                        lemma[node],
                        _predicate(n, child, inner, space, bits, prepositions),
                        lemma[target],
                    )
    if subjects:
        if objects and not copula:
            _transitive(n, node, space, bits, prepositions)
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
        _passive(n, node, space, bits, prepositions)


@inner
def _transitive(n: int, node: int, space: Out[Int32x2], bits: Int32, prepositions: Int32) -> None:
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
                name = _predicate(n, node, arc, space, bits, prepositions)
                _state(space, TRANSITIVE, space[LEMMA, subject], name, space[LEMMA, target])


@inner
def _passive(n: int, node: int, space: Out[Int32x2], bits: Int32, prepositions: Int32) -> None:
    """State (agent, predicate, subject) for a passive with its agent."""
    low, high = space[START, node], space[START, node + 1]
    for k in range(low, high):
        arc = space[BELOW, k]
        agent = space[DEPENDENT, arc]
        if space[KIND, arc] != AGENT or not space[TAG, agent] & NOUN:
            continue
        name = _predicate(n, node, arc, space, bits, prepositions)
        for j in range(low, high):
            one = space[BELOW, j]
            patient = space[DEPENDENT, one]
            if space[KIND, one] == NSUBJPASS and space[TAG, patient] & NOUN:
                _state(space, PASSIVE, space[LEMMA, agent], name, space[LEMMA, patient])


@inner
def _number(space: Out[Int32x2], noun: int, quantified: bool) -> None:
    """State (noun, number) for a noun with a number to its left, or else with a quantifier."""
    counter = -1
    for k in range(space[START, noun], space[START, noun + 1]):
        arc = space[BELOW, k]
        child = space[DEPENDENT, arc]
        if space[KIND, arc] == NUMMOD and child < noun and (counter < 0 or child & 15 < counter & 15):
            counter = child
    if counter < 0 and quantified:
        for k in range(space[START, noun], space[START, noun + 1]):
            arc = space[BELOW, k]
            child = space[DEPENDENT, arc]
            if space[KIND, arc] == QUANTIFIER and (counter < 0 or child & 15 < counter & 15):
                counter = child
    if counter >= 0:
        _state(space, COUNT, space[LEMMA, noun], space[LEMMA, counter], -1)


@inner
def _numbers(space: Out[Int32x2]) -> None:
    """State numbers and quantifiers of plural nouns.

    Where a plural subject meets plural objects, only the first of each is considered, and for an object after
    a preposition only a number counts, no quantifier: so does the reference.
    """
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


@inner
def _add_name(n: int, space: Out[Int32x2], prepositions: Int32, arc: int) -> None:
    """Append the words of the preposition that names a relation."""
    if space[KIND, arc] != MARKED:
        _add(space, prepositions[space[KIND, arc] - POSS])
        return
    marker = space[MARKER_WORD, arc]
    for word in range(1, n + 1):
        if word == marker or (space[RELATION, word] == MWE and space[HEAD, word] == marker):
            _add(space, space[WORD, word])


@inner
def _named(n: int, space: Out[Int32x2], bits: Int32, prepositions: Int32, arc: int) -> int:
    """Return the preposition that names a relation: the number of its text, or a phrase."""
    if space[KIND, arc] != MARKED:
        name = prepositions[space[KIND, arc] - POSS]
        if not bits[name] & ODD:
            return name
    elif not space[EXPRESSION, space[MARKER_WORD, arc]]:
        name = space[WORD, space[MARKER_WORD, arc]]
        if not bits[name] & ODD:
            return name
    phrase = _begin(space, NAMED)
    _add_name(n, space, prepositions, arc)
    return phrase


@inner
def _predicate(n: int, node: int, arc: int, space: Out[Int32x2], bits: Int32, prepositions: Int32) -> int:
    """Return a predicate's name: its lemma, its particle, and the preposition before its object."""
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
        _add_name(n, space, prepositions, arc)
    return phrase


@inner
def _preposition(space: Out[Int32x2], case: int) -> int:
    """Return a preposition as written, with its other words if it has several ("in front of")."""
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
