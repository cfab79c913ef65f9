"""Vocabulary measures against their definitions, written out plainly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.variety.corpus import vocabulary as voc
from captious.variety.corpus.flat import Flat, parallel_rows
from captious.variety.corpus.novelty import caption_hashes, share_novel
from captious.text.vocabulary import Vocabulary

captions = st.lists(st.lists(st.integers(0, 7), max_size=9), max_size=30)


def flat_of(rows: list[list[int]]) -> Flat:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Flat(np.array([word for row in rows for word in row], dtype=np.int32), offsets)


def plain_mtld(words: list[int]) -> float:
    def one_way(text: list[int]) -> float:
        factors, seen = 0.0, []
        for word in text:
            seen.append(word)
            if len(set(seen)) / len(seen) < 0.72:
                factors, seen = factors + 1, []
        if seen:
            factors += (1 - len(set(seen)) / len(seen)) / (1 - 0.72)
        return len(text) / factors if factors else float("nan")

    return (one_way(words) + one_way(words[::-1])) / 2


@given(captions)
def test_mtld_is_its_definition(rows: list[list[int]]) -> None:
    words = [word for row in rows for word in row]
    if words:
        assert voc.mtld(flat_of(rows), 8) == pytest.approx(plain_mtld(words), nan_ok=True)


def test_both_forms_of_the_kernels_agree() -> None:
    words = np.random.default_rng(0).zipf(1.4, 5000).clip(max=400).astype(np.int32)
    for threshold in (0.5, 0.72):
        seen = np.zeros(401, dtype=np.int32)
        plain = voc._factors.plain(words, seen.copy(), threshold)
        assert voc._factors.compiled(words, seen.copy(), threshold) == pytest.approx(plain)
    offsets = np.arange(0, 5001, 10)
    order = np.random.default_rng(1).permutation(500)
    first = [np.full(401, -1, dtype=np.int64) for _ in range(2)]
    voc._first_seen.plain(words, offsets, order, first[0])
    voc._first_seen.compiled(words, offsets, order, first[1])
    assert (first[0] == first[1]).all()


def test_segments_are_whole_and_averaged() -> None:
    items = np.array([0, 0, 0, 1, 2, 3, 9], dtype=np.int64)
    assert voc.segmented_ttr(items, 3) == pytest.approx((1 / 3 + 1) / 2)
    assert np.isnan(voc.segmented_ttr(items, 8))


def test_numbers_of_a_small_corpus() -> None:
    found = voc.vocabulary(flat_of([[0, 1], [0, 1, 2, 3], []]), 6)
    assert (found.captions, found.tokens, found.types, found.hapaxes) == (3, 6, 4, 2)
    assert found.asl == 2
    assert found.sdsl == pytest.approx(np.std([2, 4, 0]))
    assert found.hapax_share == 0.5
    assert np.isnan(found.ttr1)


def test_bigrams_cross_captions_and_do_not_collide() -> None:
    found = voc.bigrams(flat_of([[0, 1], [1, 0]]), 2)
    assert len(np.unique(found)) == 3


@given(captions)
def test_curve_grows_to_all_types(rows: list[list[int]]) -> None:
    flat = flat_of(rows)
    curve = voc.type_token_curve(flat, 8, seed=3)
    again = voc.type_token_curve(flat, 8, seed=3)
    assert (curve.types == again.types).all()
    if len(flat.tokens):
        assert curve.tokens[-1] == len(flat.tokens)
        assert curve.types[-1] == len(set(flat.tokens.tolist()))
        assert curve.types[0] == 1
        assert (np.diff(curve.types) >= 0).all()
        assert (curve.types <= curve.tokens).all()


def test_curve_is_the_mean_over_orders() -> None:
    # Two captions: the one with three words comes first in half of the orders.
    flat = flat_of([[0, 0, 0], [1, 2, 3]])
    curve = voc.type_token_curve(flat, 4, orders=4000, seed=0)
    assert curve.types[2] == pytest.approx(2.0, abs=0.1)


def test_parallel_descriptions_are_of_all_images() -> None:
    rows = parallel_rows(np.array([0, 2, 5, 7]))
    assert [row.tolist() for row in rows] == [[0, 2, 5], [1, 3, 6]]


def test_novelty_ignores_punctuation_and_nothing_else() -> None:
    vocabulary = Vocabulary()
    train = Flat.of(["A dog.", "a cat on a mat", ""], "spacy-like", vocabulary)
    new = Flat.of(["a dog .", "a cat", "dog a", "a cat on a mat!", "a a dog"], "spacy-like", vocabulary)
    is_word = np.array([any(map(str.isalnum, word)) for word in vocabulary.words])
    known = np.unique(caption_hashes(train, is_word))
    assert share_novel(caption_hashes(new, is_word), known) == pytest.approx(3 / 5)
    assert share_novel(caption_hashes(new, is_word), known[:0]) == 1


def test_hash_forms_agree() -> None:
    from captious.variety.corpus import novelty

    tokens = np.arange(100, dtype=np.uint64) % np.uint64(7)
    offsets = np.arange(0, 101, 5)
    kept = tokens != 3
    out = [np.empty(20, dtype=np.uint64) for _ in range(2)]
    constants = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
    with np.errstate(over="ignore"):
        novelty._hash_rows.plain(tokens, offsets, kept, *constants, out[0])
    novelty._hash_rows.compiled(tokens, offsets, kept, *constants, out[1])
    assert (out[0] == out[1]).all()
