"""From a dependency graph to tuples: objects (noun,), attributes (noun, word) and relations (noun, phrase, noun)."""

from __future__ import annotations

from captious.language import Sentence
from captious.scene.dependencies import NOUNS, PLURAL, Children, Dependencies, place
from captious.scene.enhance import enhance

#: An object, an attribute or a relation, of lemmas.
Tuple = tuple[str, ...]

#: Relations of a predicate to its objects, beside ``nmod:…``.
_OBJECTS = frozenset({"iobj", "dobj"})
#: ``nmod`` subtypes that are no prepositions.
_NO_PREPOSITION = frozenset({"poss", "agent"})

# The rules, in the order in which the reference applies them. The order matters when synonyms merge.
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
) = range(9)


def tuples(sentence: Sentence | Dependencies) -> list[Tuple]:
    """The tuples that a sentence states, in the order of the rules; repeated ones stay repeated.

    A :class:`~captious.language.Sentence` is enhanced first; a :class:`~captious.scene.Dependencies` is taken as it is.
    """
    graph = sentence if isinstance(sentence, Dependencies) else enhance(sentence)
    found: list[list[Tuple]] = [[] for _ in range(9)]
    compounds: list[Tuple] = []
    parts: set[int] = set()
    children = graph.children()
    tags, lemmas = graph.tags, graph.lemmas
    for node, below in enumerate(children):
        if below and node:
            _at(node, graph, children, found)
            if tags[node] in NOUNS:
                for relation, child in below:
                    if relation == "compound" and tags[child] in NOUNS:
                        compounds.append((lemmas[node], lemmas[child]))
                        parts |= {node, child}
    stated = [item for rule in found for item in rule]
    stated += _numbers(graph, children)
    stated += compounds
    stated += [(lemmas[i],) for i in range(1, len(tags)) if tags[i] in NOUNS and i not in parts]
    return stated


def _at(node: int, graph: Dependencies, children: Children, found: list[list[Tuple]]) -> None:
    """What most rules read from one word and its dependents."""
    tags, lemmas = graph.tags, graph.lemmas
    tag, lemma = tags[node], lemmas[node]
    noun = tag in NOUNS
    copula = False
    subjects: list[int] = []
    objects: list[tuple[str, int]] = []
    cases: list[int] = []
    for relation, child in children[node]:
        if relation == "case":
            cases.append(child)
        elif relation == "amod":
            found[MODIFIER].append((lemma, lemmas[child]))
        elif relation[:5] == "nmod:":
            kind = relation[5:]
            if tags[child] in NOUNS:
                objects.append((relation, child))
                if noun and kind == "poss":
                    found[POSSESSIVE].append((lemmas[child], "have", lemma))
            if noun and kind not in _NO_PREPOSITION:
                found[PREPOSITION].append((lemma, kind.replace("_", " "), lemmas[child]))
        elif relation == "nsubj":
            if tags[child] in NOUNS:
                subjects.append(child)
            if tag[:1] == "J":
                found[PREDICATIVE].append((lemmas[child], lemma))
        elif relation in _OBJECTS:
            if tags[child] in NOUNS:
                objects.append((relation, child))
        elif relation == "cop":
            copula = True
        elif relation == "acl" and tags[child][:1] == "V":
            for inner, target in children[child]:
                if tags[target] in NOUNS and (inner in _OBJECTS or inner[:5] == "nmod:"):
                    found[CLAUSE].append((lemma, _predicate(child, inner, graph, children), lemmas[target]))
    if subjects:
        if objects and not copula:
            found[TRANSITIVE] += [
                (lemmas[subject], _predicate(node, relation, graph, children), lemmas[target])
                for subject in subjects
                for relation, target in objects
            ]
        else:
            rule = found[COPULA if copula else INTRANSITIVE]
            if cases:
                phrase = _preposition(min(cases, key=place), graph, children)
                rule += [(lemmas[subject], phrase, lemma) for subject in subjects]
            elif lemma != "be":
                rule += [(lemmas[subject], lemma) for subject in subjects]
    if objects and tag[:1] == "V":
        _passive(node, objects, graph, children, found[PASSIVE])


def _passive(
    node: int, objects: list[tuple[str, int]], graph: Dependencies, children: Children, found: list[Tuple]
) -> None:
    """The agent of a passive does something to its subject."""
    for relation, agent in objects:
        if relation == "nmod:agent":
            name = _predicate(node, relation, graph, children)
            found += [
                (graph.lemmas[agent], name, graph.lemmas[patient])
                for kind, patient in children[node]
                if kind == "nsubjpass" and graph.tags[patient] in NOUNS
            ]


def _numbers(graph: Dependencies, children: Children) -> list[Tuple]:
    """(noun, number) for plural nouns with a number to their left, or else with a quantifier.

    Where a plural subject meets plural objects, only the first of each is looked at, and for an object after a
    preposition only a number counts, no quantifier: that is how the reference behaves.
    """
    tags, lemmas = graph.tags, graph.lemmas
    if not any(relation in ("nummod", "det:qmod") for _, _, relation in graph.arcs):
        return []
    done: set[int] = set()
    found: list[Tuple] = []

    def number(noun: int, quantified: bool) -> None:
        count = [c for r, c in children[noun] if r == "nummod" and c < noun]
        if not count and quantified:
            count = [c for r, c in children[noun] if r == "det:qmod"]
        if count:
            found.append((lemmas[noun], lemmas[min(count, key=place)]))

    for below in children[1:]:
        plural = [(r, c) for r, c in below if tags[c] in PLURAL]
        subjects = [c for r, c in plural if r == "nsubj"]
        objects = [(place(c), c, r in _OBJECTS) for r, c in plural if r in _OBJECTS or r[:5] == "nmod:"]
        if subjects and objects:
            number(min(subjects, key=place), True)
            _, target, direct = min(objects)
            number(target, direct)
            done.update(subjects, (c for _, c, _ in objects))
    for node in range(1, len(tags)):
        if tags[node] in PLURAL and node not in done:
            number(node, True)
    return found


def _predicate(node: int, relation: str, graph: Dependencies, children: Children) -> str:
    """A predicate's name: its lemma, its particle, and the preposition before its object."""
    name = graph.lemmas[node]
    for kind, child in children[node]:
        if kind == "compound:prt":
            name = graph.lemmas[child] if name == "be" else f"{name} {graph.lemmas[child]}"
            break
    if relation[:5] == "nmod:" and relation[5:] not in _NO_PREPOSITION:
        name = f"{name} {relation[5:].replace('_', ' ')}"
    return name.removeprefix("be ")


def _preposition(case: int, graph: Dependencies, children: Children) -> str:
    """A preposition, with the other words of one that has several ("in front of"); as written: "according to"."""
    return " ".join([graph.forms[case], *(graph.forms[c] for r, c in children[case] if r == "mwe")])
