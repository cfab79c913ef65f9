"""Quantifier phrases and pronouns."""

from __future__ import annotations

import pytest

from captious.scene import enhance, tuples
from tests.scene.graphs import sentence


def test_a_quantifier_hands_its_place_to_the_noun() -> None:
    words = "a/DT couple/NN of/IN men/NNS/man run/VBP"
    graph = enhance(sentence(words, "root(0,5) det(2,1) nsubj(5,2) case(4,3) nmod:of(2,4)"))
    assert set(graph.arcs) == {
        (0, 5, "root"), (5, 4, "nsubj"), (4, 1, "det:qmod"), (1, 2, "mwe"), (1, 3, "mwe"),
    }  # fmt: skip
    assert ("man", "run") in tuples(graph) and ("man", "a") in tuples(graph)


def test_a_root_quantifier_makes_the_noun_the_root() -> None:
    graph = enhance(
        sentence(
            "a/DT wide/JJ variety/NN of/IN fruits/NNS/fruit",
            "root(0,3) det(3,1) amod(3,2) case(5,4) nmod:of(3,5)",
        )
    )
    assert (0, 5, "root") in graph.arcs
    # The adjective goes into the phrase, and is no attribute of anything.
    assert tuples(graph) == [("fruit", "a"), ("variety",), ("fruit",)]


@pytest.mark.parametrize(
    ("words", "turned"),
    [
        ("lots/NNS/lot of/IN birds/NNS/bird", True),
        ("dozens/NNS/dozen of/IN birds/NNS/bird", True),
        ("100s/NNS/100 of/IN birds/NNS/bird", True),
        ("groups/NNS/group of/IN birds/NNS/bird", False),
        ("some/DT of/IN birds/NNS/bird", False),
    ],
)
def test_quantifiers_without_article(words: str, turned: bool) -> None:
    graph = enhance(sentence(words, "root(0,1) case(3,2) nmod:of(1,3)"))
    assert ((0, 3, "root") in graph.arcs) == turned


@pytest.mark.parametrize("quantifier", ["some", "two", "nobody", "12"])
def test_some_of_the(quantifier: str) -> None:
    graph = enhance(
        sentence(f"{quantifier}/DT of/IN the/DT birds/NNS/bird", "root(0,1) case(4,2) det(4,3) nmod:of(1,4)")
    )
    assert ("bird", quantifier) in tuples(graph)


def test_of_two_governors_one_is_kept() -> None:
    words = "a/DT pair/NN of/IN zebras/NNS/zebra stand/VBP and/CC eat/VBP grass/NN"
    arcs = "root(0,5) det(2,1) nsubj(5,2) nsubj(7,2) case(4,3) nmod:of(2,4) cc(5,6) conj:and(5,7) dobj(7,8)"
    found = tuples(sentence(words, arcs))
    assert ("zebra", "stand") in found
    assert not any(item[1:] == ("eat", "grass") for item in found)


def test_a_pronoun_stands_for_the_first_noun() -> None:
    found = tuples(
        sentence(
            "vase/NN with/IN roses/NNS/rose in/IN it/PRP",
            "root(0,1) case(3,2) nmod:with(1,3) case(5,4) nmod:in(3,5)",
        )
    )
    assert ("rose", "in", "vase") in found


def test_a_singular_pronoun_stands_for_no_plural() -> None:
    words = "boys/NNS/boy made/VBD/make cake/NN for/IN her/PRP"
    arcs = "root(0,2) nsubj(2,1) dobj(2,3) case(5,4) nmod:for(2,5)"
    assert ("boy", "make for", "cake") in tuples(sentence(words, arcs))
    assert ("boy", "make for", "boy") in tuples(sentence(words.replace("her", "them"), arcs))


def test_no_noun_before_the_pronoun() -> None:
    graph = enhance(
        sentence("with/IN it/PRP comes/VBZ/come tea/NN", "root(0,3) case(2,1) nmod:with(3,2) nsubj(3,4)")
    )
    assert (3, 2, "nmod:with") in graph.arcs


def test_a_pronoun_at_the_start_stays() -> None:
    graph = enhance(sentence("it/PRP eats/VBZ/eat hay/NN", "root(0,2) nsubj(2,1) dobj(2,3)"))
    assert (2, 1, "nsubj") in graph.arcs
