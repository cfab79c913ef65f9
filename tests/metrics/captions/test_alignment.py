"""Soft alignment of many images at once, against plain NumPy image by image (bit-equal for short sums)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from captious.corpus import Corpus
from captious.metrics.captions import token_alignment as module
from captious.metrics.captions.alignment_kernels import added, joined
from captious.metrics.captions.over_references import reference_means, with_means
from captious.metrics.captions.token_alignment import (
    Reader,
    Tokens,
    agreement,
    alignment,
    by_words,
    shared_recall,
)
from captious.vectors import WordVectors
from captious.vectors.sentence_vectors import load_pieces
from tests.forms import both_forms, running

WORDS = [f"word{i}" for i in range(60)] + ["unknown", "the", "dog"]


def corpus_of(seed: int, images: int, longest: int, most: int) -> Corpus:
    draw = random.Random(seed)

    def texts(count: int) -> list[str]:
        return [" ".join(draw.choices(WORDS, k=draw.randint(0, longest))) for _ in range(count)]

    candidates = [texts(draw.randint(1, 3)) for _ in range(images)]
    references = [texts(draw.randint(1, most)) for _ in range(images)]
    # Judged twice, references without words, and a repeated caption.
    references[1], references[2], candidates[3] = references[0], ["unknown", ""], candidates[0]
    return Corpus.build([str(i) for i in range(images)], candidates, references, tokenizer="none")


@pytest.fixture(scope="module")
def reader() -> Reader:
    rng = np.random.default_rng(4)
    return by_words(
        WordVectors.from_mapping({word: rng.normal(size=13) for word in WORDS if word != "unknown"})
    )


class Group:
    """The tokens of the captions of one image that have any."""

    def __init__(self, made: Tokens, sequence: np.ndarray) -> None:
        lengths = made.offsets[sequence + 1] - made.offsets[sequence]
        self.places = np.flatnonzero(lengths)
        chosen = [np.arange(*made.offsets[k : k + 2]) for k in sequence[self.places]]
        at = np.concatenate([np.zeros(0, np.int64), *chosen])
        self.lengths = lengths[self.places]
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.rows, self.weights = made.rows[made.place[at]].astype(np.float32), made.weights[at]
        self.totals = (
            np.maximum(np.add.reduceat(self.weights, self.starts), np.float32(1e-6))
            if len(at)
            else self.weights
        )


def plainly(corpus: Corpus, reader: Reader) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pairs, captions, shared recall and agreement."""
    ours, theirs = reader.read(corpus.candidates), reader.read(corpus.references)
    by_pair, by_caption = np.zeros((4, len(corpus.pairs[0]))), np.zeros((3, len(corpus.candidates)))
    by_caption[2] = load_pieces().weight("")
    shared, table = np.zeros(len(corpus.candidates)), np.full((4, corpus.references.n_images), np.nan)
    for image in range(len(corpus)):
        first, last = corpus.candidates.image_offsets[image : image + 2]
        a = Group(ours, ours.sequence[first:last])
        b = Group(
            theirs, theirs.sequence[slice(*corpus.references.image_offsets[corpus.images[image] :][:2])]
        )
        support = b.weights.copy()
        if len(b.places) > 1:
            near = np.maximum.reduceat(b.rows @ b.rows.T, b.starts, axis=1)
            support = b.weights * np.maximum((near.sum(axis=1) - 1.0) / (len(b.places) - 1), 0.0).astype(
                np.float32
            )
            own = np.repeat(np.arange(len(b.places)), b.lengths)
            near[np.arange(len(near)), own] = -np.inf
            best = near.max(axis=1)
            near[np.arange(len(near)), own] = 0.0
            others = near.sum(axis=1) / (len(b.places) - 1)
            for place, values in enumerate((others, best)):
                table[2 * place, image] = (np.add.reduceat(values, b.starts) / b.lengths).mean()
                table[2 * place + 1, image] = (
                    np.add.reduceat(values * b.weights, b.starts) / b.totals
                ).mean()
        if not len(a.places) or not len(b.places):
            continue
        similar = a.rows @ b.rows.T
        near, found = (
            np.maximum.reduceat(similar, b.starts, axis=1),
            np.maximum.reduceat(similar, a.starts, axis=0),
        )
        mine = first + a.places
        at = corpus.pair_offsets[mine][:, None] + b.places
        by_pair[0, at] = np.add.reduceat(near, a.starts, axis=0) / a.lengths[:, None]
        by_pair[1, at] = np.add.reduceat(found, b.starts, axis=1) / b.lengths
        by_pair[2, at] = np.add.reduceat(near * a.weights[:, None], a.starts, axis=0) / a.totals[:, None]
        by_pair[3, at] = np.add.reduceat(found * b.weights, b.starts, axis=1) / b.totals
        best = near.max(axis=1)
        by_caption[0, mine] = np.add.reduceat(best, a.starts) / a.lengths
        by_caption[1, mine] = np.add.reduceat(best * a.weights, a.starts) / a.totals
        by_caption[2, mine] = np.maximum.reduceat((1 - best) * a.weights, a.starts)
        shared[mine] = found @ support / max(float(support.sum()), 1e-6)
    return by_pair, by_caption, shared, table


