"""ALOHa: the least supported object, hedges and alternatives, listed objects."""

from __future__ import annotations

import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics.captions.aloha import Aloha

REFERENCES = ["a brown dog runs on the grass", "a puppy plays in a green field", "the dog is in a meadow"]


def corpus(*captions: str) -> Corpus:
    ids = [str(i) for i in range(len(captions))]
    return Corpus.build(ids, [[caption] for caption in captions], [REFERENCES] * len(captions))


def test_the_foreign_object_is_to_blame() -> None:
    right, wrong = corpus("a dog on the grass"), corpus("a dog on the piano")
    measure = Aloha()
    assert captious.score(right, measure)["ALOHa"].value > captious.score(wrong, measure)["ALOHa"].value
    [blamed] = measure.blamed(wrong)
    assert blamed is not None
    assert (blamed.word, blamed.status, blamed.share) == ("piano", "unsupported", 0.0)
    statuses = [item.status for item in measure.supports(right)[0]]
    assert statuses == ["supported", "supported"]


def test_more_references_that_name_an_object_support_it_more() -> None:
    [[dog], [puppy], [meadow]] = Aloha().supports(corpus("a dog", "a grass", "a meadow"))
    assert dog.support > puppy.support
    assert meadow.share == pytest.approx(1 / 3)


def test_hedged_objects_and_alternatives_do_not_count() -> None:
    measure = Aloha()
    [hedged, either, plain] = measure.supports(
        corpus("A dog. There is possibly a piano.", "a piano or a dog", "A dog and a piano.")
    )
    assert [(item.word, item.sentence, item.status) for item in hedged] == [
        ("dog", 0, "supported"),
        ("piano", 1, "ambiguous"),
    ]
    assert {item.word: item.status for item in either} == {"piano": "ambiguous", "dog": "supported"}
    assert {item.word: item.status for item in plain} == {"piano": "unsupported", "dog": "supported"}


def test_listed_objects_support_without_references() -> None:
    listed = Aloha(objects={"0": ["piano"], "1": []})
    bare = Corpus.build(["0", "1"], [["a piano"], ["a piano"]])
    first, second = captious.score(bare, listed)["ALOHa"].per_caption
    assert first > 0.9 > 0.5 > second
    with pytest.raises(captious.InputError, match="no entry for image"):
        captious.score(bare, Aloha(objects={"0": ["piano"]}))


def test_words_about_the_picture_are_no_objects() -> None:
    assert Aloha().supports(corpus("the background of the image"))[0] == []
    assert captious.score(corpus("the image"), Aloha())["ALOHa"].value == 1.0


def test_objects_are_assigned_one_to_one() -> None:
    """One dog of the references supports one of two words for it; the published form of the metric."""
    references, text = {"1": ["a dog and a piano"]}, {"1": "A dog and a puppy."}
    both = captious.score(references, text, "ALOHa", aloha="matching")["ALOHa"]
    assert both.value < 0.5 < captious.score(references, text, "ALOHa")["ALOHa"].value
    assert captious.score({"1": ["a dog, a cat"]}, {"1": "A cat and a dog."}, "ALOHa", aloha="matching")[
        "ALOHa"
    ].value == pytest.approx(1.0)
    # More objects than the references have: one has no partner.
    alone = captious.score({"1": ["a dog"]}, {"1": "a dog and a cat"}, "ALOHa", aloha="matching")["ALOHa"]
    assert alone.value == 0.0
    assert "aloha:matching" in alone.signature


def test_an_unknown_kind_of_support_is_refused() -> None:
    with pytest.raises(InputError, match="logistic, matching"):
        Aloha(aloha="hungarian")
