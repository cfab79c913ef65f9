"""Synonym merging and matching, with a small dictionary of our own."""

from __future__ import annotations

import pytest

from captious.scene import Concept, SceneGraph, counts, match, precision_recall_f
from captious.text.synonyms import Synonyms

SYNSETS = {
    "sofa": [1], "couch": [1, 2], "settee": [1, 3, 4], "bed": [2, 9, 10],
    "big": [20], "large": [20, 21], "huge": [21], "sit_on": [30], "rest_on": [30], "dog": [40],
}  # fmt: skip


@pytest.fixture
def synonyms() -> Synonyms:
    return Synonyms.of(SYNSETS, {})


def test_objects_attributes_relations(synonyms: Synonyms) -> None:
    graph = SceneGraph([("dog", "sit on", "sofa"), ("dog", "brown"), ("lamp",)], synonyms)
    assert graph.objects == ["dog", "sofa", "lamp"]
    assert graph.attributes == [("dog", "brown")]
    assert graph.relations == [("dog", "sit on", "sofa")]
    assert graph.sizes == (3, 1, 1)
    assert len(graph.tuples) == 5


def test_repeated_tuples_are_one(synonyms: Synonyms) -> None:
    assert len(SceneGraph([("dog", "brown"), ("dog", "brown"), ("dog",)], synonyms).tuples) == 2


def test_synonyms_become_one_object_with_both_words(synonyms: Synonyms) -> None:
    graph = SceneGraph([("sofa", "red"), ("couch", "old")], synonyms)
    assert len(graph.concepts) == 1
    assert set(graph.objects[0].split("/")) == {"sofa", "couch"}
    assert [attribute for _, attribute in graph.attributes] == ["red", "old"]


def test_an_object_joins_the_most_similar(synonyms: Synonyms) -> None:
    # couch shares 1 of 2 synsets with sofa and 1 of 4 with bed.
    graph = SceneGraph([("bed",), ("sofa",), ("couch",)], synonyms)
    assert [set(name.split("/")) for name in graph.objects] == [{"bed"}, {"sofa", "couch"}]


def test_attributes_and_relations_join_the_first_similar(synonyms: Synonyms) -> None:
    graph = SceneGraph(
        [
            ("dog", "big"),
            ("dog", "huge"),
            ("dog", "large"),
            ("dog", "rest on", "bed"),
            ("dog", "sit on", "bed"),
        ],
        synonyms,
    )
    assert [set(name.split("/")) for _, name in graph.attributes] == [{"big", "large"}, {"huge"}]
    assert [set(name.split("/")) for _, name, _ in graph.relations] == [{"rest on", "sit on"}]


def test_the_same_words_with_other_objects_stay_apart(synonyms: Synonyms) -> None:
    graph = SceneGraph([("dog", "big"), ("bed", "large")], synonyms)
    assert graph.attributes == [("dog", "big"), ("bed", "large")]


def test_names_are_ordered_as_the_reference_prints_them() -> None:
    assert Concept(("bathroom", "toilet")).name == "toilet/bathroom"


def test_words_without_synsets_are_similar_to_themselves_alone(synonyms: Synonyms) -> None:
    candidate = SceneGraph([("zzz",), ("yyy",)], synonyms)
    assert match(candidate, SceneGraph([("zzz",)], synonyms)).objects == [True, False]


def test_match_needs_every_place(synonyms: Synonyms) -> None:
    reference = SceneGraph([("dog", "sit on", "sofa"), ("sofa", "large")], synonyms)
    candidate = SceneGraph(
        [("dog", "rest on", "couch"), ("couch", "big"), ("dog", "big"), ("sofa", "sit on", "dog")], synonyms
    )
    found = match(candidate, reference)
    assert found.objects == [True, True]
    # The dog comes first, and no reference calls it big.
    assert found.attributes == [False, True]
    assert found.relations == [True, False]
    assert found.hits == [*found.objects, *found.attributes, *found.relations]


def test_counts_by_category(synonyms: Synonyms) -> None:
    reference = SceneGraph([("dog", "two"), ("dog", "brown"), ("sofa", "large")], synonyms)
    candidate = SceneGraph([("dog", "two"), ("dog", "black"), ("couch", "big")], synonyms)
    assert counts(candidate, reference) == {
        "All": (4, 5, 5), "Object": (2, 2, 2), "Attribute": (2, 3, 3), "Relation": (0, 0, 0),
        "Cardinality": (1, 1, 1), "Color": (0, 1, 1), "Size": (1, 1, 1),
    }  # fmt: skip


def test_an_attribute_with_several_words_is_in_no_list(synonyms: Synonyms) -> None:
    merged = SceneGraph([("dog", "big"), ("dog", "large")], synonyms)
    table = counts(SceneGraph([("dog", "big")], synonyms), merged)
    assert table["Attribute"] == (1, 1, 1)
    assert table["Size"] == (0, 1, 0)


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        ((0, 0, 0), (0, 0, 0)),
        ((0, 3, 0), (0, 0, 0)),
        ((0, 0, 3), (0, 0, 0)),
        ((2, 2, 2), (1, 1, 1)),
        ((1, 2, 4), (0.5, 0.25, 1 / 3)),
    ],
)
def test_precision_recall_f(counted: tuple[int, int, int], expected: tuple[float, float, float]) -> None:
    assert precision_recall_f(counted) == pytest.approx(expected)


def test_empty_graphs(synonyms: Synonyms) -> None:
    empty = SceneGraph([], synonyms)
    assert empty.tuples == [] and match(empty, empty).hits == []
    assert counts(empty, SceneGraph([("dog",)], synonyms))["All"] == (0, 0, 1)


def test_of_two_objects_equally_near_the_later_one_takes_the_word() -> None:
    synonyms = Synonyms.of({"sofa": [1, 5], "stool": [2, 6], "seat": [1, 2]}, {})
    merged = SceneGraph([("sofa",), ("stool",), ("seat",)], synonyms)
    assert [set(name.split("/")) for name in merged.objects] == [{"sofa"}, {"stool", "seat"}]


def test_phrases_are_looked_up_with_underscores(synonyms: Synonyms) -> None:
    candidate = SceneGraph([("dog", "sit on", "sofa")], synonyms)
    reference = SceneGraph([("dog", "rest on", "couch")], synonyms)
    assert match(candidate, reference).relations == [True]
