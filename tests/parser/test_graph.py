"""The collapsed graph: each rule on a tree of its own, and all rules on the reference parser's trees."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from captious.parser import Sentence, collapse
from captious.training.parser.treebank import read_parses

Rows = list[tuple[str, str, int, str]]


def graph(rows: Rows) -> set[tuple[float, float, str]]:
    """The graph of a tree given as (form, tag, head, relation) rows."""
    forms, tags, heads, relations = zip(*rows)
    return set(collapse(forms, tags, heads, relations))


def test_prepositions_name_the_relation() -> None:
    edges = graph(
        [("dog", "NN", 0, "root"), ("on", "IN", 4, "case"), ("a", "DT", 4, "det"), ("sofa", "NN", 1, "nmod")]
    )
    assert edges == {(0, 1, "root"), (4, 2, "case"), (4, 3, "det"), (1, 4, "nmod:on")}


def test_by_in_a_passive_is_the_agent() -> None:
    edges = graph(
        [
            ("cake", "NN", 3, "nsubjpass"),
            ("is", "VBZ", 3, "auxpass"),
            ("eaten", "VBN", 0, "root"),
            ("by", "IN", 5, "case"),
            ("cats", "NNS", 3, "nmod"),
        ]
    )
    assert (3, 5, "nmod:agent") in edges


def test_three_word_preposition_becomes_one() -> None:
    edges = graph(
        [
            ("cat", "NN", 0, "root"),
            ("in", "IN", 3, "case"),
            ("front", "NN", 1, "nmod"),
            ("of", "IN", 5, "case"),
            ("tv", "NN", 3, "nmod"),
        ]
    )
    assert edges == {(0, 1, "root"), (5, 2, "case"), (2, 3, "mwe"), (2, 4, "mwe"), (1, 5, "nmod:in_front_of")}


def test_two_word_preposition_takes_the_place_of_a_predicate() -> None:
    edges = graph(
        [
            ("cat", "NN", 3, "nsubj"),
            ("is", "VBZ", 3, "cop"),
            ("next", "JJ", 0, "root"),
            ("to", "TO", 5, "case"),
            ("tv", "NN", 3, "nmod"),
        ]
    )
    assert edges == {(5, 1, "nsubj"), (5, 2, "cop"), (5, 3, "case"), (3, 4, "mwe"), (0, 5, "root")}


def test_conjuncts_share_governor_and_subject() -> None:
    edges = graph(
        [
            ("men", "NNS", 2, "nsubj"),
            ("sit", "VBP", 0, "root"),
            ("and", "CC", 2, "cc"),
            ("eat", "VBP", 2, "conj"),
            ("hats", "NNS", 4, "dobj"),
            ("and", "CC", 5, "cc"),
            ("ties", "NNS", 5, "conj"),
        ]
    )
    assert {(2, 4, "conj:and"), (4, 1, "nsubj"), (5, 7, "conj:and"), (4, 7, "dobj")} <= edges


def test_conjoined_phrases_copy_their_governor() -> None:
    edges = graph(
        [
            ("dog", "NN", 0, "root"),
            ("with", "IN", 3, "case"),
            ("hat", "NN", 1, "nmod"),
            ("and", "CC", 3, "cc"),
            ("with", "IN", 6, "case"),
            ("bag", "NN", 3, "conj"),
        ]
    )
    assert {(1, 1.5, "conj:and"), (1.5, 6, "nmod:with"), (1, 3, "nmod:with"), (1, 4, "cc")} <= edges
    assert not any(governor == 3 and dependent == 6 for governor, dependent, _ in edges)


def test_a_conjunction_that_is_missing_propagates_nothing() -> None:
    edges = graph([("a", "NN", 2, "dep"), ("b", "NN", 0, "root"), ("c", "NN", 1, "conj")])
    assert edges == {(2, 1, "dep"), (0, 2, "root"), (1, 3, "conj")}


@pytest.mark.shared
def test_graphs_from_the_reference_trees(shared_data: Path) -> None:
    captions = itertools.islice(read_parses(shared_data / "parses" / "captions.jsonl.gz"), 0, 40_000, 4)
    right = wanted = given = 0
    for caption in captions:
        for sentence in caption.sentences:
            gold = set(sentence.graph)
            made = set(collapse(sentence.forms, sentence.tags, sentence.heads, sentence.relations))
            right += len(gold & made)
            wanted += len(gold)
            given += len(made)
    assert right / wanted > 0.999
    assert right / given > 0.999


def test_from_dict_keeps_or_derives_the_graph() -> None:
    row = {
        "form": ["dog", "on", "sofa"],
        "tag": ["NN", "IN", "NN"],
        "lemma": ["dog", "on", "sofa"],
        "basic": [[0, 1, "root"], [3, 2, "case"], [1, 3, "nmod"]],
        "cc": [[0, 1, "root"], [3, 2, "case"], [1, 3, "nmod:over"]],
    }
    assert (1, 3, "nmod:over") in Sentence.from_dict(row).graph
    derived = Sentence.from_dict(row, keep_graph=False)
    assert (1, 3, "nmod:on") in derived.graph
    assert Sentence.from_dict(derived.to_dict()) == derived
