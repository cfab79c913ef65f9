"""Captions without words: every measure of the registry has a defined result."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.core.errors import MissingExtraError
from captious.corpus import Corpus
from captious.metrics import registry
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from captious.metrics.registry import make_measures
from captious.vectors import keyed_vectors as keyed

REFERENCES = {
    "1": ["two dogs run across a green field", "a pair of dogs running on grass"],
    "2": ["a man rides a wave on a surfboard", "a surfer riding a wave"],
    "3": ["a big plate of pasta with two forks", "some spaghetti on a white plate"],
}
SAMPLES = {
    "1": ["two dogs run", "dogs on the grass"],
    "2": ["a man is surfing", "a big wave"],
    "3": ["a big plate of food", "pasta on a plate with two forks"],
}

NOTHING = {image: ["" for _ in its] for image, its in SAMPLES.items()}
ONE_EMPTY = {**SAMPLES, "2": ["", "a big wave"]}
ONE_SET_EMPTY = {**SAMPLES, "2": ["", ""]}
NO_REFERENCES = {image: ["" for _ in its] for image, its in REFERENCES.items()}
ONE_REFERENCE_EMPTY = {**REFERENCES, "1": ["", "a pair of dogs running on grass"]}

CASES = {
    "no predicted words": (REFERENCES, NOTHING),
    "one empty prediction": (REFERENCES, ONE_EMPTY),
    "an image without predicted words": (REFERENCES, ONE_SET_EMPTY),
    "no words in the references": (NO_REFERENCES, SAMPLES),
    "one empty reference": (ONE_REFERENCE_EMPTY, SAMPLES),
    "no words at all": (NO_REFERENCES, NOTHING),
}

#: A few empty captions among others do not make a value undefined.
FINITE = {"one empty prediction", "an image without predicted words", "one empty reference"}
#: Undefined below 1,000 words.
LONG = {"TTR1", "TTR2"}


@cache
def corpus_of(case: str) -> Corpus:
    """One corpus for all measures, which share its derived data."""
    references, predictions = CASES[case]
    ids = list(REFERENCES)
    return Corpus.build(ids, [predictions[i] for i in ids], [references[i] for i in ids], tokenizer="none")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", registry.names())
def test_captions_without_words_have_defined_results(name: str, case: str, tmp_path: Path) -> None:
    """A number within the measure's bounds, or NaN where undefined; never an error or a NumPy warning."""
    norms = tmp_path / "norms.csv"
    norms.write_text("dog,5\nplate,4.5\n")
    options: dict[str, Any] = {
        "Novel": {"train": SAMPLES},
        "%Novel": {"train": SAMPLES},
        "Concr": {"norms": norms},
    }
    options["Learned"] = {"weights": str(WEIGHTS_FOLDER / "captious_score_lite.safetensors")}
    texts = dict.fromkeys(
        text for groups in (REFERENCES, SAMPLES) for own in groups.values() for text in own if text
    )
    dual = {
        "image_vectors": keyed.from_arrays(np.eye(3, 4), REFERENCES),
        "text_vectors": keyed.from_arrays(np.eye(4)[[len(t) % 4 for t in texts]], texts),
    }
    amber = {"amber": {image: {"truth": ["dog"], "hallu": ["cat"]} for image in REFERENCES}}
    options |= {"CLIP-S": dual, "RefCLIP-S": dual}
    options |= dict.fromkeys(("AMBER-CHAIR", "Cover", "Hal", "Cog"), amber)
    try:
        (measure,) = make_measures(name, options.get(name, {}))
    except MissingExtraError as error:
        pytest.skip(str(error))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        score = captious.score(corpus_of(case), [measure])[measure.name]
        value = score.value
        per_image = np.array(list(score.per_image.values()), dtype=float)
        low, high = score.interval(resamples=20)
        described = score.to_json(per_image=True, ci=False)
    assert described["value"] is None or np.isfinite(described["value"])
    least, most = measure.bounds
    for found in [value, *per_image.tolist()]:
        assert np.isnan(found) or (
            (least is None or found >= least - 1e-9) and (most is None or found <= most + 1e-9)
        )
        assert not np.isinf(found)
    assert np.isnan(low) or low <= high
    if case in FINITE:
        assert np.isfinite(value) or name in LONG
