"""Base forms: the spelling rules, and the learned table against the reference lemmas."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from captious.parser import Sentence
from captious.parser.network_model import shipped_model
from captious.parser.parsed_sentences import lemma, regular
from captious.training.parser.treebank import read_parses
from captious.training.parser.word_scores import learn_exceptions


@pytest.mark.parametrize(
    ("form", "tag", "base"),
    [
        ("dogs", "NNS", "dog"),
        ("benches", "NNS", "bench"),
        ("babies", "NNS", "baby"),
        ("glass", "NN", "glass"),
        ("riding", "VBG", "ride"),
        ("sitting", "VBG", "sit"),
        ("playing", "VBG", "play"),
        ("stopped", "VBD", "stop"),
        ("carried", "VBN", "carry"),
        ("juggles", "VBZ", "juggle"),
        ("spun", "VBD", "spin"),
        ("Riding", "VBG", "ride"),
        ("riding", "NN", "riding"),
        ("lying", "VBG", "lie"),
        ("London", "NNP", "London"),
    ],
)
def test_spelling_rules(form: str, tag: str, base: str) -> None:
    assert regular(form, tag) == base


def test_exceptions_are_what_the_rules_get_wrong() -> None:
    learned = learn_exceptions(
        [Sentence(["geese", "dogs"], ["NNS", "NNS"], ["goose", "dog"], [2, 0], ["dep", "root"])]
    )
    assert learned == {"geese NNS": "goose"}
    assert lemma("Geese", "NNS", learned) == "goose"


@pytest.mark.parametrize(
    ("form", "tag", "base"),
    [("is", "VBZ", "be"), ("women", "NNS", "woman"), ("an", "DT", "a"), ("his", "PRP$", "he")],
)
def test_shipped_table(form: str, tag: str, base: str) -> None:
    assert lemma(form, tag, shipped_model().exceptions) == base


@pytest.mark.shared
def test_lemmas_of_captions_not_trained_on(shared_data: Path) -> None:
    exceptions = shipped_model().exceptions
    right = total = 0
    for caption in itertools.islice(read_parses(shared_data / "parses" / "captions.jsonl.gz"), 60_000):
        if caption.part != "test":
            continue
        for s in caption.sentences:
            right += sum(lemma(f, t, exceptions) == base for f, t, base in zip(s.forms, s.tags, s.lemmas))
            total += len(s)
    assert total > 10_000
    assert right / total > 0.999
