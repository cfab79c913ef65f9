"""Scene graphs on plain objects, without kernels: the expected results of the arrays."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add

from captious.parser import Sentence
from captious.parser.graph_codes import (
    AFTER_A,
    ALONE,
    BEFORE_DEFINITE,
    DIGITS,
    SINGULAR_PRONOUNS,
    SINGULAR_TAGS,
)
from captious.parser.graph_codes import NOUN_TAGS as NOUNS
from captious.parser.graph_codes import PLURAL_TAGS as PLURAL
from captious.scene import Concept, ConceptTable, Dependencies, Match, Tuple
from captious.scene.codes import Arc
from captious.scene.tuple_match import CATEGORIES, category_of
from captious.scene.tuple_rules import (
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
from captious.text.synonyms import Synonyms

# For every node its outgoing arcs as (relation, dependent).
Children = list[list[tuple[str, int]]]


def place(node: int) -> int:
    """The order in which the reference meets neighbours: that of a hash table with sixteen buckets."""
    return node & 15


def _children(graph: Dependencies) -> Children:
    table: Children = [[] for _ in graph.forms]
    for governor, dependent, relation in graph.arcs:
        table[governor].append((relation, dependent))
    return table


# Quantifiers and pronouns


def enhance(sentence: Sentence | Dependencies) -> Dependencies:
    """The graph of a sentence with quantifier phrases turned round and pronouns resolved."""
    graph = sentence if isinstance(sentence, Dependencies) else Dependencies.of(sentence)
    if "of" in graph.forms:
        graph = _quantifiers(graph)
    if "PRP" in graph.tags or "PRP$" in graph.tags:
        graph = _pronouns(graph)
    return graph


def _quantifiers(graph: Dependencies) -> Dependencies:
    arcs = graph.arcs
    for i in range(2, graph.words + 1):
        if graph.forms[i] != "of":
            continue
        quantifier = i - 1
        noun = _quantified(graph, arcs, quantifier, i)
        first = _phrase_start(graph, arcs, quantifier, noun) if noun else 0
        if first:
            arcs = _turned(arcs, first, quantifier, i, noun)
    return graph._replace(arcs=arcs)


def _phrase_start(graph: Dependencies, arcs: list[Arc], quantifier: int, noun: int) -> int:
    """The first word of a quantifier phrase; 0 if it is none."""
    forms = graph.forms
    form = forms[quantifier]
    if form in AFTER_A:
        return next((d for g, d, r in arcs if g == quantifier and r == "det" and forms[d] in ("a", "an")), 0)
    own = [d for g, d, _ in arcs if g == quantifier and d < quantifier]
    digits = DIGITS.fullmatch(form)
    if not (form in ALONE or (digits and digits[1])):
        if form not in BEFORE_DEFINITE and not digits:
            return 0
        if not graph.tags[noun].startswith("PRP") and not any(g == noun and r == "det" for g, _, r in arcs):
            return 0
    # Every dependent to the left of the quantifier belongs to the phrase, even a preposition: of "with lots
    # of donuts" the reference makes the attribute (donut, with).
    return min(own, default=quantifier)


def _quantified(graph: Dependencies, arcs: list[Arc], quantifier: int, of: int) -> int:
    """Return the noun or pronoun that a quantifier counts, or 0."""
    for governor, dependent, relation in arcs:
        if governor == quantifier and relation == "nmod:of" and (dependent, of, "case") in arcs:
            tag = graph.tags[dependent]
            if tag in NOUNS or tag.startswith("PRP"):
                return dependent
    return 0


def _turned(arcs: list[Arc], first: int, quantifier: int, of: int, noun: int) -> list[Arc]:
    """Return the arcs after the noun of a quantifier phrase has replaced the quantifier."""
    # Of several governors only one hands the quantifier over; the arcs from the others are lost.
    governors = [g for g, d, _ in arcs if d == quantifier and g != noun]
    kept = min(governors, key=place, default=0)
    turned: list[Arc] = []
    for governor, dependent, relation in arcs:
        if dependent == quantifier:
            if governor == kept and kept != noun:
                turned.append((governor, noun, relation))
        elif not (first <= dependent <= of or (governor == quantifier and dependent == noun)):
            turned.append((governor, dependent, relation))
    turned.append((noun, first, "det:qmod"))
    turned += [(first, word, "mwe") for word in range(first + 1, of + 1)]
    return turned


def _pronouns(graph: Dependencies) -> Dependencies:
    arcs = graph.arcs
    for word in range(2, graph.words + 1):
        if not graph.tags[word].startswith("PRP") or not any(d == word and g for g, d, _ in arcs):
            continue
        noun = _antecedent(graph, arcs, graph.forms[word] in SINGULAR_PRONOUNS)
        if 0 < noun < word:
            arcs = [(noun if g == word else g, noun if d == word else d, r) for g, d, r in arcs]
    return graph._replace(arcs=arcs)


def _antecedent(graph: Dependencies, arcs: list[Arc], singular: bool) -> int:
    """Return the first noun from the root, level by level and from left to right, or 0."""
    fitting = SINGULAR_TAGS if singular else NOUNS
    children: dict[int, list[int]] = {}
    for governor, dependent, _ in arcs:
        children.setdefault(governor, []).append(dependent)
    queue = sorted(children.get(0, []))[:1]
    seen = set(queue)
    for node in queue:
        if graph.tags[node] in fitting:
            return node
        for child in sorted(children.get(node, [])):
            if child not in seen:
                seen.add(child)
                queue.append(child)
    return 0


# Rules

#: Relations of a predicate to its objects, beside ``nmod:…``.
_OBJECTS = frozenset({"iobj", "dobj"})
#: ``nmod`` subtypes that are no prepositions.
_NO_PREPOSITION = frozenset({"poss", "agent"})


def tuples(sentence: Sentence | Dependencies) -> list[Tuple]:
    """The tuples that a sentence states, in the order of the rules; repeated ones stay repeated.

    A :class:`~captious.parser.Sentence` is enhanced first; a :class:`~captious.scene.Dependencies` is taken
    as it is.
    """
    graph = sentence if isinstance(sentence, Dependencies) else enhance(sentence)
    found: list[list[Tuple]] = [[] for _ in range(9)]
    compounds: list[Tuple] = []
    parts: set[int] = set()
    children = _children(graph)
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
    """Return the tuples that most rules find for one word and its dependents."""
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

    Where a plural subject meets plural objects, only the first of each is considered, and for an object after
    a preposition only a number counts, no quantifier: that is how the reference behaves.
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
    """A preposition as written, with its other words if it has several ("in front of")."""
    return " ".join([graph.forms[case], *(graph.forms[c] for r, c in children[case] if r == "mwe")])


# Graphs


class PlainConcept:
    """A set of words (or phrases) and the WordNet synsets they have between them."""

    __slots__ = ("synsets", "words")

    def __init__(self, word: str, synonyms: Synonyms) -> None:
        self.words: tuple[str, ...] = (word,)
        self.synsets: frozenset[int] = synonyms.synsets(word.replace(" ", "_"))

    def __repr__(self) -> str:
        return f"PlainConcept({self.name!r})"

    @property
    def name(self) -> str:
        """The words joined by ``/``, in the order in which the reference implementation prints them."""
        return Concept(self.words).name

    def similar(self, other: PlainConcept) -> bool:
        """Whether the two share a synset or a word."""
        if not self.synsets.isdisjoint(other.synsets):
            return True
        # Usually one word against one or two: comparing is faster than building sets.
        words = other.words
        return any(word in words for word in self.words) if len(self.words) > 1 else self.words[0] in words

    def similarity(self, other: PlainConcept) -> float:
        """1 for a shared word, else the Jaccard index of the synsets."""
        if not set(self.words).isdisjoint(other.words):
            return 1.0
        shared = len(self.synsets & other.synsets)
        return shared / (len(self.synsets) + len(other.synsets) - shared) if shared else 0.0

    def absorb(self, other: PlainConcept) -> None:
        """Take over the other's words and synsets."""
        self.words += tuple(word for word in other.words if word not in self.words)
        self.synsets |= other.synsets


