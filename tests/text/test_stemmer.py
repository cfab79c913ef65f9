from __future__ import annotations

import pytest

from captious.text.stemmer import stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # Ordinary caption words.
        ("dogs", "dog"), ("sitting", "sit"), ("hoping", "hope"), ("parked", "park"), ("ties", "tie"),
        ("cries", "cri"),
        ("buses", "buse"), ("glasses", "glass"), ("grass", "grass"), ("gas", "gas"), ("playing", "play"),
        ("say", "say"),
        ("happily", "happili"), ("beautiful", "beauti"), ("colorful", "color"), ("relational", "relat"),
        ("decorative", "decor"), ("conditional", "condit"), ("controll", "control"), ("falling", "fall"),
        ("general", "general"), ("generously", "generous"), ("communal", "communal"), ("arsenal", "arsenal"),
        ("agreed", "agre"), ("bled", "bled"), ("feed", "feed"), ("rate", "rate"), ("cease", "ceas"),
        # Apostrophes, the long y, words too short to shorten.
        ("'tis", "tis"), ("dog's", "dog"), ("dogs'", "dog"), ("youth", "youth"), ("as", "as"), ("is", "is"),
        ("", ""),
        # Listed words.
        ("skies", "sky"), ("dying", "die"), ("only", "onli"), ("news", "news"), ("innings", "inning"),
        ("herring", "herring"),
        # An e comes back before the next ending goes.
        ("decorated", "decor"), ("illustrating", "illustr"),
        # Where later Snowball releases give another stem.
        ("organic", "organ"), ("organization", "organ"), ("international", "intern"), ("universal",
        "univers"),
        ("biologist", "biologist"), ("added", "ad"), ("egged", "eg"), ("paste", "past"), ("interfering",
        "interf"),
        # Nothing but consonants, and other scripts.
        ("hmm", "hmm"), ("naïves", "naïv"), ("собаки", "собаки"), ("犬", "犬"), ("x-rays", "x-ray"),
    ],
)  # fmt: skip
def test_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_most_words_stem_as_in_current_snowball() -> None:
    """The differences are few: on these words a current PyStemmer agrees."""
    import Stemmer

    words = [
        "running",
        "runner",
        "easily",
        "motoring",
        "sensational",
        "plotted",
        "filing",
        "falling",
        "adoption",
        "ponies",
    ]
    assert list(map(stem, words)) == Stemmer.Stemmer("english").stemWords(words)
