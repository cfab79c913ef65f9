"""From a dependency graph to tuples: objects (noun,), attributes (noun, word) and relations (noun, phrase, noun)."""

from __future__ import annotations

from captious.language import Sentence
from captious.scene.dependencies import NOUNS, PLURAL, Dependencies
from captious.scene.enhance import enhance

#: An object, an attribute or a relation, of lemmas.
Tuple = tuple[str, ...]

#: Relations of a predicate to its objects, beside ``nmod:…``.
_OBJECTS = frozenset({"iobj", "dobj"})
#: ``nmod`` subtypes that are no prepositions.
_NO_PREPOSITION = frozenset({"poss", "agent"})

_Children = list[list[tuple[str, int]]]


def tuples(sentence: Sentence | Dependencies) -> list[Tuple]:
    """The tuples that a sentence states, in the order of the rules; repeated ones stay repeated.

    A :class:`~captious.language.Sentence` is enhanced first; a :class:`~captious.scene.Dependencies` is taken as it is.
    """
    graph = sentence if isinstance(sentence, Dependencies) else enhance(sentence)
    found: dict[int, list[Tuple]] = {rule: [] for rule in range(1, 12)}
    children = graph.children()
    compounds: set[int] = set()
    tags = graph.tags
    for node in range(1, len(tags)):
        if children[node]:
            _at(node, graph, children, found, compounds)
    lemmas = graph.lemmas
    found[11] = [(lemmas[i],) for i in range(1, len(tags)) if tags[i] in NOUNS and i not in compounds]
    return [item for rule in found.values() for item in rule]


def _at(
    node: int, graph: Dependencies, children: _Children, found: dict[int, list[Tuple]], compounds: set[int]
) -> None:
    """What the rules read from one word and its dependents."""
    tags, lemmas = graph.tags, graph.lemmas
    tag, lemma = tags[node], lemmas[node]
    noun = tag in NOUNS
    copula = False
    subjects: list[int] = []
    objects: list[tuple[str, int]] = []
    cases: list[int] = []
    numbers: list[int] = []
    quantifiers: list[int] = []
    for relation, child in children[node]:
        child_is_noun = tags[child] in NOUNS
        if relation.startswith("nmod:"):
            if child_is_noun:
                objects.append((relation, child))
            if noun:
                kind = relation[5:]
                if kind not in _NO_PREPOSITION:
                    found[6].append((lemma, kind.replace("_", " "), lemmas[child]))
                elif kind == "poss" and child_is_noun:
                    found[7].append((lemmas[child], "have", lemma))
        elif relation == "amod":
            found[4].append((lemma, lemmas[child]))
        elif relation == "compound":
            if noun and child_is_noun:
                found[10].append((lemma, lemmas[child]))
                compounds.add(node)
                compounds.add(child)
        elif relation == "nsubj":
            if child_is_noun:
                subjects.append(child)
            if tag.startswith("J"):
                found[5].append((lemmas[child], lemma))
        elif relation in _OBJECTS:
            if child_is_noun:
                objects.append((relation, child))
        elif relation == "case":
            cases.append(child)
        elif relation == "cop":
            copula = True
        elif relation == "nummod":
            if child < node:
                numbers.append(child)
        elif relation == "det:qmod":
            quantifiers.append(child)
        elif relation == "acl" and tags[child].startswith("V"):
            for inner, target in children[child]:
                if tags[target] in NOUNS and (inner in _OBJECTS or inner.startswith("nmod:")):
                    found[2].append((lemma, _predicate(child, inner, graph, children), lemmas[target]))
    if subjects:
        if objects and not copula:
            found[1] += [
                (lemmas[s], _predicate(node, relation, graph, children), lemmas[o])
                for s in subjects
                for relation, o in objects
            ]
        elif cases:
            phrase = " ".join(lemmas[i] for i in _case_words(cases, children))
            found[3] += [(lemmas[s], phrase, lemma) for s in subjects]
        elif lemma != "be":
            found[3] += [(lemmas[s], lemma) for s in subjects]
    if tag.startswith("V") and objects:
        patients = [c for r, c in children[node] if r == "nsubjpass" and tags[c] in NOUNS]
        for relation, agent in objects:
            if relation == "nmod:agent":
                found[8] += [(lemmas[agent], lemma, lemmas[patient]) for patient in patients]
    if tag in PLURAL and (numbers or quantifiers):
        found[9].append((lemma, lemmas[(numbers or quantifiers)[0]]))


def _predicate(node: int, relation: str, graph: Dependencies, children: _Children) -> str:
    """A predicate's name: its lemma, its particle, and the preposition before its object."""
    name = graph.lemmas[node]
    for kind, child in children[node]:
        if kind == "compound:prt":
            name = graph.lemmas[child] if name == "be" else f"{name} {graph.lemmas[child]}"
            break
    if relation.startswith("nmod:") and relation[5:] not in _NO_PREPOSITION:
        name = f"{name} {relation[5:].replace('_', ' ')}"
    return name.removeprefix("be ")


def _case_words(cases: list[int], children: _Children) -> list[int]:
    """Prepositions with the words of multi-word ones ("in front of"), in the order of the sentence."""
    words = list(cases)
    for case in cases:
        words += [child for relation, child in children[case] if relation == "mwe"]
    return sorted(words)
