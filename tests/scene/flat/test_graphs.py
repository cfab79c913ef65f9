"""Graphs built and matched by kernels are those of objects."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.kernels import Kernel, called_often
from captious.ragged import offsets_of
from captious.scene import SceneGraph, Tuple, counts
from captious.scene.categories import CATEGORIES
from captious.scene.flat import match as flat_match
from captious.scene.flat import merge
from captious.scene.flat.match import Side, flat_counts
from captious.scene.flat.meanings import meanings
from captious.scene.flat.merge import FlatGraphs, flat_graphs
from captious.scene.flat.sentences import FlatTuples
from captious.scene.packed import PackedGraphs, pack
from captious.scene.wordlists import word_set
from captious.text.synonyms import Synonyms

# Many of them are synonyms of several others, which are none of each other.
_SINGLE = """
    sofa couch lounge table desk board plank dog hound puppy cat man guy bloke person human woman lady girl boy child kid baby car auto vehicle
    bus road street path way picture photo image shot red two three small big large tiny light dark grey gray sit stand ride have on in run jog go
    travel move hold carry bear take get xyzzy frank
"""
WORDS = [*sorted(word_set(_SINGLE)), "sit at", "in front of", "hot dog", "next to"]


def stated(rng: random.Random) -> list[Tuple]:
    words = rng.sample(WORDS, rng.randint(3, len(WORDS)))
    return [tuple(rng.choices(words, k=rng.choice([1, 2, 2, 3, 3]))) for _ in range(rng.randint(0, 30))]


def numbered(groups: list[list[Tuple]]) -> FlatTuples:
    known: dict[str, int] = {}
    rows = [[known.setdefault(word, len(known)) for word in item] + [-1] * (3 - len(item)) for group in groups for item in group]
    return FlatTuples(list(known), np.array(rows, np.int32).reshape(-1, 3), offsets_of([len(group) for group in groups]))


def built(tuples: FlatTuples, jobs: int | None = None) -> FlatGraphs:
    count = len(tuples.offsets) - 1
    return flat_graphs(tuples, np.arange(count), np.arange(count + 1), meanings(tuples.texts, Synonyms.load()), jobs)


def side(tuples: FlatTuples, jobs: int | None = None) -> Side:
    return Side(built(tuples, jobs), tuples.texts, meanings(tuples.texts, Synonyms.load()))


def scenes(seed: int, count: int) -> tuple[list[list[Tuple]], list[list[Tuple]]]:
    """Candidates that repeat some of what their references say, and the references."""
    rng = random.Random(seed)
    references = [stated(rng) for _ in range(count)]
    candidates = [
        [item if rng.random() < 0.6 else rng.choice(stated(rng) or [item]) for item in rng.sample(group, min(len(group), rng.randint(0, 12)))]
        for group in references
    ]
    return candidates, references


def test_graphs_and_counts_of_compiled_kernels() -> None:
    with called_often():
        assert (compare(*scenes(1, 600)).sum(axis=0) > 0).all()


def test_graphs_and_counts_of_plain_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "pick", lambda kernel, work: kernel.plain)
    assert compare(*scenes(2, 40)).sum() > 0


def compare(*sides: list[list[Tuple]]) -> NDArray[np.float64]:
    """All that there is of candidates and references; returns the counts."""
    synonyms = Synonyms.load()
    tuples = [numbered(side) for side in sides]
    flat = [built(side) for side in tuples]
    objects = [[SceneGraph(group) for group in side] for side in sides]
    for stated, made, graphs in zip(tuples, flat, objects):
        packed = PackedGraphs(stated.texts, made, synonyms)
        arrays, written = packed.arrays, pack(graphs)
        assert list(arrays) == list(written)
        for name, array in written.items():
            assert np.array_equal(arrays[name], array) and arrays[name].dtype == array.dtype, name
        for ours, theirs in zip(packed, graphs):
            assert ours.tuples == theirs.tuples and ours.sizes == theirs.sizes and ours.kinds == theirs.kinds
            # They also go on alike.
            for more in [("lounge",), ("couch", "big"), ("bloke", "sit", "sofa")]:
                ours.add(more)
                theirs.add(more)
            assert ours.tuples == theirs.tuples
    # The graphs have grown since.
    objects = [[SceneGraph(group) for group in side] for side in sides]
    table = flat_counts(side(tuples[0]), side(tuples[1]), np.arange(len(sides[0])))
    expected = np.array([list(counts(ours, theirs).values()) for ours, theirs in zip(*objects)])
    assert np.array_equal(table, expected)
    return table


def test_of_equally_similar_objects_the_later_takes_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "pick", lambda kernel, work: kernel.plain)
    stated: list[Tuple] = [("urus",), ("wisent",), ("aurochs",)]
    synonyms = Synonyms.load()
    assert len(synonyms.synsets("aurochs")) == 2 and not synonyms.synsets("urus") & synonyms.synsets("wisent")
    compare([stated], [stated[::-1]])
    names = PackedGraphs(numbered([stated]).texts, built(numbered([stated])), synonyms)[0].objects
    assert "urus" in names and len(names) == 2


def test_a_colour_is_no_hit_among_words_that_were_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attribute of several words is in no category, though it is still an attribute."""
    monkeypatch.setattr(Kernel, "pick", lambda kernel, work: kernel.plain)
    [counted] = compare([[("cat", "gray")]], [[("cat", "gray"), ("cat", "grey")]])
    hits = dict(zip(("All", *CATEGORIES), counted[:, 0].tolist()))
    assert hits["Attribute"] == 1 and hits["Color"] == 0


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, references = (numbered(side) for side in scenes(3, 200))
    images = np.arange(200)
    with called_often():
        whole = built(references)
        table = flat_counts(side(candidates), side(references), images)
        monkeypatch.setattr(merge, "_BLOCK", 30)
        monkeypatch.setattr(flat_match, "_BLOCK", 30)
        parts = built(references, jobs=3)
        again = flat_counts(side(candidates, 3), side(references, 3), images, jobs=3)
    for name in FlatGraphs._fields:
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name
    assert np.array_equal(table, again)


def test_no_graphs() -> None:
    nothing = built(numbered([]))
    assert [len(array) for array in nothing] == [0, 1, 0, 0, 0]
    empty = side(numbered([]))
    assert flat_counts(empty, empty, np.arange(0)).shape == (0, 7, 3)
    assert len(PackedGraphs([], nothing, Synonyms.load())) == 0