def all_of(corpus: Corpus, reader: Reader) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    found = np.array(alignment(corpus, reader)[:4]), np.array(alignment(corpus, reader)[4:])
    return *found, shared_recall(corpus, reader), np.array(agreement(corpus.references, reader))


@both_forms
def test_all_images_at_once_are_as_each_alone(form: str, reader: Reader) -> None:
    corpus = corpus_of(1, 25, 30, 12)
    with running(form):
        results = all_of(corpus, reader)
    for found, expected in zip(results, plainly(corpus, reader)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("tokens", "cells"), [(1, 1 << 20), (60, 300), (1 << 13, 7)])
def test_pieces_of_any_size_give_the_same(
    tokens: int, cells: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = all_of(corpus_of(2, 12, 20, 6), reader)
    monkeypatch.setattr(module, "_TOKENS", tokens)
    monkeypatch.setattr(module, "_CELLS", cells)
    for found, whole in zip(all_of(corpus_of(2, 12, 20, 6), reader), expected):
        np.testing.assert_allclose(found, whole, rtol=1e-5, atol=1e-6)


def test_words_that_are_said_again_and_again_are_multiplied_once(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    usual = module._multiplied

    def watched(a: Any, b: Any) -> Any:
        sizes.append(int((a.per_image * b.per_image).max(initial=0)))
        return usual(a, b)

    monkeypatch.setattr(module, "_multiplied", watched)
    monkeypatch.setattr(module, "_CELLS", 5_000)
    corpus = corpus_of(5, 9, 300, 4)
    for found, expected in zip(all_of(corpus, reader), plainly(corpus, reader)):
        np.testing.assert_allclose(found, expected, rtol=5e-6, atol=1e-6)
    # At most 62 different words that have vectors, in three captions and four.
    assert 5_000 < max(sizes) <= (4 * 62) ** 2


def test_captions_of_hundreds_of_words(reader: Reader) -> None:
    corpus = corpus_of(3, 6, 700, 4)
    for found, expected in zip(all_of(corpus, reader), plainly(corpus, reader)):
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_added_as_numpy_adds(dtype: Any) -> None:
    values = np.random.default_rng(0).normal(size=300).astype(dtype)
    for low in (0, 3):
        for high in [*range(low + 1, low + 40), low + 127, low + 128]:
            assert added(values, low, high) == values[low:high].sum()
            assert joined(values, low, high) == np.add.reduceat(values[low:high], [0])[0]
    assert added(values, 0, 300) == pytest.approx(values.sum(), rel=1e-5)
    assert added(values, 1, 258) == pytest.approx(values[1:258].sum(), rel=1e-5)


def test_sums_of_vectors_are_added_one_by_one() -> None:
    """The k-th of all images at once gives the bits of adding each image's in turn."""
    corpus = Corpus.build(
        ["1", "2", "3"], [["a"], ["b", "c"], ["d"]], [["x"] * 3, ["y"], ["z"] * 9], tokenizer="none"
    )
    rng = np.random.default_rng(1)
    theirs, ours = rng.normal(size=(13, 5)).astype(np.float32), rng.normal(size=(4, 5)).astype(np.float32)
    sums = np.zeros((3, 5))
    for row, image in zip(theirs, corpus.references.image_of):
        sums[image] += row
    means = sums / np.array([[3], [1], [9]])
    np.testing.assert_array_equal(reference_means(corpus, theirs), means)
    expected = np.clip(np.einsum("ij,ij->i", ours.astype(np.float64), means[[0, 1, 1, 2]]), -1, 1)
    np.testing.assert_array_equal(with_means(corpus, ours, theirs), expected)