class PlainGraph:
    """A scene graph. Tuples are added one by one; a synonym of a word that is there joins it."""

    def __init__(self, tuples: Iterable[Tuple] = (), synonyms: Synonyms | None = None) -> None:
        self.synonyms = synonyms if synonyms is not None else Synonyms.load()
        #: The objects, in the order in which they came.
        self.concepts: list[PlainConcept] = []
        #: Attributes of each object.
        self.attribute_concepts: list[list[PlainConcept]] = []
        #: Relations by (subject, object), as numbers of objects.
        self.relation_concepts: dict[tuple[int, int], list[PlainConcept]] = {}
        self._by_word: dict[str, int] = {}
        for item in tuples:
            self.add(item)

    def add(self, item: Tuple) -> None:
        """Add an object (1 word), an attribute (2) or a relation (3)."""
        subject = self._object(item[0])
        if len(item) == 2:
            self._join(self.attribute_concepts[subject], item[1])
        elif len(item) == 3:
            self._join(self.relation_concepts.setdefault((subject, self._object(item[2])), []), item[1])

    def _object(self, word: str) -> int:
        known = self._by_word.get(word)
        if known is not None:
            return known
        new = PlainConcept(word, self.synonyms)
        best, place = 0.0, -1
        apart = new.synsets.isdisjoint
        for i, concept in enumerate(self.concepts if new.synsets else ()):
            if not apart(concept.synsets):
                similarity = new.similarity(concept)
                if similarity >= best:
                    best, place = similarity, i
        if place < 0:
            place = len(self.concepts)
            self.concepts.append(new)
            self.attribute_concepts.append([])
        else:
            self.concepts[place].absorb(new)
        self._by_word[word] = place
        return place

    def _join(self, concepts: list[PlainConcept], word: str) -> None:
        new = PlainConcept(word, self.synonyms)
        near: PlainConcept | None = None
        for concept in concepts:
            if word in concept.words:
                return
            if near is None and not new.synsets.isdisjoint(concept.synsets):
                near = concept
        if near is None:
            concepts.append(new)
        else:
            near.absorb(new)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """How many objects, attributes and relations there are."""
        attributes = sum(map(len, self.attribute_concepts))
        return len(self.concepts), attributes, sum(map(len, self.relation_concepts.values()))

    @property
    def objects(self) -> list[str]:
        """Names of the objects."""
        return [concept.name for concept in self.concepts]

    @property
    def attributes(self) -> list[tuple[str, str]]:
        """(object, attribute)."""
        return [
            (concept.name, attribute.name)
            for concept, attributes in zip(self.concepts, self.attribute_concepts)
            for attribute in attributes
        ]

    @property
    def relations(self) -> list[tuple[str, str, str]]:
        """(subject, relation, object)."""
        return [
            (self.concepts[s].name, relation.name, self.concepts[o].name)
            for (s, o), relations in self.relation_concepts.items()
            for relation in relations
        ]

    @property
    def tuples(self) -> list[Tuple]:
        """All of them: objects, attributes, relations."""
        return [*((name,) for name in self.objects), *self.attributes, *self.relations]


