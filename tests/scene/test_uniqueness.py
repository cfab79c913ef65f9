"""Tuples of graphs in arrays and their uniqueness, compared with graphs one by one."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.data import demo_path
from captious.metrics.captions.spice_u import Uniq
from captious.scene import ConceptTable, SceneGraphs, Tuple
from captious.scene.uniqueness import TupleFrequencies, between, uniqueness
from captious.text.synonyms import Synonyms
from tests.forms import both_forms, form_of
from tests.scene import plain_scene

#: Some are synonyms of others; a name with a slash stands for two words.
WORDS = [
    "couch",
    "sofa",
    "lounge",
    "dog",
    "cat",
    "man",
    "person",
    "red",
    "big",
    "large",
    "run",
    "sofa/couch",
    "couch/sofa",
    "unicorn",
    "be on",
    "hound",
]


def scenes(count: int, seed: int) -> list[list[Tuple]]:
    """Random tuples for graphs, some of them of none."""
    rng = np.random.default_rng(seed)
    return [
        [
            tuple(WORDS[w] for w in rng.integers(0, len(WORDS), rng.integers(1, 4)).tolist())
            for _ in range(rng.integers(0, 9))
        ]
        for _ in range(count)
    ]


def graphs(count: int, seed: int) -> SceneGraphs:
    return SceneGraphs.from_tuples(scenes(count, seed), Synonyms.load())


def test_tuples_are_those_of_the_graphs() -> None:
    listed = graphs(80, seed=1)
    table = listed.tuple_table
    assert [table.of(i) for i in range(80)] == [graph.tuples for graph in listed]
    assert list(table.tuples()) == [item for graph in listed for item in graph.tuples]
    assert any("/" in name for name in table.names) and len(set(table.names)) == len(table.names)
    some = np.array([7, 3, 3, 60])
    part = table.take(some)
    assert [part.of(i) for i in range(4)] == [listed[i].tuples for i in some.tolist()]
    assert set(part.names) == {name for i in some.tolist() for item in listed[i].tuples for name in item}


def test_images_are_counted_once() -> None:
    """An image may state a tuple twice under one name, and queries may have unknown names."""
    listed = graphs(120, seed=2)
    table = ConceptTable.of(graph.tuples for graph in listed)
    frequencies = TupleFrequencies(listed.tuple_table)
    unknown: list[Tuple] = [("wug",), ("dog", "wuggy"), ("dog", "be on", "wug")]
    others = SceneGraphs.from_tuples([*scenes(60, seed=3), unknown], Synonyms.load()).tuple_table
    expected = [table.counts.get(item, 0) for item in others.tuples()]
    assert frequencies.counts_of(others).tolist() == expected == table.counts_of(others).tolist()
    assert frequencies.images == table.images == 120
    assert 0 in expected and max(expected) > 5


@pytest.mark.parametrize("table", ["graphs", "concepts"])
def test_uniqueness_one_by_one(table: str) -> None:
    ours, theirs = graphs(150, seed=4), graphs(50, seed=5)
    concepts = ConceptTable.of(graph.tuples for graph in theirs)
    image_of = np.random.default_rng(6).integers(0, 45, 150)
    expected = [
        plain_scene.uniqueness(graph.tuples, theirs[i].tuples, concepts)
        for graph, i in zip(ours, image_of.tolist())
    ]
    frequencies = TupleFrequencies(theirs.tuple_table) if table == "graphs" else concepts
    assert uniqueness(ours.tuple_table, theirs.tuple_table, image_of, frequencies).tolist() == expected
    assert len(set(expected)) > 50 and {0.0, 1.0} < set(expected)


@both_forms
def test_both_forms(form: str) -> None:
    """The first caption has the tuples 1 and 4, the second none, the third all of its image."""
    values = np.array([0.1, 0.2, 0.2, 0.5, 0.7, 1.0])
    ours, bounds = np.array([1, 4, 0, 3]), np.array([0, 2, 2, 4])
    theirs, their_bounds = np.array([0, 1, 3, 5, 0, 3]), np.array([0, 4, 6])
    result = np.empty(3)
    form_of(between, form)(ours, bounds, theirs, their_bounds, np.array([0, 0, 1]), values, result)
    least, most = 0.1 + 0.2, 0.7 + 1.0
    assert result.tolist() == [(0.2 + 0.7 - least) / (most - least), 1.0, 1.0]


def test_a_corpus() -> None:
    """Frequencies come from the references of the run, of another run, or from a table."""
    demo = captious.load(demo_path("references"), demo_path("poor"))
    table = ConceptTable(9, {("man",): 7, ("dog",): 3, ("tree",): 2})
    state = Uniq().prepare(demo.references)
    counted = ConceptTable.of(graph.tuples for graph in state.scenes.references)
    candidates, references, images = state.scenes.of(demo)
    for measure, frequencies in ((Uniq(), counted), (Uniq(concepts=table), table)):
        values = measure.values(demo, measure.prepare(demo.references))
        assert values.tolist() == [
            plain_scene.uniqueness(graph.tuples, references[i].tuples, frequencies)
            for graph, i in zip(candidates, images.tolist())
        ]
    few = Corpus.build(["1"], [["a man with a dog"]], [["a man", "a dog under a tree"]])
    [value] = Uniq().values(few, state)
    offered: list[Tuple] = [("man",), ("dog",), ("tree",), ("dog", "under", "tree")]
    stated: list[Tuple] = [("man",), ("dog",), ("man", "with", "dog")]
    assert value == plain_scene.uniqueness(stated, offered, counted)
