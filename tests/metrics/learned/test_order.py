"""Word order: frequencies of adjacent words."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest

from captious.corpus import Captions
from captious.metrics.learned.word_order import LOWEST, USUAL, Order, kinds, load, naturalness
from captious.parser import Sentence, parses_of
from captious.parser.choice import get
from tests.forms import both_forms, running


def test_function_words_are_themselves_and_others_parts_of_speech() -> None:
    sentence = Sentence(["The", "dog", "is", "on", "grass"], ["DT", "NN", "VBZ", "IN", "NN"], [], [], [])
    assert kinds(sentence) == ["#", "the", "NN", "is", "on", "NN", "#"]


def test_probabilities_after_a_word_are_witten_and_bells() -> None:
    model = Order.of(Counter({("a", "NN"): 3, ("a", "JJ"): 1, ("JJ", "NN"): 1}))
    # 4 pairs begin with "a", of two kinds; of all 5 second words 4 are nouns.
    assert model.log_probability("a", "NN") == pytest.approx(math.log((3 + 2 * 4 / 5) / (4 + 2)))
    assert model.log_probability("NN", "JJ") == pytest.approx(math.log(1 / 5))
    assert model.log_probability("a", "VB") == LOWEST


def test_shuffled_captions_are_less_natural() -> None:
    texts = [
        "a man is riding a horse on the beach",
        "a the horse riding on man beach is a",
        "",
        "a man is riding a horse on the beach",
    ]
    values = naturalness(Captions.of([[text] for text in texts]), get())
    assert values[0] == values[3] == USUAL
    assert values[1] < -3
    assert values[2] == LOWEST
    assert load().log_probability("a", "NN") > load().log_probability("a", "the")


@both_forms
def test_all_captions_at_once_are_as_each_alone(form: str) -> None:
    texts = [
        "A dog.",
        "the of and",
        "two dogs run. A man walks on the beach",
        "",
        "dog",
        "a $ 5 # sign",
        "Dogs of of the. Run a a dog",
        "the the dog of run on",
        "A dog.",
    ]
    captions = Captions.of([[text] for text in texts])
    model, expected = load(), []
    for parse in parses_of(captions):
        pairs = [pair for sentence in parse for pair in pairwise(kinds(sentence))]
        expected.append(
            min(sum(model.log_probability(*pair) for pair in pairs) / len(pairs) if pairs else LOWEST, USUAL)
        )
    with running(form):
        assert naturalness(captions, get()).tolist() == expected
        assert naturalness(Captions.of([[""]]), get()).tolist() == [LOWEST]
    assert len(set(expected)) > 4
