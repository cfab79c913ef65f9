"""Vocabulary measures against their definitions, written out plainly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import captious
from captious.corpus import Captions, Corpus
from captious.diversity_analysis.corpus.corpus_study import parallel_rows
from captious.metrics.base import Sequences, contained
from captious.metrics.corpus import vocabulary_measures as voc
from captious.metrics.corpus.corpus_measure import _hash_runs, words_of
from captious.metrics.corpus.novel_captions import caption_hashes
from tests.forms import FORMS, form_of

captions = st.lists(st.lists(st.integers(0, 7), max_size=9), max_size=30)


def table_of(rows: list[list[int]]) -> Sequences:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Sequences(
        np.array([w for row in rows for w in row], dtype=np.int32), offsets, np.arange(8, dtype=np.uint64)
    )


def captions_of(rows: list[list[int]]) -> Captions:
    return Captions.of([[" ".join(map(str, row))] for row in rows], "none")


def plain_ttr(items: list[object], segment: int) -> float:
    parts = [items[i : i + segment] for i in range(0, len(items) - segment + 1, segment)]
    return float(np.mean([len(set(part)) / segment for part in parts])) if parts else float("nan")


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
        assert voc.mtld(table_of(rows).sum()) == pytest.approx(plain_mtld(words), nan_ok=True)


@given(captions, st.integers(1, 12))
def test_segmented_ratios_are_their_definition(rows: list[list[int]], segment: int) -> None:
    words = [word for row in rows for word in row]
    texts = table_of(rows).sum()
    assert voc.segmented_ttr(texts, 1, segment) == pytest.approx(plain_ttr(list(words), segment), nan_ok=True)
    pairs: list[object] = list(itertools.pairwise(words))
    assert voc.segmented_ttr(texts, 2, segment) == pytest.approx(plain_ttr(pairs, segment), nan_ok=True)


@given(captions.filter(len), st.randoms(use_true_random=False))
def test_a_resample_is_the_text_that_its_rows_make(rows: list[list[int]], random: object) -> None:
    draws = [[random.randrange(len(rows)) for _ in rows] for _ in range(4)]  # type: ignore[attr-defined]
    several = table_of(rows).read(np.array(draws, dtype=np.int32))
    for k, draw in enumerate(draws):
        alone = table_of([rows[i] for i in draw]).sum()
        for measure in (
            voc.mtld,
            lambda texts: voc.segmented_ttr(texts, 1, 5),
            lambda texts: voc.segmented_ttr(texts, 2, 5),
        ):
            assert measure(several)[k] == pytest.approx(float(measure(alone)), nan_ok=True)
        assert several.counts()[k].tolist() == alone.counts().tolist()


def test_both_forms_of_the_kernels_agree() -> None:
    words = np.random.default_rng(0).zipf(1.4, 5000).clip(max=400).astype(np.int32)
    offsets = np.arange(0, 5001, 10)
    orders = np.random.default_rng(2).integers(0, 500, (3, 500)).astype(np.int32)
    for backwards in (False, True):
        outs = [np.zeros((3, 2)) for _ in FORMS]
        for form, out in zip(FORMS, outs):
            form_of(voc._factors, form)(
                words, offsets, orders, backwards, 0.72, np.zeros(401, dtype=np.int64), out
            )
        assert (outs[0] == outs[1]).all()
        assert (outs[0] > 0).all()
    for width in (1, 2):
        outs = [np.zeros((3, 2)) for _ in FORMS]
        for form, out in zip(FORMS, outs):
            room = np.zeros(256, dtype=np.int32), np.zeros(100, dtype=np.uint64)
            with np.errstate(over="ignore"):
                form_of(voc._segments, form)(words.astype(np.int64), offsets, orders, width, 100, *room, out)
        assert (outs[0] == outs[1]).all()
    order = np.random.default_rng(1).permutation(500)
    first = [np.full(401, -1, dtype=np.int64) for _ in range(2)]
    for form, out in zip(FORMS, first):
        form_of(voc._first_seen, form)(words, offsets, order, out)
    assert (first[0] == first[1]).all()


def test_segments_are_whole_and_averaged() -> None:
    texts = table_of([[0, 0, 0, 1], [2, 3, 7]]).sum()
    assert voc.segmented_ttr(texts, 1, 3) == pytest.approx((1 / 3 + 1) / 2)
    assert np.isnan(voc.segmented_ttr(texts, 1, 8))


def test_numbers_of_a_small_corpus() -> None:
    corpus = Corpus(captions_of([[0, 1], [0, 1, 2, 3], []]))
    found = {name: score.value for name, score in captious.score(corpus, "ASL,SDSL,Types,Hapax,TTR1").items()}
    assert found["ASL"] == 2
    assert found["SDSL"] == pytest.approx(np.std([2, 4, 0]))
    assert (found["Types"], found["Hapax"]) == (4, 0.5)
    assert np.isnan(found["TTR1"])


def test_bigrams_cross_captions_and_do_not_collide() -> None:
    # 0 1, 1 1, 1 0: three different ones, the middle one of two captions.
    assert voc.segmented_ttr(table_of([[0, 1], [1, 0]]).sum(), 2, 3) == 1
    assert voc.segmented_ttr(table_of([[0, 1], [0, 1]]).sum(), 2, 3) == pytest.approx(2 / 3)


def test_all_captions_of_an_image_count_in_their_order() -> None:
    one = Corpus(Captions.of([["a b", "c"], ["a"]], "none"))
    assert words_of(one.candidates).offsets.tolist() == [0, 3, 4]
    found = captious.score(one, "ASL,Types,Hapax")
    assert found["ASL"].value == pytest.approx(4 / 3)
    assert (found["Types"].value, found["Hapax"].value) == (3, pytest.approx(2 / 3))


@given(captions)
def test_curve_grows_to_all_types(rows: list[list[int]]) -> None:
    flat = captions_of(rows)
    curve = voc.type_token_curve(flat, seed=3)
    again = voc.type_token_curve(flat, seed=3)
    assert (curve.types == again.types).all()
    if len(flat.tokens):
        assert curve.tokens[-1] == len(flat.tokens)
        assert curve.types[-1] == len(set(flat.tokens.tolist()))
        assert curve.types[0] == 1
        assert (np.diff(curve.types) >= 0).all()
        assert (curve.types <= curve.tokens).all()


def test_curve_is_the_mean_over_orders() -> None:
    # Two captions: the one with three words comes first in half of the orders.
    curve = voc.type_token_curve(captions_of([[0, 0, 0], [1, 2, 3]]), orders=4000, seed=0)
    assert curve.types[2] == pytest.approx(2.0, abs=0.1)


def test_parallel_descriptions_are_of_all_images() -> None:
    rows = parallel_rows(np.array([0, 2, 5, 7]))
    assert [row.tolist() for row in rows] == [[0, 2, 5], [1, 3, 6]]


def test_novelty_ignores_punctuation_and_nothing_else() -> None:
    train = Captions.of([["A dog.", "a cat on a mat", ""]], "spacy-like")
    new = Captions.of([["a dog .", "a cat", "dog a", "a cat on a mat!", "a a dog"]], "spacy-like")
    training = np.unique(caption_hashes(train))
    assert contained(caption_hashes(new), training).tolist() == [True, False, False, True, False]
    assert not contained(caption_hashes(new), training[:0]).any()


def test_hash_forms_agree() -> None:
    tokens = np.arange(100, dtype=np.uint64) % np.uint64(7)
    offsets = np.arange(0, 101, 5)
    counted = tokens != 3
    out = [np.empty(20, dtype=np.uint64) for _ in range(2)]
    constants = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
    with np.errstate(over="ignore"):
        for form, hashes in zip(FORMS, out):
            form_of(_hash_runs, form)(tokens, offsets[:-1], offsets[1:], counted, *constants, hashes)
    assert (out[0] == out[1]).all()
