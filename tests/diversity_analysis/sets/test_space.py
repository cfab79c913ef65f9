"""Coordinates in the latent space, and maps."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.diversity_analysis.sets import caption_map, latent_space, mds
from captious.diversity_analysis.sets.semantic_space import distances

REFERENCES = [["a dog runs"], ["a cat sleeps"], ["a man eats pizza"]]
SETS = [
    [
        "a dog runs on the grass",
        "the dog is on grass",
        "a red frisbee",
        "a frisbee flies",
        "people watch a game",
        "grass",
    ],
    ["a cat", "a cat"],
    ["", "the a of"],
]


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.build(["1", "2", "3"], SETS, REFERENCES, tokenizer="none")


def test_lsa_axes_are_right_singular_vectors_without_stop_words(corpus: Corpus) -> None:
    space = latent_space(corpus, "1")
    assert space.coordinates.shape == (6, 5)
    words = sorted({"dog", "runs", "grass", "red", "frisbee", "flies", "people", "watch", "game"})
    counts = np.array([[caption.split().count(word) for caption in SETS[0]] for word in words], dtype=float)
    singular = np.linalg.svd(counts, compute_uv=False)
    np.testing.assert_allclose(space.strengths, singular[:5])
    np.testing.assert_allclose(space.coordinates.T @ space.coordinates, np.eye(5), atol=1e-9)
    # Positions reproduce the products of the captions, as far as five axes can.
    gram = counts.T @ counts
    np.testing.assert_allclose(
        np.linalg.norm(gram - space.positions @ space.positions.T, 2), singular[5] ** 2, atol=1e-9
    )
    assert space.words[0][0] == "grass"
    assert (space.coordinates[np.abs(space.coordinates).argmax(axis=0), range(5)] > 0).all()


def test_self_cider_axes_are_eigenvectors(corpus: Corpus) -> None:
    space = latent_space(corpus, "1", by="Self-CIDEr", axes=6)
    cider = captious.diversity_analysis.sets.CiderKernel()
    kernel = cider.matrices(corpus.candidates, np.array([0]), 6, cider.prepare(corpus.references))[0]
    np.testing.assert_allclose(space.positions @ space.positions.T, kernel, atol=1e-9)
    assert np.all(np.diff(space.strengths) <= 1e-12)


def test_few_captions_and_none_with_words(corpus: Corpus) -> None:
    equal = latent_space(corpus, "2")
    # Two captions of one word: one axis, on which they are at the same place.
    assert equal.coordinates.shape == (2, 1)
    np.testing.assert_allclose(equal.coordinates, np.sqrt(0.5))
    nothing = latent_space(corpus, "3")
    assert nothing.coordinates.shape == (2, 0)
    assert latent_space(corpus, "3", by="Self-CIDEr").coordinates.shape == (2, 2)


def test_unknown_image_and_space(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="no image '7'"):
        latent_space(corpus, "7")
    with pytest.raises(InputError, match="unknown space"):
        latent_space(corpus, "1", by="LDA")  # type: ignore[arg-type]


def test_mds_finds_points_in_a_plane() -> None:
    points = np.random.default_rng(0).normal(size=(12, 2))
    found = mds(points @ points.T)
    np.testing.assert_allclose(distances(found @ found.T), distances(points @ points.T), atol=1e-6)


def test_mds_fits_better_than_the_classical_start() -> None:
    points = np.random.default_rng(0).normal(size=(15, 6))
    kernel = points @ points.T
    wanted = distances(kernel)

    def stress(found: np.ndarray) -> float:
        return float(((distances(found @ found.T) - wanted) ** 2).sum())

    assert stress(mds(kernel)) < stress(mds(kernel, iterations=0))
    np.testing.assert_array_equal(mds(kernel), mds(kernel))


def test_mds_of_nothing_and_of_one_place() -> None:
    assert mds(np.zeros((0, 0))).shape == (0, 2)
    np.testing.assert_allclose(mds(np.ones((4, 4))), 0.0, atol=1e-6)
    np.testing.assert_allclose(mds(np.ones((1, 1))), 0.0)


def test_map_of_several_images_systems_and_people(corpus: Corpus) -> None:
    other = Corpus.build(
        corpus.ids, [["grass"], ["a cat sleeps"], ["pizza", "a man"]], corpus.references, name="other"
    )
    placed = caption_map([corpus, other], ["1", "3"])
    names = ["candidates", "other", "human"]
    assert [(p.image, p.system, len(p.points), p.human) for p in placed] == [
        ("1", names[0], 6, False), ("1", names[1], 1, False), ("1", names[2], 1, True),
        ("3", names[0], 2, False), ("3", names[1], 2, False), ("3", names[2], 1, True),
    ]  # fmt: skip
    # The same caption by two systems is at the same place.
    assert placed[0].texts[5] == placed[1].texts[0] == "grass"
    np.testing.assert_allclose(placed[0].points[5], placed[1].points[0], atol=1e-6)
    assert len(caption_map([corpus], ["2"], human=False)) == 1
