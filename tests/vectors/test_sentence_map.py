"""The map of the sentence encoder's vectors, and the features that use it, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics.learned.feature_table import Features
from captious.vectors import sentence_map
from captious.vectors.sentence_map import SentenceMap
from captious.vectors.sentence_vectors import SentenceEncoder

pytest.importorskip("tokenizers")

CAPTIONS = ["a brown dog runs on grass", "two people at a table"]
REFERENCES = [
    ["a dog is running", "the dog plays in a field", "a puppy"],
    ["people eat", "a table with food"],
]


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


def by_hand(vectors: np.ndarray) -> np.ndarray:
    shipped = sentence_map.load()
    matrix = np.eye(vectors.shape[1]) + shipped.left.astype(float) @ shipped.right.astype(float)
    mapped = vectors.astype(float) @ matrix
    return mapped / np.linalg.norm(mapped, axis=1, keepdims=True)


def test_vectors_are_multiplied_and_scaled_to_one(encoder: SentenceEncoder) -> None:
    """Also over the end of a portion."""
    vectors = np.tile(encoder.encode([*CAPTIONS, *REFERENCES[0]]), (300, 1))
    assert len(vectors) > sentence_map._PORTION
    mapped = sentence_map.load().apply(vectors)
    np.testing.assert_allclose(mapped, by_hand(vectors), atol=2e-6)
    assert np.abs(mapped - vectors).max() > 0.01


def test_the_cosine_is_that_of_mapped_vectors(encoder: SentenceEncoder) -> None:
    corpus = Corpus.build(["1", "2"], [[text] for text in CAPTIONS], REFERENCES)
    names = ["mapped-sentence-centroid", "mapped-sentence-max", "sentence-centroid"]
    table = Features(names).table(corpus)
    for row, (caption, references) in enumerate(zip(CAPTIONS, REFERENCES)):
        own, theirs = by_hand(encoder.encode([caption]))[0], by_hand(encoder.encode(references))
        centroid = theirs.mean(0) / np.linalg.norm(theirs.mean(0))
        assert table[row, 0] == pytest.approx(own @ centroid, abs=2e-6)
        assert table[row, 1] == pytest.approx((theirs @ own).max(), abs=2e-6)
        assert abs(table[row, 2] - table[row, 0]) > 1e-3


def test_tuples_and_tokens_are_mapped() -> None:
    """They move, and the best match of a phrase that the references have stays 1."""
    corpus = Corpus.build(["1", "2"], [[text] for text in CAPTIONS], REFERENCES)
    names = ["tuple-precision", "tuple-recall", "token-recall-idf", "token-union"]
    plain = Features(names).table(corpus)
    mapped = Features([f"mapped-{name}" for name in names]).table(corpus)
    assert (np.abs(mapped - plain) > 1e-4).all()
    same = Corpus.build(["1"], [["a brown dog runs"]], [["a brown dog runs"]])
    assert Features(["mapped-tuple-precision", "mapped-token-recall-idf"]).table(same) == pytest.approx(
        1, abs=1e-3
    )


def test_another_encoder_has_no_map(encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = sentence_map.load()
    assert sentence_map.map_of(encoder) is shipped
    other = SentenceMap(shipped.left, shipped.right, "00000000")
    monkeypatch.setattr(sentence_map, "load", lambda: other)
    assert sentence_map.map_of(encoder) is None
    corpus = Corpus.build(["1", "2"], [[text] for text in CAPTIONS], REFERENCES)
    names = ["sentence-centroid", "token-recall-idf", "tuple-precision", "sentence-agreement"]
    mapped = Features([f"mapped-{name}" for name in names])
    np.testing.assert_array_equal(mapped.table(corpus), Features(names).table(corpus))
    assert "map" not in mapped.resources()


def test_the_signature_of_captious_score_names_the_map() -> None:
    corpus = Corpus.build(["1", "2"], [[text] for text in CAPTIONS], REFERENCES)
    fields = captious.score(corpus, "CaptiousScore")["CaptiousScore"].signature.fields
    shipped = sentence_map.load()
    assert fields["map"] == f"{shipped.label}@{shipped.digest}"


def test_a_damaged_map_is_an_error_of_the_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with np.load(sentence_map.FILE) as data:
        arrays = {name: data[name] for name in data.files}
    monkeypatch.setattr(sentence_map, "FILE", tmp_path / "map.npz")
    np.savez(sentence_map.FILE, **{**arrays, "right": arrays["right"][:5]})
    sentence_map.load.cache_clear()
    try:
        with pytest.raises(
            InputError, match=r"cannot read the map of sentence vectors .*; reinstall captious"
        ):
            sentence_map.load()
    finally:
        sentence_map.load.cache_clear()
