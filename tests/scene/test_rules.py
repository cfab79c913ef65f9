"""Each rule on a sentence of its own."""

from __future__ import annotations

import pytest

from captious.scene import tuples
from tests.scene.graphs import sentence

CASES = {
    "subject, verb, object": (
        "the/DT dogs/NNS/dog chase/VBP a/DT cat/NN",
        "root(0,3) det(2,1) nsubj(3,2) det(5,4) dobj(3,5)",
        [("dog", "chase", "cat"), ("dog",), ("cat",)],
    ),
    "subject, verb, object after a preposition": (
        "girls/NNS/girl sit/VBP in/IN front/NN of/IN cake/NN",
        "root(0,2) nsubj(2,1) case(6,3) mwe(3,4) mwe(3,5) nmod:in_front_of(2,6)",
        [("girl", "sit in front of", "cake"), ("girl",), ("front",), ("cake",)],
    ),
    "a particle belongs to the verb": (
        "he/NN picks/VBZ/pick up/RP fruit/NN",
        "root(0,2) nsubj(2,1) compound:prt(2,3) dobj(2,4)",
        [("he", "pick up", "fruit"), ("he",), ("fruit",)],
    ),
    "a participle after its noun": (
        "man/NN riding/VBG/ride waves/NNS/wave",
        "root(0,1) acl(1,2) dobj(2,3)",
        [("man", "ride", "wave"), ("man",), ("wave",)],
    ),
    "a verb without object, and without its particle": (
        "boy/NN looks/VBZ/look on/RP",
        "root(0,2) nsubj(2,1) compound:prt(2,3)",
        [("boy", "look"), ("boy",)],
    ),
    "being somewhere": (
        "dog/NN is/VBZ/be on/IN grass/NN",
        "root(0,4) nsubj(4,1) cop(4,2) case(4,3)",
        [("dog", "on", "grass"), ("dog",), ("grass",)],
    ),
    "being something says so once by each of two rules": (
        "grass/NN is/VBZ/be wet/JJ",
        "root(0,3) nsubj(3,1) cop(3,2)",
        [("grass", "wet"), ("grass", "wet"), ("grass",)],
    ),
    "merely being says nothing": ("cat/NN is/VBZ/be", "root(0,2) nsubj(2,1)", [("cat",)]),
    "adjectives": (
        "old/JJ brown/JJ bench/NN",
        "root(0,3) amod(3,1) amod(3,2)",
        [("bench", "old"), ("bench", "brown"), ("bench",)],
    ),
    "prepositions between nouns": (
        "cup/NN of/IN tea/NN",
        "root(0,1) case(3,2) nmod:of(1,3)",
        [("cup", "of", "tea"), ("cup",), ("tea",)],
    ),
    "possession": (
        "woman/NN 's/POS hat/NN",
        "root(0,3) nmod:poss(3,1) case(1,2)",
        [("woman", "have", "hat"), ("woman",), ("hat",)],
    ),
    "passive": (
        "ball/NN is/VBZ/be held/VBN/hold out/RP by/IN boy/NN",
        "root(0,3) nsubjpass(3,1) auxpass(3,2) compound:prt(3,4) case(6,5) nmod:agent(3,6)",
        [("boy", "hold out", "ball"), ("ball",), ("boy",)],
    ),
    "numbers": ("three/CD birds/NNS/bird", "root(0,2) nummod(2,1)", [("bird", "three"), ("bird",)]),
    "no number after its noun": ("pages/NNS/page 7/CD", "root(0,1) nummod(1,2)", [("page",)]),
    "no number of a singular": ("one/CD bird/NN", "root(0,2) nummod(2,1)", [("bird",)]),
    "compounds are attributes and not objects": (
        "park/NN bench/NN",
        "root(0,2) compound(2,1)",
        [("bench", "park")],
    ),
    "no noun, no tuple": ("running/VBG/run fast/RB", "root(0,1) advmod(1,2)", []),
    "nothing at all": ("", "", []),
    "a conjunction repeats a verb that is written once": (
        "boys/NNS/boy walk/VBP in/IN rain/NN and/CC through/IN mud/NN",
        "root(0,2) nsubj(2,1) nsubj(2.5,1) conj:and(2,2.5) case(4,3) nmod:in(2,4) cc(2,5) case(7,6) "
        "nmod:through(2.5,7)",
        [("boy", "walk in", "rain"), ("boy", "walk through", "mud"), ("boy",), ("rain",), ("mud",)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rule(name: str) -> None:
    words, arcs, expected = CASES[name]
    assert tuples(sentence(words, arcs)) == expected


def test_words_are_in_lower_case() -> None:
    assert tuples(sentence("Paris/NNP/Paris", "root(0,1)")) == [("paris",)]


def test_plural_subject_and_objects_share_numbers_as_in_the_reference() -> None:
    """Of two plural objects under a plural subject only the first gives its number."""
    words = "two/CD men/NNS/man hold/VBP three/CD dogs/NNS/dog and/CC four/CD cats/NNS/cat"
    arcs = (
        "root(0,3) nummod(2,1) nsubj(3,2) nummod(5,4) dobj(3,5) cc(5,6) nummod(8,7) dobj(3,8) conj:and(5,8)"
    )
    found = tuples(sentence(words, arcs))
    assert ("man", "two") in found and ("dog", "three") in found
    assert ("cat", "four") not in found


def test_a_quantified_object_after_a_preposition_has_no_number_under_a_plural_subject() -> None:
    arcs = "root(0,2) nsubj(2,1) case(5,3) det(5,4) nmod:on(2,5) case(7,6) nmod:of(5,7)"
    plural = tuples(sentence("men/NNS/man sit/VBP on/IN a/DT pair/NN of/IN horses/NNS/horse", arcs))
    single = tuples(sentence("man/NN sits/VBZ/sit on/IN a/DT pair/NN of/IN horses/NNS/horse", arcs))
    assert ("man", "sit on", "horse") in plural and ("horse", "a") not in plural
    assert ("man", "sit on", "horse") in single and ("horse", "a") in single


def test_of_several_prepositions_one_counts() -> None:
    words = "car/NN is/VBZ/be in/IN between/IN trucks/NNS/truck"
    assert ("car", "in", "truck") in tuples(
        sentence(words, "root(0,5) nsubj(5,1) cop(5,2) case(5,3) case(5,4)")
    )
