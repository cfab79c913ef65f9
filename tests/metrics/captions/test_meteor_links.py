"""The displayed alignment is the one that was counted."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.data import demo_path
from captious.meteor import align as alignment
from captious.meteor.matches import MODULES
from captious.metrics.captions.meteor import Meteor
from tests.forms import running


def _aligned(references: object, predictions: object) -> tuple[captious.Corpus, list, np.ndarray]:
    corpus = captious.load(references, predictions)
    measure = Meteor()
    state = measure.prepare(corpus.references)
    return corpus, measure.alignments(corpus, state), measure.statistics(corpus, state)


@pytest.mark.parametrize("system", ["good", "poor"])
def test_matches_add_up_to_the_statistics(system: str) -> None:
    corpus, alignments, table = _aligned(demo_path("references"), demo_path(system))
    assert len(alignments) == len(corpus.candidates)
    kinds = set()
    for found, row in zip(alignments, table):
        assert len(found.words) == row[0] and len(found.reference_words) == row[1]
        matches = found.matches
        assert matches[:, 3].sum() == row[21] and matches[:, 1].sum() == row[22]
        for module in range(len(MODULES)):
            own = matches[matches[:, 4] == module]
            columns = row[4 + 4 * module : 8 + 4 * module]
            assert own[:, 3].sum() == columns[0] + columns[2] and own[:, 1].sum() == columns[1] + columns[3]
            kinds |= {module} if len(own) else set()
    assert 0 in kinds and len(kinds) > 2


def test_an_exact_match_joins_equal_words() -> None:
    # The two references of the first image are equally good, which must not affect the second image.
    _, (_, found, _), _ = _aligned(
        {"0": ["x", "x"], "1": ["a cat", "two dogs run fast"], "2": ["x"]},
        {"0": "x", "1": "the dogs run", "2": "x"},
    )
    assert found.reference == 3
    said = {
        (found.words[i], found.reference_words[j])
        for j, _, i, _, module in found.matches.tolist()
        if module == 0
    }
    assert said == {("dogs", "dogs"), ("run", "run")}


@pytest.mark.parametrize("beam", [False, True])
def test_of_alignments_as_good_the_nearest_is_taken(beam: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merged paths and a beam both compute distances as the reference does."""
    if beam:
        # The change affects only the plain form.
        monkeypatch.setattr(alignment, "SHORT", 0)
    predictions = {"1": "dog dog couch", "2": "couch hill dog", "3": "dog couch couch"}
    with running("plain" if beam else "built"):
        _, found, _ = _aligned(
            {"1": ["dog dog dog"], "2": ["dog dog hill"], "3": ["dog dog dog"]}, predictions
        )
    joined = [
        [(reference, candidate) for reference, _, candidate, _, _ in each.matches.tolist()] for each in found
    ]
    assert joined == [[(0, 0), (1, 1)], [(0, 2), (2, 1)], [(1, 0)]]


def test_both_forms_agree() -> None:
    _, built, _ = _aligned(demo_path("references"), demo_path("generic"))
    with running("plain"):
        _, plain, _ = _aligned(demo_path("references"), demo_path("generic"))
    for one, other in zip(plain, built):
        np.testing.assert_array_equal(one.matches, other.matches)


def test_an_image_without_references_has_none() -> None:
    corpus, alignments, _ = _aligned({"1": ["", "|||"], "2": ["x"]}, {"1": "a dog", "2": ""})
    assert len(alignments) == len(corpus.candidates)
    assert all(found is None or len(found.matches) == 0 for found in alignments)
