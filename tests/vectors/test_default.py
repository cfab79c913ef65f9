"""The embedded word vectors, and the steps that make them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from captious.core.errors import InputError
from captious.training import distil_vectors as distil
from captious.vectors import get
from captious.vectors import packaged_vectors as default
from tests.conftest import read_jsonl


def test_the_table_is_small_and_large_enough() -> None:
    vectors = get()
    assert default.DEFAULT.stat().st_size <= 8_000_000
    assert len(vectors) >= 30_000 and vectors.dimension == distil.DIMENSION
    assert get("default") is vectors
    assert vectors.label == f"{len(vectors)}x{vectors.dimension}"


@pytest.mark.parametrize(
    ("word", "near", "far"), [("sofa", "couch", "horse"), ("dog", "canine", "bus"), ("kid", "child", "fork")]
)
def test_related_words_are_near(word: str, near: str, far: str) -> None:
    rows, found = get().lookup([word, near, far])
    assert found.all()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > 0.6 > 0.3 > unit[0] @ unit[2]
    assert near in [other for other, _ in get().nearest(word, 10)]


def test_compounds_and_capitals_have_vectors_and_nonsense_has_none() -> None:
    assert get().lookup(["Dog", "zebra-striped-sofa", "qzxwvkj", "🐕"])[1].tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "words.npz"
    path.write_bytes(default.DEFAULT.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"words\.npz .*reinstall"):
        default.load_default(path)


def test_rounding_is_within_half_a_step() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 16))
    codes, scales = distil.quantise(rows)
    assert np.abs(codes).max() == distil.LEVELS
    assert (np.abs(codes * scales[:, None] - rows) <= 0.5001 * scales[:, None]).all()


def test_common_words_weigh_less_and_captions_come_first() -> None:
    counts = Counter({"dog": 90, "a": 200, "sofa": 10, "zebra": 0})
    words = distil.word_list(counts, ["the", "dog", "123", "politics", "economy"], 6)
    assert words == ["a", "dog", "sofa", "zebra", "the", "politics"]
    rng = np.random.default_rng(1)
    frequency = np.array([counts[word] for word in words]) / 300
    reduced = distil.reduce(
        rng.normal(size=(6, 8)), frequency, np.array([word not in ("a", "the") for word in words]), 4
    )
    norms = np.linalg.norm(reduced, axis=1)
    assert reduced.shape == (6, 4) and norms.mean() == pytest.approx(1)
    assert norms[0] < norms[3:].min()


def test_words_are_counted_in_the_captions_of_a_data_folder(tmp_path: Path) -> None:
    for name, field in distil.CAPTIONS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with gzip.open(tmp_path / name, "wt") as out:
            out.write(json.dumps({field: ["A dog .", "the Dog's ball"]}) + "\n")
    with gzip.open(tmp_path / distil.FREQUENCIES, "wt") as out:
        out.write("zebra\t3\na dog\t2\n!!\t1\n")
    assert distil.caption_words(tmp_path) == {"a": 3, "dog": 6, "the": 3, "'s": 3, "ball": 3, "zebra": 0}
    (tmp_path / "nocaps" / "val.jsonl.gz").unlink()
    with pytest.raises(InputError, match=r"val\.jsonl\.gz is not there"):
        distil.caption_words(tmp_path)


@pytest.mark.shared
def test_almost_every_content_word_of_coco_is_known(shared_data: Path) -> None:
    from captious.corpus import Captions
    from captious.metrics.captions.vocabulary_vectors import coverage

    rows = [
        row["captions"]
        for row, _ in zip(read_jsonl(shared_data / "coco" / "references.jsonl.gz"), range(3000))
    ]
    known = coverage(Captions.of(rows), get())
    assert known.content > 80_000 and known.unknown < 20
