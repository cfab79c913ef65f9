"""Tokenizers by name."""

from __future__ import annotations

import pytest

from captious.core.errors import InputError
from captious.text import tokenizers


@pytest.mark.parametrize("name", tokenizers.names())
def test_counts_add_up(name: str) -> None:
    texts = ["A dog's ball.", "", "two  cats, (black)", "don't \U0001f642"]
    words, counts = tokenizers.get(name)(texts)
    assert counts.dtype.kind == "i" and len(counts) == len(texts) and counts.sum() == len(words)
    assert counts[1] == 0 and all(words)


def test_each_does_what_its_name_says() -> None:
    text = ["A Dog's ball, isn't it?"]
    assert tokenizers.get("ptb")(text)[0] == ["a", "dog", "'s", "ball", "is", "n't", "it"]
    assert tokenizers.get("simple")(text)[0] == ["a", "dog's", "ball", "isn't", "it"]
    assert tokenizers.get("none")(text)[0] == ["A", "Dog's", "ball,", "isn't", "it?"]


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InputError, match=r"unknown tokenizer 'simpel'.*simple"):
        tokenizers.get("simpel")
