"""Graphs built and matched by kernels are those of plain objects."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.kernels import plain_forms
from captious.scene import SceneGraphs, Tuple, merging, tuple_match
from captious.scene.merging import GraphArrays
from captious.scene.tuple_match import CATEGORIES, match_graphs, word_set
from captious.text.synonyms import Synonyms
from tests.scene import plain_scene

# Many of them are synonyms of several others that are not synonyms of each other.
_SINGLE = """
    sofa couch lounge table desk board plank dog hound puppy cat man guy bloke person human woman lady girl
    boy child kid baby car auto vehicle bus road street path way picture photo image shot red two three
    small big large tiny light dark grey gray sit stand ride have on in run jog go travel move hold carry
    bear take get xyzzy frank
"""
WORDS = [*sorted(word_set(_SINGLE)), "sit at", "in front of", "hot dog", "next to"]


def stated(rng: random.Random) -> list[Tuple]:
    words = rng.sample(WORDS, rng.randint(3, len(WORDS)))
    return [tuple(rng.choices(words, k=rng.choice([1, 2, 2, 3, 3]))) for _ in range(rng.randint(0, 30))]


def built(groups: list[list[Tuple]]) -> SceneGraphs:
    return SceneGraphs.from_tuples(groups, Synonyms.load())


def scenes(seed: int, count: int) -> tuple[list[list[Tuple]], list[list[Tuple]]]:
    """Candidates that repeat some words of their references, and the references."""
    rng = random.Random(seed)
    references = [stated(rng) for _ in range(count)]
    candidates = [
        [
            item if rng.random() < 0.6 else rng.choice(stated(rng) or [item])
            for item in rng.sample(group, min(len(group), rng.randint(0, 12)))
        ]
        for group in references
    ]
    return candidates, references


def test_graphs_and_counts() -> None:
    assert (compare(*scenes(1, 600)).sum(axis=0) > 0).all()


def test_graphs_and_counts_of_plain_kernels() -> None:
    with plain_forms():
        assert compare(*scenes(2, 40)).sum() > 0


def compare(*sides: list[list[Tuple]]) -> NDArray[np.int64]:
    """Compare graphs and counts with plain graphs, and return the counts."""
    synonyms = Synonyms.load()
    graphs = [built(side) for side in sides]
    plain = [[plain_scene.PlainGraph(group, synonyms) for group in side] for side in sides]
    for ours, theirs in zip(graphs, plain):
        again = SceneGraphs.unpack(ours.pack(), synonyms)
        assert len(ours) == len(again) == len(theirs)
        for one, unpacked, expected in zip(ours, again, theirs):
            assert one.tuples == unpacked.tuples == expected.tuples and one.sizes == expected.sizes
            assert [concept.words for concept in one.concepts] == [c.words for c in expected.concepts]
            assert list(one.relation_concepts) == list(expected.relation_concepts)
    numbers = np.arange(len(sides[0]))
    matches = match_graphs(*graphs, numbers, numbers)
    backwards = match_graphs(*graphs[::-1], numbers, numbers)
    for i, (one, other) in enumerate(zip(*plain)):
        assert matches.of(i) == plain_scene.match(one, other).hits
        assert backwards.of(i) == plain_scene.match(other, one).hits
    expected_counts = [list(plain_scene.counts(one, other).values()) for one, other in zip(*plain)]
    assert np.array_equal(matches.counts, np.array(expected_counts))
    return matches.counts


def test_of_equally_similar_objects_the_later_takes_a_word() -> None:
    stated: list[Tuple] = [("urus",), ("wisent",), ("aurochs",)]
    synonyms = Synonyms.load()
    assert len(synonyms.synsets("aurochs")) == 2 and not synonyms.synsets("urus") & synonyms.synsets("wisent")
    compare([stated], [stated[::-1]])
    names = built([stated])[0].objects
    assert "urus" in names and len(names) == 2


def test_a_colour_is_no_hit_among_words_that_were_joined() -> None:
    """An attribute of several words is in no category, though it is still an attribute."""
    [counted] = compare([[("cat", "gray")]], [[("cat", "gray"), ("cat", "grey")]])
    hits = dict(zip(("All", *CATEGORIES), counted[:, 0].tolist()))
    assert hits["Attribute"] == 1 and hits["Color"] == 0


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, references = scenes(3, 200)
    images = np.arange(200)
    whole = built(references)
    matches = match_graphs(built(candidates), whole, images, images)
    monkeypatch.setattr(merging, "_BLOCK", 30)
    monkeypatch.setattr(tuple_match, "_BLOCK", 30)
    parts = built(references)
    again = match_graphs(built(candidates), parts, images, images, jobs=3)
    for name in GraphArrays._fields:
        assert np.array_equal(getattr(whole.arrays, name), getattr(parts.arrays, name)), name
    assert np.array_equal(matches.counts, again.counts) and np.array_equal(matches.hits, again.hits)


def test_some_of_the_graphs() -> None:
    graphs = built(scenes(4, 50)[1])
    some = np.array([7, 3, 3, 40])
    part = graphs.take(some)
    assert [graph.tuples for graph in part] == [graphs[i].tuples for i in some.tolist()]
    assert set(part.words) == {w for i in some.tolist() for c in graphs.concepts_of(i) for w in c.words}


def test_a_graph_in_a_pickle_is_alone() -> None:
    graphs = built(scenes(5, 30)[1])
    again = pickle.loads(pickle.dumps(graphs[11]))
    assert again.tuples == graphs[11].tuples and len(again.alone) == 1


def test_no_graphs() -> None:
    nothing = built([])
    assert [len(array) for array in nothing.arrays] == [0, 1, 0, 0, 0]
    empty = np.arange(0)
    assert match_graphs(nothing, nothing, empty, empty).counts.shape == (0, 7, 3)
    assert len(nothing) == 0 and list(nothing.tuple_table.tuples()) == []
