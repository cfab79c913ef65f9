from __future__ import annotations

import pytest

import captious
from captious.corpus import Corpus
from captious.language import Sentence
from captious.metrics.hwcm import HWCM, head_word_chains, overlap


def sentence(words: str, heads: list[int]) -> Sentence:
    forms = words.split()
    return Sentence(forms, ["NN"] * len(forms), forms, heads, ["dep"] * len(forms))


#: "a dog chases a cat": both articles hang on their nouns, both nouns on the verb.
DOG = sentence("a dog chases a Cat", [2, 3, 0, 5, 3])


def test_chains_follow_heads() -> None:
    assert head_word_chains([DOG], 1) == {("a",): 2, ("dog",): 1, ("chases",): 1, ("cat",): 1}
    assert head_word_chains([DOG], 2) == {("a", "dog"): 1, ("dog", "chases"): 1, ("a", "cat"): 1, ("cat", "chases"): 1}
    assert head_word_chains([DOG], 3) == {("a", "dog", "chases"): 1, ("a", "cat", "chases"): 1}
    assert head_word_chains([DOG], 4) == {}
    assert head_word_chains([], 1) == {}


def test_overlap_is_clipped_and_normalised_by_our_chains() -> None:
    other = sentence("a dog sleeps", [2, 3, 0])
    ours, theirs = head_word_chains([DOG], 1), head_word_chains([other], 1)
    assert overlap(ours, theirs) == pytest.approx(2 / 5)  # one of our two articles, and the dog
    assert overlap(theirs, ours) == pytest.approx(2 / 3)
    assert overlap(head_word_chains([DOG], 2), head_word_chains([other], 2)) == pytest.approx(1 / 4)
    assert overlap(head_word_chains([DOG], 4), theirs) == 0.0


def test_the_best_reference_counts() -> None:
    references = [["a cat sleeps on a sofa", "a dog runs on the beach"]]
    corpus = Corpus.build(["1"], [["a dog runs on the beach"]], references)
    scores = captious.score(corpus, ["HWCM-1", "HWCM-2", "HWCM-3"])
    assert [score.value for score in scores.values()] == [1.0, 1.0, 1.0]
    far = captious.score(Corpus.build(["1"], [["three boats"]], references), ["HWCM-1", "HWCM-2"])
    assert [score.value for score in far.values()] == [0.0, 0.0]


def test_only_chains_of_one_to_four_words() -> None:
    with pytest.raises(ValueError, match="1 to 4 words here, not 5"):
        HWCM(5)
