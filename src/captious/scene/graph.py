"""Scene graphs: objects with attributes, and relations between them, where synonyms are one thing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from captious import html
from captious.scene.categories import kind
from captious.scene.concepts import Concept
from captious.scene.rules import Tuple
from captious.text.synonyms import Synonyms

#: The words of one concept, in the order in which they joined it.
Words = tuple[str, ...]


class SceneGraph:
    """What one or several captions say about a scene. Tuples are added one by one; a synonym of a word that is already
    there joins it."""

    def __init__(self, tuples: Iterable[Tuple] = (), synonyms: Synonyms | None = None) -> None:
        self.synonyms = synonyms if synonyms is not None else Synonyms.load()
        #: The objects, in the order in which they came.
        self.concepts: list[Concept] = []
        #: Attributes of each object.
        self.attribute_concepts: list[list[Concept]] = []
        #: Relations by (subject, object), as numbers of objects.
        self.relation_concepts: dict[tuple[int, int], list[Concept]] = {}
        self._by_word: dict[str, int] = {}
        self._kinds: tuple[int, int, int] | None = None
        for item in tuples:
            self.add(item)

    def _repr_html_(self) -> str:
        return html.scene_graph(self)

    def add(self, item: Tuple) -> None:
        """Add an object (1 word), an attribute (2) or a relation (3)."""
        self._kinds = None
        subject = self._object(item[0])
        if len(item) == 2:
            self._join(self.attribute_concepts[subject], item[1])
        elif len(item) == 3:
            self._join(self.relation_concepts.setdefault((subject, self._object(item[2])), []), item[1])

    def restore(
        self,
        objects: Sequence[Words],
        attributes: Iterable[tuple[int, Words]],
        relations: Iterable[tuple[Sequence[int], Words]],
    ) -> None:
        """Fill an empty graph with concepts that were built before: attributes with the place of their object, relations with
        those of subject and object."""
        self.concepts = [Concept.joined(words, self.synonyms) for words in objects]
        self._by_word = {word: place for place, words in enumerate(objects) for word in words}
        self.attribute_concepts = [[] for _ in objects]
        for owner, words in attributes:
            self.attribute_concepts[owner].append(Concept.joined(words, self.synonyms))
        for (subject, target), words in relations:
            self.relation_concepts.setdefault((subject, target), []).append(Concept.joined(words, self.synonyms))

    def _object(self, word: str) -> int:
        known = self._by_word.get(word)
        if known is not None:
            return known
        new = Concept(word, self.synonyms)
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

    def _join(self, concepts: list[Concept], word: str) -> None:
        new = Concept(word, self.synonyms)
        near: Concept | None = None
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
    def kinds(self) -> tuple[int, int, int]:
        """How many attributes are numbers, colours and sizes. References are asked again and again."""
        if self._kinds is None:
            found = [kind(attribute) for attributes in self.attribute_concepts for attribute in attributes]
            self._kinds = (found.count(3), found.count(4), found.count(5))
        return self._kinds

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
