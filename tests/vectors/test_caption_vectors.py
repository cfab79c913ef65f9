"""The distilled caption vectors: the shipped table, unknown words, and the steps of the fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics.captions.distilled_captions import distilled_vectors
from captious.vectors import caption_vectors as shipped
from captious.vectors import get


def vectors_of(*captions: str) -> np.ndarray:
    corpus = Corpus.build(["1"], [list(captions)], [["a dog on the grass"]])
    return distilled_vectors(corpus.candidates, shipped.load())


def test_the_table_is_small_and_large_enough() -> None:
    vectors = shipped.load()
    assert shipped.FILE.stat().st_size <= 4_000_000
    assert len(vectors.words) >= 15_000 and len(vectors.pair_rows) >= 1_000
    assert get("captions") is vectors.words
    assert vectors.label.startswith(f"{len(vectors.words)}+{len(vectors.pair_rows)}x")


@pytest.mark.parametrize(
    ("caption", "near", "far"),
    [
        ("a puppy lies on the grass", "a small dog is lying in the lawn", "a bus drives down the street"),
        ("two men play tennis", "tennis players on a court", "a cat sleeps on a sofa"),
        ("a kid eats a sandwich", "a child having lunch", "a plane above the clouds"),
    ],
)
def test_captions_of_one_scene_are_near(caption: str, near: str, far: str) -> None:
    rows = vectors_of(caption, near, far)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert rows[0] @ rows[1] > 0.4 > 0.25 > rows[0] @ rows[2]


def test_the_vector_is_the_sum_of_words_and_pairs() -> None:
    vectors = shipped.load()
    words = ["a", "hot", "dog"]
    rows = vectors.words.rows_of(words)
    pairs = vectors.find_pairs(rows[:-1], rows[1:])
    assert pairs[1] >= 0
    total = vectors.words.lookup(words)[0].sum(axis=0) + vectors.pair_rows[pairs[pairs >= 0]].sum(axis=0)
    np.testing.assert_allclose(vectors_of("A hot dog.")[0], total / np.linalg.norm(total), atol=1e-6)
    # Neighbours are those of one caption.
    parted = vectors_of("a hot", "dog")
    alone = vectors.words.lookup(["dog"])[0][0]
    np.testing.assert_allclose(parted[1], alone / np.linalg.norm(alone), atol=1e-6)
    assert vectors.find_pairs(np.array([-1, 3]), np.array([3, -1])).tolist() == [-1, -1]


def test_unknown_words_are_composed() -> None:
    words = shipped.load().words
    rows, known = words.lookup(["motorcyle-like", "elephantss", "Dog", "🐕", "12", ""])
    assert known.tolist()[:3] == [True, True, True] and known.tolist()[3:] == [False, "12" in words, False]
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    (elephant, bus), _ = words.lookup(["elephant", "bus"])
    assert unit[1] @ elephant / np.linalg.norm(elephant) > unit[1] @ bus / np.linalg.norm(bus) + 0.1


def test_a_caption_without_words_has_no_direction() -> None:
    assert not vectors_of("", "!!!").any()


def test_a_vector_does_not_depend_on_other_captions() -> None:
    many = vectors_of(*[f"a dog and {n} cats" for n in range(3000)], "a hot dog on a plate")
    np.testing.assert_array_equal(many[-1], vectors_of("a hot dog on a plate")[0])


def test_hostile_words_take_little_time() -> None:
    assert len(shipped.gram_buckets("x" * 1_000_000, 4096)) < 200


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "captions.npz"
    path.write_bytes(shipped.FILE.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"captions\.npz .*reinstall"):
        shipped.load(path)


def test_mapped_vectors_are_products_with_the_matrix() -> None:
    plain, mapped = shipped.load(), shipped.load_mapped()
    matrix = shipped.read_arrays(shipped.MAP_FILE, "the map")["matrix"].astype(np.float64)
    words = ["dog", "beach", "xqzdogg"]
    before, _ = plain.words.lookup(words)
    after, has_vector = mapped.words.lookup(words)
    assert has_vector.all()
    np.testing.assert_allclose(after, before.astype(np.float64) @ matrix, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(mapped.pair_rows[:9], plain.pair_rows[:9] @ matrix, rtol=1e-4, atol=1e-5)
    assert mapped.digest != plain.digest and mapped.digest == mapped.words.digest


def test_a_map_of_other_vectors_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "map.npz"
    np.savez(path, matrix=np.eye(128, dtype=np.float16), source=np.array("0" * 8))
    monkeypatch.setattr(shipped, "MAP_FILE", path)
    shipped.load_mapped.cache_clear()
    try:
        with pytest.raises(InputError, match="belongs to other caption vectors"):
            shipped.load_mapped()
    finally:
        shipped.load_mapped.cache_clear()
