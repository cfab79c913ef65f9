"""Whatever graph a parser may produce, the rules give tuples of words and never fail."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from captious.language import Sentence
from captious.scene import SceneGraph, match, tuples
from captious.scene.match import match_both
from captious.text.synonyms import Synonyms

WORDS = ["a", "an", "of", "lots", "couple", "pair", "two", "the", "dog", "dogs", "it", "them", "run", "be", "on", "red", "😀"]
TAGS = ["DT", "IN", "NN", "NNS", "NNP", "PRP", "PRP$", "VBZ", "VBG", "JJ", "CD", "RP", "."]
RELATIONS = [
    "root", "nsubj", "nsubjpass", "dobj", "iobj", "nmod:of", "nmod:in_front_of", "nmod:poss", "nmod:agent", "acl", "amod", "cop",
    "case", "mwe", "compound", "compound:prt", "nummod", "det", "det:qmod", "conj:and", "dep",
]  # fmt: skip
NO_SYNONYMS = Synonyms({"dog": [1, 2], "dogs": [2, 3], "run": [3]}, {})


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    forms = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=20))
    size = len(forms)
    tags = draw(st.lists(st.sampled_from(TAGS), min_size=size, max_size=size))
    ends = st.one_of(st.integers(0, size).map(float), st.integers(1, size).map(lambda i: i + 0.5))
    inner = st.one_of(st.integers(1, size).map(float), st.integers(1, size).map(lambda i: i + 0.5))
    graph = draw(st.lists(st.tuples(ends, inner, st.sampled_from(RELATIONS)), max_size=40))
    return Sentence(forms, tags, forms, [0] * size, ["dep"] * size, graph)


@settings(max_examples=300, deadline=None)
@given(sentences())
def test_tuples_of_any_graph(sentence: Sentence) -> None:
    before = list(sentence.graph)
    found = tuples(sentence)
    assert sentence.graph == before
    assert all(1 <= len(item) <= 3 and all(item) for item in found)
    graph = SceneGraph(found, NO_SYNONYMS)
    # Every object that has an attribute or a relation is an object.
    named = set(graph.objects)
    assert {item[0] for item in graph.tuples} <= named
    assert {item[2] for item in graph.relations} <= named
    assert len(set(graph.tuples)) == len(graph.tuples)
    # A graph confirms itself.
    assert all(match(graph, graph).hits)


@settings(max_examples=100, deadline=None)
@given(sentences(), sentences())
def test_both_ways_at_once_are_the_two_ways(one: Sentence, other: Sentence) -> None:
    first, second = (SceneGraph(tuples(sentence), NO_SYNONYMS) for sentence in (one, other))
    assert match_both(first, second) == (match(first, second), match(second, first))
