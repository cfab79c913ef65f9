"""The spaCy-like tokenizer: the rules of the convention, case by case."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.text import spacy_like, tokenizers
from captious.text.spacy_like import split_chunk, tokenize_flat

CASES = {
    "A dog.": ["a", "dog", "."],
    "a dog . ": ["a", "dog", "."],
    "Don't look, they're here!": ["do", "n't", "look", ",", "they", "'re", "here", "!"],
    "he dont and thats it cant": ["he", "do", "nt", "and", "that", "s", "it", "ca", "nt"],
    "its well shed hell were": ["its", "well", "shed", "hell", "were"],
    "a close-up of a man's tie": ["a", "close", "-", "up", "of", "a", "man", "'s", "tie"],
    "the boys' toys": ["the", "boys", "'", "toys"],
    "it’s a T-shirt": ["it", "’s", "a", "t", "-", "shirt"],
    'a sign that says "STOP".': ["a", "sign", "that", "says", '"', "stop", '"', "."],
    "$350 (about 20%)": ["$", "350", "(", "about", "20", "%", ")"],
    "at 8am or 10 p.m. on St. Paul's": ["at", "8", "am", "or", "10", "p.m.", "on", "st.", "paul", "'s"],
    "wait... what?!": ["wait", "...", "what", "?", "!"],
    "a 10ft wave, 5km off": ["a", "10", "ft", "wave", ",", "5", "km", "off"],
    "cannot see :) the dog/cat": ["can", "not", "see", ":)", "the", "dog", "/", "cat"],
    "-foo bar- 1-2 3-D": ["-foo", "bar-", "1", "-", "2", "3", "-", "d"],
    "see www.example.com/a-b.": ["see", "www.example.com/a-b", "."],
    "🐶dog 中文": ["🐶", "dog", "中文"],
    "": [],
    " \n\t ": [],
}


@pytest.mark.parametrize("text", CASES)
def test_convention(text: str) -> None:
    words, counts = tokenize_flat([text])
    assert words == CASES[text]
    assert counts.tolist() == [len(words)]


def test_counts_and_registry() -> None:
    texts = list(CASES)
    words, counts = tokenizers.get("spacy-like")(texts)
    assert counts.tolist() == [len(CASES[text]) for text in texts]
    assert words == [word for text in texts for word in CASES[text]]


@given(st.text(max_size=60))
def test_nothing_is_lost_or_added(text: str) -> None:
    for chunk in text.split():
        tokens = split_chunk(chunk)
        assert "".join(tokens) == chunk
        assert all(tokens)


def test_a_hostile_chunk_takes_linear_time() -> None:
    start = time.process_time()
    for chunk in ("!" * 20_000, "a-" * 20_000, "'" * 20_000 + "a" + "." * 20_000, "$" * 20_000 + "a"):
        assert "".join(split_chunk(chunk)) == chunk
    assert time.process_time() - start < 5


def test_what_is_remembered_changes_nothing_and_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["A dog's ball, isn't it?", "", "  ", "a dog's   e.g. (ball)", "x" * 500 + "."]
    expected = [[token.lower() for chunk in text.split() for token in split_chunk(chunk)] for text in texts]
    monkeypatch.setattr(spacy_like, "_REMEMBERED", 20)
    for turn in range(30):
        flat, counts = tokenize_flat([*texts, f"word{turn} other{turn}"])
        assert counts.tolist() == [*map(len, expected), 2]
        assert flat == [*(token for tokens in expected for token in tokens), f"word{turn}", f"other{turn}"]
        assert len(spacy_like._known) < 20 + 20
    assert all(len(chunk) < 50 for chunk in spacy_like._known)
    assert tokenize_flat([])[0] == []


def test_classes_of_characters_are_those_of_unicode() -> None:
    """Python's tables are older or newer than ours, and agree on every character that both have."""
    for name, members in spacy_like._CLASSES.items():
        pattern = re.compile(f"[{members}]")
        # U+0295 has changed its category.
        known = (
            chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) != "Cn" and code != 0x295
        )
        assert [c for c in known if bool(pattern.match(c)) != unicodedata.category(c).startswith(name)] == []
