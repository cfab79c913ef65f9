"""Measures of a text alone: repetition, truncation, openings, hedging, readability, density."""

from __future__ import annotations

import pytest

import captious
from captious.metrics.captions.text_measures import is_boilerplate
from captious.text.endings import is_cut_off
from captious.text.syllables import syllables


def value(name: str, *texts: str) -> float:
    return captious.score(None, dict(enumerate(texts)), name)[name].value


def test_repeated_ngrams() -> None:
    # Five words, three of them different; four pairs, three of them different.
    assert value("Rep-2", "a dog a dog runs") == pytest.approx(1 / 4)
    assert value("Rep-3", "a dog a dog runs") == 0.0
    assert value("Rep-4", "a dog runs on a dog runs on a dog runs on") == pytest.approx(5 / 9)
    assert value("Rep-4", "a dog", "") == 0.0


def test_repeated_sentences_without_case_and_punctuation() -> None:
    assert value("Rep-S", "A dog runs. A cat sits! a dog runs", "A dog.") == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    "text",
    [
        "A dog runs. The cat is sitting on",
        "A dog runs. It chases a small",
        "a man with a",
        "The image shows a man, a dog,",
        "Objects:\n- a dog\n- a cat. It sits next to the",
        "It is a dog -",
    ],
)
def test_texts_that_are_cut_off(text: str) -> None:
    assert is_cut_off(text)


@pytest.mark.parametrize(
    "text",
    [
        "a dog runs on the grass",
        "A dog runs. A cat sits.",
        'He says: "Stop!"',
        "A dog runs. It is **happy**.",
        "There are two animals.\n- a dog\n- a cat",
        "A dog. And then…",
        "A dog runs. (It is brown.)",
        "",
        "  ",
    ],
)
def test_texts_that_end(text: str) -> None:
    assert not is_cut_off(text)


def test_share_of_truncated_texts() -> None:
    assert value("Truncated", "A dog runs. It is", "A dog runs.") == 0.5


@pytest.mark.parametrize(
    "sentence",
    [
        "The image features a dog.",
        "This black and white photo shows a man.",
        "In the image, a man rides a horse.",
        "In this picture there is a dog.",
        "Sure! Here is a description of the image.",
        "Here's a detailed description of the photo:",
        "This is a close-up photo of a cat.",
        "I can see a dog.",
        "**The image depicts a dog.**",
        "The main focus of the picture is a bus.",
    ],
)
def test_openings_about_the_picture(sentence: str) -> None:
    assert is_boilerplate(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "A man takes a picture of a dog.",
        "A dog is in the picture frame.",
        "The scenery is beautiful.",
        "There is a painting on the wall.",
        "A photographer shows a dog.",
        "Surely a dog.",
        "Imaging devices stand in a row.",
    ],
)
def test_openings_with_content(sentence: str) -> None:
    assert not is_boilerplate(sentence)


def test_only_the_opening_counts() -> None:
    assert value("Boilerplate", "A dog runs. The image shows a cat.", "The image shows a cat.") == 0.5


def test_share_of_hedged_sentences() -> None:
    assert value("Hedging", "A dog runs. It appears to be possibly happy. It is brown.") == pytest.approx(
        1 / 3
    )


def test_reading_ease() -> None:
    # Two sentences of three words, with one, one, one and one, two, two syllables.
    expected = 206.835 - 1.015 * 3 - 84.6 * 8 / 6
    assert value("Flesch", "The dog runs. A table, little.") == pytest.approx(expected)
    # Pooled over the corpus, not a mean of texts.
    assert value("Flesch", "The dog runs.", "A table, little.") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("word", "count"),
    [
        *(("dog", 1), ("table", 2), ("placed", 1), ("wanted", 2), ("oranges", 3), ("plates", 1), ("area", 3)),
        *(("station", 2), ("lying", 2), ("video", 3), ("sidewalk", 2), ("people", 2), ("the", 1), ("Tv", 1)),
    ],
)
def test_syllables(word: str, count: int) -> None:
    assert syllables(word) == count


def test_attributes_and_relations_per_object() -> None:
    text = "A big brown dog lies on a couch. It is happy."
    assert value("AttrPerObject", text) == pytest.approx(3 / 2)
    assert value("RelPerObject", text) == pytest.approx(1 / 2)


def test_no_references_are_needed_and_none_are_signed() -> None:
    scores = captious.score(None, {"1": "A dog runs."}, "text")
    assert set(scores) == {
        *("Rep-4", "Rep-S", "Truncated", "Boilerplate", "Hedging", "Flesch"),
        *("AttrPerObject", "RelPerObject"),
    }
    assert not any("refs:" in scores[name].signature for name in scores)
