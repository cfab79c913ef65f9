"""Tuples read by kernels are those read from objects, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.kernels import Kernel, called_often
from captious.language import ParsedBatch, Sentence
from captious.scene import Dependencies, enhance, tuples
from captious.scene.flat import sentences as flat
from captious.scene.flat.sentences import flat_tuples
from captious.scene.flat.space import ROOM, STATE, space
from tests.scene.flat.trees import trees


def differing(sentences: Sequence[Sentence], jobs: int | None = None) -> list[Sentence]:
    made = flat_tuples(ParsedBatch.of([[sentence] for sentence in sentences]), jobs)
    return [sentence for i, sentence in enumerate(sentences) if made.of(i) != tuples(sentence)]


def test_compiled_kernels_read_what_objects_read() -> None:
    with called_often():
        assert not differing(trees(seed=1, count=6000))


def test_plain_kernels_read_what_objects_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "pick", lambda kernel, work: kernel.plain)
    assert not differing(trees(seed=2, count=250))


def test_the_trees_have_what_is_rare() -> None:
    """Copies of words, quantifiers, pronouns and prepositions of several words are in the sentences that are compared."""
    sentences = trees(seed=1, count=6000)
    copies = sum(any(end % 1 for edge in s.graph for end in edge[:2]) for s in sentences)
    repaired = sum(enhance(s).arcs != Dependencies.of(s).arcs for s in sentences)
    phrases = sum(any(relation.count("_") > 1 for _, _, relation in s.graph) for s in sentences)
    passive = sum(any(relation == "nmod:agent" for _, _, relation in s.graph) and "auxpass" in s.relations for s in sentences)
    assert copies > 200 and repaired > 400 and phrases > 50 and passive > 50, (copies, repaired, phrases, passive)


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = ParsedBatch.of([[sentence] for sentence in trees(seed=3, count=150)])
    monkeypatch.setattr(Kernel, "pick", lambda kernel, work: kernel.plain)
    whole = flat_tuples(batch)
    monkeypatch.setattr(flat, "_BLOCK", 20)
    parts = flat_tuples(batch, jobs=3)
    assert whole.texts == parts.texts
    assert np.array_equal(whole.rows, parts.rows) and np.array_equal(whole.offsets, parts.offsets)


def test_sentences_that_are_too_long_or_too_dense_are_read_from_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = trees(seed=4, count=400)
    monkeypatch.setattr(flat, "LONGEST", 20)
    read: list[int] = []

    def counting(sentence: Sentence) -> object:
        read.append(len(sentence))
        return tuples(sentence)

    monkeypatch.setattr(flat, "tuples", counting)
    with called_often():
        assert not differing(sentences)
        assert read and min(read) > 20
        # Each of these conjuncts hangs from each of as many words: more arcs than there is room for.
        size = 60
        heads = [0, *([1] * (size - 1))]
        relations = ["root", "cc", *(["conj"] * (size - 2))]
        dense = Sentence(["and"] * size, ["NN"] * size, ["dog"] * size, heads, relations)
        chain = Sentence(["and"] * 8, ["NN"] * 8, ["dog"] * 8, [0, 1, 1, 3, 3, 5, 5, 7], ["root", *["cc", "conj"] * 3, "dobj"])
        monkeypatch.setattr(flat, "LONGEST", 100)
        monkeypatch.setattr(flat, "space", small)
        read.clear()
        assert not differing([dense, chain, *sentences])
        assert len(read) > 10


def small(longest: int) -> NDArray[np.int32]:
    """An array that is soon full."""
    made = space(longest)
    made[STATE, ROOM] = 16
    return made


def test_output_grows_when_it_is_full() -> None:
    """Many subjects with many objects each: more tuples than words."""
    size = 30
    heads = [0, *([1] * (size - 1))]
    relations = ["root", *["nsubj", "dobj"] * (size // 2)][:size]
    sentence = Sentence(["eats"] * size, ["NN"] * size, [f"dog{i}" for i in range(size)], heads, relations)
    with called_often():
        assert not differing([replace(sentence) for _ in range(3)])


def test_a_batch_without_sentences() -> None:
    made = flat_tuples(ParsedBatch.of([]))
    assert made.rows.shape == (0, 3) and made.offsets.tolist() == [0]


def test_heads_outside_a_sentence_are_left_to_the_objects() -> None:
    """Whatever the objects make of it: no kernel reads beyond its arrays."""
    sentence = Sentence(["dogs", "run"], ["NNS", "VBP"], ["dog", "run"], [2, 9], ["nsubj", "root"])
    with pytest.raises(IndexError), called_often():
        flat_tuples(ParsedBatch.of([[sentence]]))
