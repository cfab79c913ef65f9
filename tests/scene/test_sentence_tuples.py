"""Tuples read by kernels are those of the plain rules, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.kernels import plain_forms
from captious.parser import ParsedBatch, Sentence
from captious.parser.graph_codes import workspace
from captious.scene import Dependencies, enhance, sentence_tuples, tuples
from captious.scene.sentence_tuples import read_tuples
from tests.scene import plain_scene
from tests.scene.trees import trees


def differing(sentences: Sequence[Sentence], jobs: int | None = None) -> list[Sentence]:
    table = read_tuples(ParsedBatch.of([[sentence] for sentence in sentences]), jobs)
    return [s for i, s in enumerate(sentences) if table.of(i) != plain_scene.tuples(s)]


def test_kernels_read_what_the_plain_rules_read() -> None:
    assert not differing(trees(seed=1, count=6000))


def test_plain_forms_read_what_the_plain_rules_read() -> None:
    with plain_forms():
        assert not differing(trees(seed=2, count=250))


def test_one_sentence_is_read_like_many() -> None:
    """From its graph instead of its tree."""
    for sentence in trees(seed=5, count=400):
        assert tuples(sentence) == plain_scene.tuples(sentence)
        enhanced = enhance(sentence)
        assert enhanced == plain_scene.enhance(sentence)
        assert tuples(enhanced) == plain_scene.tuples(enhanced)
        graph = Dependencies.of(sentence)
        assert tuples(graph) == plain_scene.tuples(graph)


def test_the_trees_have_what_is_rare() -> None:
    """Copies of words, quantifiers, pronouns and prepositions of several words."""
    sentences = trees(seed=1, count=6000)
    copies = sum(any(end % 1 for edge in s.graph for end in edge[:2]) for s in sentences)
    repaired = sum(enhance(s).arcs != Dependencies.of(s).arcs for s in sentences)
    phrases = sum(any(relation.count("_") > 1 for _, _, relation in s.graph) for s in sentences)
    passive = sum(
        any(relation == "nmod:agent" for _, _, relation in s.graph) and "auxpass" in s.relations
        for s in sentences
    )
    assert copies > 200 and repaired > 400 and phrases > 50 and passive > 50, (
        copies,
        repaired,
        phrases,
        passive,
    )


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = ParsedBatch.of([[sentence] for sentence in trees(seed=3, count=150)])
    whole = read_tuples(batch)
    monkeypatch.setattr(sentence_tuples, "_BLOCK", 20)
    parts = read_tuples(batch, jobs=3)
    assert whole.names == parts.names
    assert np.array_equal(whole.rows, parts.rows) and np.array_equal(whole.offsets, parts.offsets)


def test_the_workspace_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long sentences, and short ones with more arcs or tuples than words."""
    sentences = trees(seed=4, count=400)
    # Each of these conjuncts has as many governors.
    size = 300
    heads = [0, *([1] * (size - 1))]
    relations = ["root", "cc", *(["conj"] * (size - 2))]
    dense = Sentence(["and"] * size, ["NN"] * size, ["dog"] * size, heads, relations)
    chain = Sentence(
        ["and"] * 8, ["NN"] * 8, ["dog"] * 8, [0, 1, 1, 3, 3, 5, 5, 7], ["root", *["cc", "conj"] * 3, "dobj"]
    )
    widths: list[int] = []

    def counted(width: int) -> NDArray[np.int32]:
        widths.append(width)
        return workspace(width if len(widths) > 1 else 16)

    monkeypatch.setattr(sentence_tuples, "workspace", counted)
    assert not differing([dense, chain, *sentences])
    assert len(widths) > 4


def test_output_grows_when_it_is_full() -> None:
    """Many subjects with many objects each: more tuples than words."""
    size = 30
    heads = [0, *([1] * (size - 1))]
    relations = ["root", *["nsubj", "dobj"] * (size // 2)][:size]
    sentence = Sentence(["eats"] * size, ["NN"] * size, [f"dog{i}" for i in range(size)], heads, relations)
    assert not differing([replace(sentence) for _ in range(3)])


def test_a_batch_without_sentences() -> None:
    made = read_tuples(ParsedBatch.of([]))
    assert made.rows.shape == (0, 3) and made.offsets.tolist() == [0]


def test_heads_outside_a_sentence_are_refused() -> None:
    sentence = Sentence(["dogs", "run"], ["NNS", "VBP"], ["dog", "run"], [2, 9], ["nsubj", "root"])
    with pytest.raises(InputError, match="Word 2 of a parsed sentence has the head 9"):
        read_tuples(ParsedBatch.of([[sentence]]))
    graph = Sentence(["dogs"], ["NNS"], ["dog"], [0], ["root"], [(0, 1, "root"), (1, 3, "dobj")])
    with pytest.raises(InputError, match=r"dobj\(1, 3\) leaves its sentence"):
        tuples(graph)
