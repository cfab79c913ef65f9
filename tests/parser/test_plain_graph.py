"""Collapsed graphs by kernels are those of plain code, names included."""

from __future__ import annotations

import pytest

from captious.core.errors import InputError
from captious.kernels import plain_forms
from captious.parser import Sentence, collapse
from tests.parser import plain_graph
from tests.scene.trees import trees


def differing(sentences: list[Sentence]) -> list[Sentence]:
    return [
        s
        for s in sentences
        if collapse(s.forms, s.tags, s.heads, s.relations)
        != plain_graph.collapse(s.forms, s.tags, s.heads, s.relations)
    ]


def test_kernels_collapse_like_plain_code() -> None:
    assert not differing(trees(seed=11, count=4000))


def test_plain_forms_collapse_like_plain_code() -> None:
    with plain_forms():
        assert not differing(trees(seed=12, count=100))


def test_the_workspace_grows() -> None:
    """Each of these conjuncts has as many governors."""
    size = 60
    heads = [0, *range(1, size)]
    relations = ["root", *["cc", "conj"] * size][:size]
    chained = Sentence(["and"] * size, ["NN"] * size, ["and"] * size, heads, relations)
    joined = Sentence(["and"] * size, ["NN"] * size, ["and"] * size, [0, *[1] * (size - 1)], relations)
    assert not differing([chained, joined])


def test_a_sentence_without_words() -> None:
    assert collapse([], [], [], []) == []


@pytest.mark.parametrize("head", [-1, 3])
def test_heads_outside_a_sentence_are_refused(head: int) -> None:
    with pytest.raises(InputError, match=f"Word 2 of a parsed sentence has the head {head}, but"):
        collapse(["dogs", "run"], ["NNS", "VBP"], [2, head], ["nsubj", "root"])
