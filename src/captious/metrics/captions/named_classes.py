"""Object classes in captions and in concepts, by CHAIR's synonym table: "sofa" and "couches" are a couch."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from captious.core.errors import InputError, did_you_mean
from captious.corpus import Captions
from captious.metrics.captions.chair import find_objects
from captious.metrics.captions.chair_table import ObjectTable
from captious.scene.concept_truth import ConceptTruth
from captious.scene.graphs import SceneGraphs
from captious.text.synonyms import Synonyms


@lru_cache(maxsize=1)
def no_synonyms() -> Synonyms:
    """Return a dictionary without entries. Classes are distinct, but "dog" and "hot dog" share a synset."""
    return Synonyms.of({}, {})


def class_graphs(captions: Captions, table: ObjectTable) -> SceneGraphs:
    """Return one graph per caption: the classes that the caption names."""

    def make() -> SceneGraphs:
        named = find_objects(captions, table)
        kinds = [(table.kinds[kind],) for kind in named.kind.tolist()]
        groups = (dict.fromkeys(kinds[a:b]) for a, b in pairwise(named.offsets.tolist()))
        return SceneGraphs.from_tuples(groups, no_synonyms())

    return captions.cached(("graphs of classes", table.digest), make)


def truth_by_classes(truth: ConceptTruth, table: ObjectTable) -> ConceptTruth:
    """Return the objects of images under the names of their classes."""
    if not truth.only_objects:
        raise InputError(
            "--truth-names classes compares objects, and the file of --truth has attributes or relations; "
            "give objects per image, or choose --truth-names nouns"
        )
    kinds: dict[str, str] = {}
    for name in {item[0] for items in truth.tuples.values() for item in items}:
        kind = table.class_of(name)
        if kind is None:
            raise InputError(
                f"--truth: the object '{name}' is not in the synonym table"
                f"{did_you_mean(name, table.objects)}; judge captions by their nouns: --truth-names nouns"
            )
        kinds[name] = kind
    return ConceptTruth(
        {image: [(kinds[name],) for (name, *_) in items] for image, items in truth.tuples.items()}
    )
