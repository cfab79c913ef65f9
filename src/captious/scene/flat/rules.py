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
from captious.scene.flat.space import ARCS, FULL, NODES, PARTS, PHRASES, TUPLES
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
    """The tuples that the arcs of a sentence state. ``space.rule`` says in which list each belongs."""
    _arrange(space)
    space.state[TUPLES] = 0
    space.state[PHRASES] = 0
    space.state[PARTS] = 0
    nodes = space.state[NODES]
    # Nodes that are parts of compounds.
    for i in range(nodes):
        space.seen[i] = 0
    for node in range(1, nodes):
        if space.start[node] < space.start[node + 1]:
            _at(n, node, space, bits, kinds, have)
            if space.tag[node] & NOUN:
                for k in range(space.start[node], space.start[node + 1]):
                    arc = space.below[k]
                    child = space.dependent[arc]
                    if space.kind[arc] == COMPOUND and space.tag[child] & NOUN:
                        _state(space, _COMPOUND, space.lemma[node], space.lemma[child], -1)
                        space.seen[node] = 1
                        space.seen[child] = 1
    for node in range(1, nodes):
        if space.tag[node] & NOUN and not space.seen[node]:
            _state(space, _OBJECT, space.lemma[node], -1, -1)
    _numbers(space)


@kernel
def _arrange(space):  # type: ignore[no-untyped-def]
    """Arcs by governor, in their order."""
    start, below = space.start, space.below
    nodes = space.state[NODES]
    for i in range(nodes + 1):
        start[i] = 0
    for i in range(space.state[ARCS]):
        start[space.governor[i] + 1] += 1
    for i in range(nodes):
        start[i + 1] += start[i]
    for i in range(space.state[ARCS]):
        governor = space.governor[i]
        below[start[governor]] = i
        start[governor] += 1
    for i in range(nodes, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0


@kernel
def _state(space, rule, subject, middle, target):  # type: ignore[no-untyped-def]
    at = space.state[TUPLES]
    if at == space.rule.shape[0]:
        space.state[FULL] = 1
        return
    space.rule[at] = rule
    space.subjects[at] = subject
    space.middle[at] = middle
    space.objects[at] = target
    space.state[TUPLES] += 1


@kernel
def _add(space, number):  # type: ignore[no-untyped-def]
    """Write the next number of a phrase."""
    at = space.state[PARTS]
    if at == space.pool.shape[0]:
        space.state[FULL] = 1
        return
    space.pool[at] = number
    space.state[PARTS] += 1


@kernel
def _begin(space, kind):  # type: ignore[no-untyped-def]
    """Begin a phrase. In a tuple it is a number below −1."""
    at = space.state[PHRASES]
    if at + 1 >= space.phrase.shape[0]:
        space.state[FULL] = 1
        return -2
    space.phrase[at] = space.state[PARTS]
    space.state[PHRASES] += 1
    _add(space, kind)
    return -2 - at


@kernel
def _is_object(kind):  # type: ignore[no-untyped-def]
    return kind in (DOBJ, IOBJ) or kind >= MARKED


@kernel
def _at(n, node, space, bits, kinds, have):  # type: ignore[no-untyped-def]
    """What most rules read from one word and its dependents."""
    tag, lemma = space.tag, space.lemma
    noun = tag[node] & NOUN
    low, high = space.start[node], space.start[node + 1]
    copula = False
    subjects = 0
    objects = 0
    case = -1
    for k in range(low, high):
        arc = space.below[k]
        kind, child = space.kind[arc], space.dependent[arc]
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
            for j in range(space.start[child], space.start[child + 1]):
                inner = space.below[j]
                target = space.dependent[inner]
                if tag[target] & NOUN and _is_object(space.kind[inner]):
                    _state(space, CLAUSE, lemma[node], _predicate(n, child, inner, space, bits, kinds), lemma[target])
    if subjects:
        if objects and not copula:
            _transitive(n, node, space, bits, kinds)
        else:
            rule = COPULA if copula else INTRANSITIVE
            if case >= 0:
                phrase = _preposition(space, case)
                for k in range(low, high):
                    arc = space.below[k]
                    if space.kind[arc] == NSUBJ and tag[space.dependent[arc]] & NOUN:
                        _state(space, rule, lemma[space.dependent[arc]], phrase, lemma[node])
            elif not bits[lemma[node]] & BE:
                for k in range(low, high):
                    arc = space.below[k]
                    if space.kind[arc] == NSUBJ and tag[space.dependent[arc]] & NOUN:
                        _state(space, rule, lemma[space.dependent[arc]], lemma[node], -1)
    if objects and tag[node] & VERB:
        _passive(n, node, space, bits, kinds)


@kernel
def _transitive(n, node, space, bits, kinds):  # type: ignore[no-untyped-def]
    low, high = space.start[node], space.start[node + 1]
    for k in range(low, high):
        one = space.below[k]
        subject = space.dependent[one]
        if space.kind[one] != NSUBJ or not space.tag[subject] & NOUN:
            continue
        for j in range(low, high):
            arc = space.below[j]
            target = space.dependent[arc]
            if _is_object(space.kind[arc]) and space.tag[target] & NOUN:
                name = _predicate(n, node, arc, space, bits, kinds)
                _state(space, TRANSITIVE, space.lemma[subject], name, space.lemma[target])


@kernel
def _passive(n, node, space, bits, kinds):  # type: ignore[no-untyped-def]
    """The agent of a passive does something to its subject."""
    low, high = space.start[node], space.start[node + 1]
    for k in range(low, high):
        arc = space.below[k]
        agent = space.dependent[arc]
        if space.kind[arc] != AGENT or not space.tag[agent] & NOUN:
            continue
        name = _predicate(n, node, arc, space, bits, kinds)
        for j in range(low, high):
            one = space.below[j]
            patient = space.dependent[one]
            if space.kind[one] == NSUBJPASS and space.tag[patient] & NOUN:
                _state(space, PASSIVE, space.lemma[agent], name, space.lemma[patient])


@kernel
def _number(space, noun, quantified):  # type: ignore[no-untyped-def]
    """(noun, number) for a noun with a number to its left, or else with a quantifier."""
    found = -1
    for k in range(space.start[noun], space.start[noun + 1]):
        arc = space.below[k]
        child = space.dependent[arc]
        if space.kind[arc] == NUMMOD and child < noun and (found < 0 or child & 15 < found & 15):
            found = child
    if found < 0 and quantified:
        for k in range(space.start[noun], space.start[noun + 1]):
            arc = space.below[k]
            child = space.dependent[arc]
            if space.kind[arc] == QUANTIFIER and (found < 0 or child & 15 < found & 15):
                found = child
    if found >= 0:
        _state(space, _COUNT, space.lemma[noun], space.lemma[found], -1)


@kernel
def _numbers(space):  # type: ignore[no-untyped-def]
    """Numbers and quantifiers of plural nouns; where a plural subject meets plural objects, of the first of each."""
    counted = False
    for i in range(space.state[ARCS]):
        if space.kind[i] == NUMMOD or space.kind[i] == QUANTIFIER:
            counted = True
    if not counted:
        return
    nodes = space.state[NODES]
    done = space.queue
    for i in range(nodes):
        done[i] = 0
    for node in range(1, nodes):
        subject = -1
        target = -1
        direct = False
        for k in range(space.start[node], space.start[node + 1]):
            arc = space.below[k]
            kind, child = space.kind[arc], space.dependent[arc]
            if not space.tag[child] & MANY:
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
            for k in range(space.start[node], space.start[node + 1]):
                arc = space.below[k]
                child = space.dependent[arc]
                if space.tag[child] & MANY and (space.kind[arc] == NSUBJ or _is_object(space.kind[arc])):
                    done[child] = 1
    for node in range(1, nodes):
        if space.tag[node] & MANY and not done[node]:
            _number(space, node, True)


@kernel
def _add_name(n, space, kinds, arc):  # type: ignore[no-untyped-def]
    """The words of the preposition that names a relation."""
    if space.kind[arc] != MARKED:
        _add(space, kinds[space.kind[arc] - POSS])
        return
    marker = space.marker[arc]
    for word in range(1, n + 1):
        if word == marker or (space.relation[word] == MWE and space.head[word] == marker):
            _add(space, space.word[word])


@kernel
def _named(n, space, bits, kinds, arc):  # type: ignore[no-untyped-def]
    """A preposition that names a relation: the number of its word, or a phrase."""
    if space.kind[arc] != MARKED:
        name = kinds[space.kind[arc] - POSS]
        if not bits[name] & ODD:
            return name
    elif not space.parts[space.marker[arc]]:
        name = space.word[space.marker[arc]]
        if not bits[name] & ODD:
            return name
    phrase = _begin(space, NAMED)
    _add_name(n, space, kinds, arc)
    return phrase


@kernel
def _predicate(n, node, arc, space, bits, kinds):  # type: ignore[no-untyped-def]
    """A predicate's name: its lemma, its particle, and the preposition before its object."""
    name = space.lemma[node]
    particle = -1
    for k in range(space.start[node], space.start[node + 1]):
        one = space.below[k]
        if space.kind[one] == PARTICLE:
            particle = space.lemma[space.dependent[one]]
            break
    if particle >= 0 and bits[name] & BE:
        name = particle
        particle = -1
    kind = space.kind[arc]
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
    for k in range(space.start[case], space.start[case + 1]):
        if space.kind[space.below[k]] == MWE:
            parts += 1
    if not parts:
        return space.word[case]
    phrase = _begin(space, WRITTEN)
    _add(space, space.word[case])
    for k in range(space.start[case], space.start[case + 1]):
        if space.kind[space.below[k]] == MWE:
            _add(space, space.word[space.dependent[space.below[k]]])
    return phrase
