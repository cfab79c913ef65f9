"""Sentences of descriptions: prose, abbreviations, quotes, lists, Markdown, hostile text."""

from __future__ import annotations

import time

import pytest

from captious.text.sentences import split_sentences


@pytest.mark.parametrize(
    "text, sentences",
    [
        ("", []),
        ("a dog runs", ["a dog runs"]),
        ("a dog runs . it is brown .", ["a dog runs .", "it is brown ."]),
        ("a dog runs. it is brown.", ["a dog runs.", "it is brown."]),
        ("Mr. Smith waits at 5 p.m. near St. John. He left.", ["Mr. Smith waits at 5 p.m. near St. John.", "He left."]),
        ("It ends at 5 p.m. The door opens.", ["It ends at 5 p.m.", "The door opens."]),
        ("It is 3.5 m wide, i.e. large. John F. Kennedy smiles.", ["It is 3.5 m wide, i.e. large.", "John F. Kennedy smiles."]),
        ("A board 12 in. wide. Two men go in. They sit.", ["A board 12 in. wide.", "Two men go in.", "They sit."]),
        ('It says "Stop!" and "No. 5". Why?! Look... there.', ['It says "Stop!" and "No. 5".', "Why?!", "Look... there."]),
        ("The image shows a dog.The dog is brown.", ["The image shows a dog.", "The dog is brown."]),
        ("a dog\non a mat", ["a dog on a mat"]),
        ("A dog\n\nA cat", ["A dog", "A cat"]),
        ("1. A dog. 2. A cat.", ["A dog.", "2. A cat."]),
        (
            "### Scene ###\n1. **Front:** A cat.\n2. **Back**: Trees\n   and a *river*.\n---\n> [sky](http://a.b)",
            ["Scene", "Front:", "A cat.", "Back:", "Trees and a river.", "sky"],
        ),
        ("| a | b |\n|---|---|\n| cat | dog |", ["a b", "cat dog"]),
        ("* one\n* two `code`", ["one", "two code"]),
    ],
)  # fmt: skip
def test_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    "part", [".", "* ", "**a:** ", "a. ", "[a](", "<a", "_", "1. ", "\n", "|", "> ", "é.É", "\x00"]
)
def test_hostile_text_takes_linear_time(part: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        split_sentences(part * count)
        return time.process_time() - start

    seconds(100)
    assert seconds(80_000) < 40 * seconds(8_000) + 0.2
