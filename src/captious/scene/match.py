"""Which tuples of a candidate's scene graph the references' graph confirms."""

from __future__ import annotations

from typing import NamedTuple

from captious.scene.categories import CATEGORIES, kind
from captious.scene.graph import SceneGraph

#: Hits, candidate tuples, reference tuples.
Counts = tuple[int, int, int]


class Match(NamedTuple):
    """The hits in a candidate, in the order of its ``tuples``: objects, attributes, relations."""

    objects: list[bool]
    attributes: list[bool]
    relations: list[bool]

    @property
    def hits(self) -> list[bool]:
        """One truth value per tuple of the candidate."""
        return [*self.objects, *self.attributes, *self.relations]


def match(candidate: SceneGraph, reference: SceneGraph) -> Match:
    """A candidate tuple is a hit if some reference tuple of the same length is similar in every place."""
    return _matched(candidate, reference, _near(candidate, reference))


def match_both(candidate: SceneGraph, reference: SceneGraph) -> tuple[Match, Match]:
    """The hits in the candidate, and those in the reference: similarity has no direction, so it is looked at once."""
    near = _near(candidate, reference)
    back: list[list[int]] = [[] for _ in reference.concepts]
    for i, places in enumerate(near):
        for j in places:
            back[j].append(i)
    return _matched(candidate, reference, near), _matched(reference, candidate, back)


def _matched(candidate: SceneGraph, reference: SceneGraph, near: list[list[int]]) -> Match:
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


def _near(candidate: SceneGraph, reference: SceneGraph) -> list[list[int]]:
    """For every object of the candidate the similar objects of the references."""
    return [[j for j, other in enumerate(reference.concepts) if own.similar(other)] for own in candidate.concepts]


def counts(candidate: SceneGraph, reference: SceneGraph) -> dict[str, Counts]:
    """Hits, candidate tuples and reference tuples in "All" and in each of the ``CATEGORIES``.

    A number, colour or size is a hit in its category if it is similar to a reference attribute of the same category.
    """
    found = match(candidate, reference)
    sizes = reference.sizes
    hits = [sum(found.objects), sum(found.attributes), sum(found.relations), 0, 0, 0]
    own = [len(found.objects), len(found.attributes), len(found.relations), 0, 0, 0]
    theirs = [*sizes, 0, 0, 0]
    table = {"All": (sum(hits), sum(own), sum(theirs))}
    theirs[3:] = reference.kinds
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


def precision_recall_f(counts: Counts) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean; 0 where there is nothing to divide by."""
    hits, candidate, reference = counts
    precision = hits / candidate if candidate else 0.0
    recall = hits / reference if reference else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0
