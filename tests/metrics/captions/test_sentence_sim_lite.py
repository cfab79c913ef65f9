"""SentenceSim-lite: its value by hand, and ways to combine references."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.metrics.captions.distilled_captions import distilled_vectors
from captious.vectors.caption_vectors import load

REFERENCES = ["a dog runs on the beach", "a brown dog at the sea", "an animal near the water"]


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.build(["1"], [["a dog by the ocean", "a red bus"]], [REFERENCES])


def test_the_values_are_cosines(corpus: Corpus) -> None:
    ours = distilled_vectors(corpus.candidates, load())
    theirs = distilled_vectors(corpus.references, load())
    cosines = ours @ theirs.T
    centre = theirs.mean(axis=0)
    expected = {
        "mean": cosines.mean(axis=1),
        "max": cosines.max(axis=1),
        "min": cosines.min(axis=1),
        "centroid": ours @ centre / np.linalg.norm(centre),
    }
    for how, values in expected.items():
        score = captious.score(corpus, "SentenceSim-lite", combine=how)["SentenceSim-lite"]
        np.testing.assert_allclose(score.per_caption, values, atol=1e-6)
    default = captious.score(corpus, "SentenceSim-lite")["SentenceSim-lite"]
    np.testing.assert_allclose(default.per_caption, expected["centroid"], atol=1e-6)
    assert default.per_caption[0] > default.per_caption[1] + 0.3


def test_the_signature_names_the_vectors(corpus: Corpus) -> None:
    score = captious.score(corpus, "SentenceSim-lite")["SentenceSim-lite"]
    assert score.signature.fields["captions"] == f"{load().label}@{load().digest}"