# Matching


def match(candidate: PlainGraph, reference: PlainGraph) -> Match:
    """A candidate tuple is a hit if some reference tuple of the same length is similar in every place."""
    return _matched(candidate, reference, _near(candidate, reference))


def _matched(candidate: PlainGraph, reference: PlainGraph, near: list[list[int]]) -> Match:
    attributes = [
        any(attribute.similar(other) for j in near[i] for other in reference.attribute_concepts[j])
        for i, own in enumerate(candidate.attribute_concepts)
        for attribute in own
    ]
    relations = [
        any(
            relation.similar(other)
            for s in near[subject]
            for o in near[target]
            for other in reference.relation_concepts.get((s, o), ())
        )
        for (subject, target), own in candidate.relation_concepts.items()
        for relation in own
    ]
    return Match([bool(places) for places in near], attributes, relations)


def _near(candidate: PlainGraph, reference: PlainGraph) -> list[list[int]]:
    """For every object of the candidate the similar objects of the references."""
    return [
        [j for j, other in enumerate(reference.concepts) if own.similar(other)] for own in candidate.concepts
    ]


def counts(candidate: PlainGraph, reference: PlainGraph) -> dict[str, tuple[int, int, int]]:
    """Hits, candidate tuples and reference tuples in "All" and in each of the ``CATEGORIES``.

    A number, colour or size is a hit in its category if it is similar to a reference attribute of the same
    category.
    """
    found = match(candidate, reference)
    sizes = reference.sizes
    hits = [sum(found.objects), sum(found.attributes), sum(found.relations), 0, 0, 0]
    own = [len(found.objects), len(found.attributes), len(found.relations), 0, 0, 0]
    theirs = [*sizes, 0, 0, 0]
    table: dict[str, tuple[int, int, int]] = {"All": (sum(hits), sum(own), sum(theirs))}
    for attributes in reference.attribute_concepts:
        for attribute in attributes:
            if category := kind(attribute):
                theirs[category] += 1
    for i, attributes in enumerate(candidate.attribute_concepts):
        for attribute in attributes:
            category = kind(attribute)
            if category:
                own[category] += 1
                hits[category] += any(
                    kind(other) == category and attribute.similar(other)
                    for concept, others in zip(reference.concepts, reference.attribute_concepts)
                    if others and concept.similar(candidate.concepts[i])
                    for other in others
                )
    table.update(zip(CATEGORIES, zip(hits, own, theirs)))
    return table


def kind(attribute: PlainConcept) -> int:
    """Return the category of an attribute. Attributes of several words have none."""
    return 0 if len(attribute.words) > 1 else category_of(attribute.words[0])


def uniqueness(candidate: Iterable[Tuple], reference: Iterable[Tuple], table: ConceptTable) -> float:
    """Where the candidate's tuples lie between the most common and the most unusual choice of as many."""
    own = set(candidate)
    all_values = sorted(map(table.uniqueness, own | set(reference)))
    number = len(own)
    least, most = _sum(all_values[:number]), _sum(all_values[len(all_values) - number :])
    if most <= least:
        return 1.0
    # Rounding must not take the most common choice below 0 or the most unusual above 1.
    return min(1.0, max(0.0, (_sum(sorted(map(table.uniqueness, own))) - least) / (most - least)))


def _sum(values: list[float]) -> float:
    """Add in order: from version 3.12 on, Python's sum rounds differently."""
    return reduce(add, values, 0.0)
