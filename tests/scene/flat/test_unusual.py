"""Tuples of graphs in arrays, and how unusual they are: beside graphs as objects, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.data import demo_path
from captious.kernels import called_often
from captious.metrics.spice_u import Uniq, uniqueness
from captious.scene import ConceptTable, SceneGraph, Tuple
from captious.scene.flat.concepts import Stated
from captious.scene.flat.unusual import CountedGraphs, CountedTable, between, flat_uniqueness
from captious.scene.packed import PackedGraphs, packed
from captious.text.synonyms import Synonyms

#: Some are synonyms of others; a name with a stroke may be that of two words.
WORDS = ["couch", "sofa", "lounge", "dog", "cat", "man", "person", "red", "big", "large", "run", "sofa/couch", "couch/sofa", "unicorn", "be on", "hound"]


def graphs(count: int, seed: int) -> list[SceneGraph]:
    """Graphs of random tuples, some of them of none."""
    rng = np.random.default_rng(seed)
    synonyms = Synonyms.load()
    made = []
    for _ in range(count):
        picked = [rng.integers(0, len(WORDS), rng.integers(1, 4)).tolist() for _ in range(rng.integers(0, 9))]
        made.append(SceneGraph([tuple(WORDS[w] for w in item) for item in picked], synonyms))
    return made


def stated(listed: list[SceneGraph]) -> Stated:
    return packed(listed, Synonyms.load()).stated


def test_tuples_are_those_of_the_graphs() -> None:
    listed = graphs(80, seed=1)
    made = stated(listed)
    found = list(made.tuples())
    assert [found[a:b] for a, b in itertools.pairwise(made.offsets.tolist())] == [graph.tuples for graph in listed]
    assert any("/" in name for name in made.names) and len(set(made.names)) == len(made.names)
    some = np.array([7, 3, 3, 60])
    part = made.of_graphs(some)
    chosen = list(part.tuples())
    assert [chosen[a:b] for a, b in itertools.pairwise(part.offsets.tolist())] == [listed[i].tuples for i in some]
    assert set(part.names) == {name for i in some for item in listed[i].tuples for name in item}
    assert list(stated([]).tuples()) == []


def test_images_are_counted_once() -> None:
    """An image may state a tuple twice under one name; and what it is asked about may have names that it does not know."""
    listed = graphs(120, seed=2)
    table = ConceptTable.of(graph.tuples for graph in listed)
    counted = CountedGraphs(stated(listed))
    others = stated([*graphs(60, seed=3), SceneGraph([("wug",), ("dog", "wuggy"), ("dog", "be on", "wug")], Synonyms.load())])
    expected = [table.counts.get(item, 0) for item in others.tuples()]
    assert counted.counts_of(others).tolist() == expected == CountedTable(table).counts_of(others).tolist()
    assert counted.images == table.images == 120
    assert 0 in expected and max(expected) > 5


@pytest.mark.parametrize("table", ["graphs", "concepts"])
def test_uniqueness_one_by_one(table: str) -> None:
    ours, theirs = graphs(150, seed=4), graphs(50, seed=5)
    concepts = ConceptTable.of(graph.tuples for graph in theirs)
    image_of = np.random.default_rng(6).integers(0, 45, 150)
    expected = [uniqueness(graph.tuples, theirs[i].tuples, concepts) for graph, i in zip(ours, image_of)]
    counted = CountedGraphs(stated(theirs)) if table == "graphs" else CountedTable(concepts)
    assert flat_uniqueness(stated(ours), stated(theirs), image_of, counted).tolist() == expected
    assert len(set(expected)) > 50 and {0.0, 1.0} < set(expected)


@pytest.mark.parametrize("form", ["plain", "compiled"])
def test_both_forms(form: str) -> None:
    """Tuples 0 to 5 with ascending values; the first caption has 1 and 4, the second nothing, the third all of its image."""
    values = np.array([0.1, 0.2, 0.2, 0.5, 0.7, 1.0])
    ours, bounds = np.array([1, 4, 0, 3]), np.array([0, 2, 2, 4])
    theirs, their_bounds = np.array([0, 1, 3, 5, 0, 3]), np.array([0, 4, 6])
    result = np.empty(3)
    getattr(between, form)(ours, bounds, theirs, their_bounds, np.array([0, 0, 1]), values, result)
    least, most = 0.1 + 0.2, 0.7 + 1.0
    assert result.tolist() == [(0.2 + 0.7 - least) / (most - least), 1.0, 1.0]


def test_a_corpus_by_arrays_and_by_objects() -> None:
    """Frequencies of the references of the run, or of a table; and a few captions of another corpus against counted graphs."""
    small = captious.load(demo_path("references"), demo_path("poor"))
    expected = Uniq().values(small, Uniq().prepare(small.references))
    table = ConceptTable(9, {("man",): 7, ("dog",): 3, ("tree",): 2})
    with_table = Uniq(concepts=table).values(small, Uniq(concepts=table).prepare(small.references))
    with called_often():
        large = captious.load(demo_path("references"), demo_path("poor"))
        state = Uniq().prepare(large.references)
        assert isinstance(state.scenes.references, PackedGraphs) and isinstance(state.table, CountedGraphs)
        assert Uniq().values(large, state).tolist() == expected.tolist()
        assert Uniq(concepts=table).values(large, Uniq(concepts=table).prepare(large.references)).tolist() == with_table.tolist()
    few = Corpus.build(["1"], [["a man with a dog"]], [["a man", "a dog under a tree"]])
    plain = ConceptTable.of(graph.tuples for graph in state.scenes.references)
    [value] = Uniq().values(few, state)
    offered: list[Tuple] = [("man",), ("dog",), ("tree",), ("dog", "under", "tree")]
    assert value == uniqueness([("man",), ("dog",), ("man", "with", "dog")], offered, plain)
