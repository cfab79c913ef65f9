"""Java SPICE on the demo and on `edge_captions`.

Tuples, hits and counts are compared on CoreNLP's own parses, then end to end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import captious
from captious.data import demo_path
from captious.scene import SceneGraph, Tuple, counts, match, precision_recall_f, tuples
from tests.gold import SYSTEMS, load, sentences
from tests.gold.edge_captions import groups

KINDS = ("All", "Object", "Attribute", "Relation", "Cardinality", "Color", "Size")


@pytest.fixture(scope="module")
def stated() -> dict[str, list[Tuple]]:
    """Return the tuples that our rules find in CoreNLP's graphs."""
    return {caption: [item for s in parsed for item in tuples(s)] for caption, parsed in sentences().items()}


def lowered(item: list[str]) -> Tuple:
    """A tuple of Java's.

    Only what CoreNLP calls the lemma of a bracket that it takes for a verb has capitals.
    """
    return tuple(word.lower() for word in item)


def graph(captions: list[str], stated: dict[str, list[Tuple]]) -> SceneGraph:
    return SceneGraph(item for caption in captions for item in stated[caption])


@pytest.mark.parametrize("system", [*SYSTEMS, "edge"])
def test_candidate_tuples(system: str, stated: dict[str, list[Tuple]]) -> None:
    wrong = {}
    for row in load("spice")["systems"][system]:
        ours, theirs = set(graph([row["caption"]], stated).tuples), set(map(lowered, row["tuples"]))
        if ours != theirs:
            wrong[row["caption"]] = (sorted(theirs - ours), sorted(ours - theirs))
    assert not wrong


def test_reference_tuples(stated: dict[str, list[Tuple]]) -> None:
    wrong = {}
    for image, row in load("spice")["references"].items():
        ours, theirs = set(graph(row["captions"], stated).tuples), set(map(lowered, row["tuples"]))
        if ours != theirs:
            wrong[image] = (sorted(theirs - ours), sorted(ours - theirs))
    assert not wrong


@pytest.mark.parametrize("system", [*SYSTEMS, "edge"])
def test_hits_and_scores(system: str, stated: dict[str, list[Tuple]]) -> None:
    gold = load("spice")
    for row in gold["systems"][system]:
        candidate = graph([row["caption"]], stated)
        reference = graph(gold["references"][row["image"]]["captions"], stated)
        hits = dict(zip(candidate.tuples, match(candidate, reference).hits))
        assert hits == dict(zip(map(lowered, row["tuples"]), (hit == "1" for hit in row["hits"]))), row[
            "caption"
        ]
        table = counts(candidate, reference)
        assert set(table) == set(row["scores"]) == set(KINDS)
        for kind, (right, wrong, missed, *values) in row["scores"].items():
            assert table[kind] == (right, right + wrong, right + missed), (kind, row["caption"])
            if kind == "All" or values[2] is not None:
                assert precision_recall_f(table[kind]) == pytest.approx(values, rel=0, abs=1e-12), (
                    kind,
                    row["caption"],
                )


def java_values(rows: list[dict[str, Any]], kind: str) -> list[float]:
    return [row["scores"][kind][5] for row in rows if row["scores"][kind][5] is not None]


#: From raw text with the shipped parser: how far our corpus value was from Java's when measured, and the
#: correlation of the images' values.
LEVELS = {
    "good": (0.0071, 0.875),
    "generic": (0.0003, 0.968),
    "poor": (0.0010, 0.978),
    "edge": (0.0025, 0.928),
}


@pytest.mark.parametrize("system", LEVELS)
def test_end_to_end(system: str) -> None:
    gold = load("spice")
    rows = gold["systems"][system]
    if system == "edge":
        images = {f"edge{i:03}": group for i, group in enumerate(groups())}
        corpus = captious.load({i: g[1:] for i, g in images.items()}, {i: g[0] for i, g in images.items()})
    else:
        corpus = captious.load(demo_path("references"), demo_path(system))
    score = captious.score(corpus, "SPICE")["SPICE"]
    ours = np.array([score.per_image[row["image"]] for row in rows])
    theirs = np.array(java_values(rows, "All"))
    assert score.value == pytest.approx(ours.mean())
    difference, correlation = LEVELS[system]
    assert abs(score.value - theirs.mean()) < difference + 0.001
    assert np.corrcoef(ours, theirs)[0, 1] > correlation - 0.001


def test_the_order_of_the_systems_is_that_of_java() -> None:
    values = {}
    for system in SYSTEMS:
        corpus = captious.load(demo_path("references"), demo_path(system))
        values[system] = captious.score(corpus, "SPICE")["SPICE"].value
    java = {system: np.mean(java_values(load("spice")["systems"][system], "All")) for system in SYSTEMS}
    assert sorted(values, key=values.__getitem__) == sorted(java, key=java.__getitem__)
