"""Many captions are processed in portions, whose size does not change the results."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import captious
from captious import References
from captious.core import container
from captious.core.container import StoredTexts
from captious.core.ragged import distinct, offsets_of, stretches
from captious.corpus import Captions, Corpus, encoding
from captious.corpus.corpus import _number_distinct
from captious.corpus.encoding import NUMBERED
from captious.metrics.captions import meteor
from captious.text.ngrams import NgramIndex
from tests.forms import both_forms, form_of


def texts(seed: int, images: int, each: int = 3, words: str = "abcdef") -> list[list[str]]:
    draw = random.Random(seed)
    return [[" ".join(draw.choices(words, k=draw.randint(0, 9))) for _ in range(each)] for _ in range(images)]


def described(captions: Captions) -> list[Any]:
    found: list[Any] = [captions.tokens.tolist(), captions.token_offsets.tolist(), captions.vocabulary.words]
    for n in range(1, 5):
        table, size, index = captions.encoding.numbered(n)
        found += [
            table.number.tolist(),
            table.count.tolist(),
            table.offsets.tolist(),
            table.totals.tolist(),
            size,
        ]
        found += [
            captions.encoding.first_positions(n)[0].tolist(),
            index.keys[: index.size].tolist() if index is not None else None,
        ]
    return found


@pytest.mark.parametrize("seed", range(3))
def test_captions_are_encoded_in_portions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def both() -> list[Any]:
        references = Captions.of(texts(seed, 8), "none")
        return [
            *described(references),
            *described(Captions.of(texts(seed + 9, 8, words="defgh"), "none", over=references)),
        ]

    whole = both()
    monkeypatch.setattr(encoding, "PORTION", 2)
    monkeypatch.setattr(encoding, "STRETCH", 7)
    assert both() == whole


@given(st.lists(st.integers(-3, 9), max_size=30))
def test_different_values_are_found(values: list[int]) -> None:
    given_values = np.array(values, np.int64)
    found, place = distinct(given_values)
    expected, inverse = np.unique(given_values, return_inverse=True)
    assert found.tolist() == expected.tolist() and place.tolist() == inverse.tolist()


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20))
def test_stretches_cover_all_runs_in_order(lengths: list[int], size: int) -> None:
    offsets = offsets_of(np.array(lengths, np.int64))
    found = list(stretches(offsets, size))
    assert [run for first, last in found for run in range(first, last)] == list(range(len(lengths)))
    for first, last in found:
        assert last == first + 1 or offsets[last] - offsets[first] <= size


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.integers(0, 2), max_size=3), max_size=40))
@both_forms
def test_equal_captions_share_a_number(form: str, captions: list[list[int]]) -> None:
    tokens, offsets = (
        np.array([t for own in captions for t in own], np.int32),
        offsets_of([len(own) for own in captions]),
    )
    first, inverse = np.zeros(len(captions), np.int64), np.zeros(len(captions), np.int64)
    # A table with hardly any room, so that captions collide in it.
    places = np.zeros(max(1 << (len(captions) + 1).bit_length(), 2), np.int32)
    with np.errstate(over="ignore"):
        count = form_of(_number_distinct, form)(tokens, offsets, places, first, inverse)
    seen: dict[tuple[int, ...], int] = {}
    assert inverse.tolist() == [seen.setdefault(tuple(own), len(seen)) for own in captions]
    assert count == len(seen)
    assert first[:count].tolist() == [captions.index(list(own)) for own in seen]


def test_many_texts_are_kept_in_an_array(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given_references = {
        str(i): own for i, own in enumerate(texts(1, 20, words=["a", "dog", "Käse", "runs", "x"]))
    }  # type: ignore[arg-type]
    plain = References.read(given_references, "none")
    monkeypatch.setattr(container, "MANY", 10)
    packed = References.read(given_references, "none")
    assert isinstance(packed.captions.encoding.texts, StoredTexts) and not isinstance(
        plain.captions.encoding.texts, StoredTexts
    )
    assert list(packed.captions.texts) == list(plain.captions.texts)
    assert packed.captions.digest == plain.captions.digest
    assert [list(own) for own in packed.file.captions] == [list(own) for own in plain.file.captions]
    predictions = {image: own[0] for image, own in given_references.items()}
    assert captious.score(packed, predictions, "BLEU-4").to_json(per_image=True) == captious.score(
        plain, predictions, "BLEU-4"
    ).to_json(per_image=True)


def test_an_index_of_an_earlier_version_is_read() -> None:
    """Until version 0.4, files stored keys at their place in the hash table, with their numbers beside them."""
    encoded = Captions.of(texts(3, 5), "none").encoding
    arrays = dict(NUMBERED.pack(encoded.numbered(2)))
    keys, places = arrays.pop("keys"), arrays.pop("places")
    used = np.flatnonzero(places)
    slots, numbers = np.zeros(len(places), np.uint64), np.zeros(len(places), np.int32)
    slots[used], numbers[used] = keys[places[used] - 1], places[used] - 1
    finder = NUMBERED.unpack({**arrays, "slots": slots, "numbers": numbers}).finder
    assert finder is not None and finder.find(keys).tolist() == list(range(len(keys)))
    assert finder.find(np.array([keys.max() + 1], np.uint64)).tolist() == [-1]


def test_an_index_finds_what_it_numbered_and_nothing_else() -> None:
    draw = np.random.default_rng(5)
    keys = draw.integers(1, 5_000, 20_000).astype(np.uint64)
    index = NgramIndex(2)
    numbers = np.concatenate(
        [index.encode(part) for part in np.split(keys, 7 * [0] + [3_000, 3_001, 12_000])]
    )
    seen: dict[int, int] = {}
    assert numbers.tolist() == [seen.setdefault(int(key), len(seen)) for key in keys]
    assert index.find(np.arange(1, 6_000, dtype=np.uint64)).tolist() == [
        seen.get(key, -1) for key in range(1, 6_000)
    ]


@pytest.mark.parametrize("words", [200, 300])
def test_counts_are_right_where_they_do_not_fit_into_a_byte(words: int) -> None:
    corpus = Corpus.build(
        ["1", "2"], [["a " * words], ["b"]], [["a " * (words + 40)], ["b c"]], tokenizer="none"
    )
    assert corpus.candidates.ngrams(1).count.tolist() == [words, 1]
    scores = captious.score(corpus, "BLEU-1,Recall-1")
    assert scores["BLEU-1"].statistics[0, 0] == words
    assert scores["Recall-1"].statistics[0].tolist() == [words, words + 40]


def test_meteor_aligns_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    references = texts(4, 9, words=["a", "dog", "dogs", "runs", "in", "the", "grass"])  # type: ignore[arg-type]
    candidates = texts(5, 9, each=2, words=["a", "dog", "run", "on", "grass"])  # type: ignore[arg-type]
    measure = meteor.Meteor()

    def found() -> tuple[Any, list[Any]]:
        corpus = Corpus.build([str(i) for i in range(9)], candidates, references, tokenizer="none")
        state = measure.prepare(corpus.references)
        return measure.statistics(corpus, state).tolist(), [
            (own.words, own.reference, own.matches.tolist()) if own is not None else None
            for own in measure.alignments(corpus, state)
        ]

    whole = found()
    monkeypatch.setattr(meteor, "PORTION", 3)
    assert found() == whole
