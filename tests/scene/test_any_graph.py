"""For any graph, the rules return tuples of words and never fail."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from captious.parser import Sentence
from captious.scene import SceneGraph, enhance, match, tuples
from captious.text.synonyms import Synonyms
from tests.scene import plain_scene

WORDS = [
    "a",
    "an",
    "of",
    "lots",
    "couple",
    "pair",
    "two",
    "the",
    "dog",
    "dogs",
    "it",
    "them",
    "run",
    "be",
    "on",
    "red",
    "😀",
]
TAGS = ["DT", "IN", "NN", "NNS", "NNP", "PRP", "PRP$", "VBZ", "VBG", "JJ", "CD", "RP", "."]
RELATIONS = [
    "root", "nsubj", "nsubjpass", "dobj", "iobj", "nmod:of", "nmod:in_front_of", "nmod:poss", "nmod:agent",
    "acl", "amod", "cop", "case", "mwe", "compound", "compound:prt", "nummod", "det", "det:qmod",
    "conj:and", "dep",
]  # fmt: skip
NO_SYNONYMS = Synonyms.of({"dog": [1, 2], "dogs": [2, 3], "run": [3]}, {})


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
    stated = tuples(sentence)
    assert sentence.graph == before
    assert stated == plain_scene.tuples(sentence)
    assert enhance(sentence) == plain_scene.enhance(sentence)
    assert all(1 <= len(item) <= 3 and all(item) for item in stated)
    graph = SceneGraph(stated, NO_SYNONYMS)
    # Every object that has an attribute or a relation is an object.
    named = set(graph.objects)
    assert {item[0] for item in graph.tuples} <= named
    assert {item[2] for item in graph.relations} <= named
    assert len(set(graph.tuples)) == len(graph.tuples)
    # A graph confirms itself.
    assert all(match(graph, graph).hits)


@settings(max_examples=100, deadline=None)
@given(sentences(), sentences())
def test_hits_are_those_of_plain_graphs(one: Sentence, other: Sentence) -> None:
    listed = [tuples(sentence) for sentence in (one, other)]
    first, second = (SceneGraph(items, NO_SYNONYMS) for items in listed)
    assert match(first, second) == plain_scene.match(
        *(plain_scene.PlainGraph(items, NO_SYNONYMS) for items in listed)
    )
