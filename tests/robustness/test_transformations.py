from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captious.core.errors import InputError
from captious.robustness.transformations import Neighbours, changed_words, permute_words, random_words

CAPTIONS = st.lists(
    st.sampled_from(["a", "dog", "runs", "over", "the", "green", "grass", "with", "two", "cats"]),
    min_size=0,
    max_size=15,
)
STRENGTHS = st.integers(1, 100)


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@settings(max_examples=200, deadline=None)
@given(CAPTIONS, STRENGTHS, st.integers(0, 1000))
def test_permutation_keeps_the_words_and_changes_the_caption(words: list[str], gamma: int, seed: int) -> None:
    result = permute_words(words, gamma, rng(seed))
    assert Counter(result) == Counter(words)
    if len(set(words)) > 1:
        assert result != words
    count = changed_words(len(words), gamma)
    assert sum(a != b for a, b in zip(result, words)) <= max(count, 2)
    if len(set(words)) == len(words) > 1:
        # All words differ, so every chosen word has moved.
        assert sum(a != b for a, b in zip(result, words)) == count
    assert permute_words(words, gamma, rng(seed)) == result and permute_words(words, 0, rng(seed)) == words


@settings(max_examples=200, deadline=None)
@given(CAPTIONS, STRENGTHS, st.integers(0, 1000))
def test_random_words_replace_just_so_many(words: list[str], gamma: int, seed: int) -> None:
    vocabulary = ["dog", "cat", "train", "of", "grass"]
    result = random_words(words, gamma, vocabulary, rng(seed))
    assert len(result) == len(words) and sum(a != b for a, b in zip(result, words)) == changed_words(
        len(words), gamma
    )
    assert all(new in vocabulary for new, old in zip(result, words) if new != old)
    assert (
        random_words(words, gamma, vocabulary, rng(seed)) == result
        and random_words(words, 0, vocabulary, rng(seed)) == words
    )


def test_how_many_words() -> None:
    assert [changed_words(10, g) for g in (0, 1, 10, 20, 25, 34, 100)] == [0, 2, 2, 2, 3, 3, 10]
    assert changed_words(1, 50) == 1 and changed_words(0, 50) == 0
    with pytest.raises(InputError, match="between 0 and 100"):
        changed_words(10, 101)
    with pytest.raises(InputError, match="at least two words"):
        random_words(["a", "b"], 50, ["a"], rng(0))


def test_nearest_images() -> None:
    near = Neighbours.by_captions(
        [[["dog", "grass"]], [["dog", "grass", "runs"]], [["train"], ["station"]], [["train"]]]
    )
    generator = rng(0)
    assert near.draw(0, 0, generator) == 0
    # The nearest third is one image.
    assert {near.draw(0, 30, generator) for _ in range(10)} == {1} and {
        near.draw(2, 30, generator) for _ in range(10)
    } == {3}
    assert {near.draw(0, 100, generator) for _ in range(60)} == {1, 2, 3}
    features = Neighbours(np.array([[1.0, 0], [0, 1], [0.9, 0.1], [0, 0]]))
    assert {features.draw(0, 10, generator) for _ in range(5)} == {2}
    with pytest.raises(InputError, match="between 0 and 100"):
        near.draw(0, -1, generator)
    with pytest.raises(InputError, match="at least two images"):
        Neighbours(np.ones((1, 2))).draw(0, 10, generator)
