"""ParaSPICE and ParaScore: descriptions by their sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import captious
from captious.results.caption_explanations import explain

REFERENCES = {
    "1": ["A brown dog lies on a couch.", "a dog sleeps on a red couch", "a dog next to a lamp"],
    "2": ["A man rides a horse on the beach.", "a man on a white horse", "a rider at the sea"],
}
TRUE = {"1": "A dog lies on a couch.", "2": "A man rides a horse."}
LONGER = {
    "1": "A dog lies on a couch. It is brown. There is a lamp next to the dog.",
    "2": "A man rides a horse. The horse is white and on the beach.",
}
WRONG = {
    "1": "A dog lies on a couch. Two pizzas are on the grass in a park.",
    "2": "A man rides a horse. A red airplane is in the sky.",
}
NAMES = ["ParaSPICE", "ParaSPICE-P", "ParaSPICE-R", "ParaScore-lite", "ParaScore-lite-P", "ParaScore-lite-R"]


def values(predictions: dict[str, str], *names: str) -> dict[str, np.ndarray]:
    scores = captious.score(REFERENCES, predictions, list(names or NAMES))
    return {name: scores[name].per_caption for name in names or NAMES}


def test_sentences_are_one_scene() -> None:
    """The dog of the second sentence is brown, and it is the dog of the third."""
    references = {"1": ["A brown dog lies on a couch. A lamp is near the dog."]}
    split = {"1": "A dog lies on a couch. It is brown. A lamp is near the dog."}
    whole = {"1": references["1"][0]}
    names = ["ParaSPICE", "ParaSPICE-P", "ParaSPICE-R", "ParaSPICE-Attribute", "ParaSPICE-Color"]
    for predictions in (split, whole):
        scores = captious.score(references, predictions, names)
        assert [scores[name].value for name in names] == [1.0] * len(names)
    assert captious.score(references, split, "SPICE")["SPICE"].value < 1


def test_precision_and_recall_of_tuples() -> None:
    # Three tuples of the description, of which the references have two; the references have five.
    references = {"1": ["A brown dog and a cat.", "A dog on a sofa."]}
    scores = captious.score(references, {"1": "A dog. A cat. A piano."}, NAMES[:3])
    assert scores["ParaSPICE-P"].value == pytest.approx(2 / 3)
    assert scores["ParaSPICE-R"].value == pytest.approx(2 / 5)
    assert scores["ParaSPICE"].value == pytest.approx(0.5)


def test_a_true_longer_description_is_better_and_a_wrong_one_worse() -> None:
    short, longer, wrong = values(TRUE), values(LONGER), values(WRONG)
    for name in ("ParaSPICE", "ParaSPICE-R", "ParaScore-lite-R"):
        assert np.all(longer[name] > short[name]), name
    for name in ("ParaSPICE", "ParaSPICE-P", "ParaScore-lite", "ParaScore-lite-P"):
        assert np.all(wrong[name] < short[name]), name
    assert np.all(wrong["ParaSPICE-R"] == short["ParaSPICE-R"])


def test_one_sentence_has_the_precision_of_captious_score() -> None:
    scores = values(TRUE, "ParaScore-lite-P", "CaptiousScore-lite")
    np.testing.assert_allclose(scores["ParaScore-lite-P"], scores["CaptiousScore-lite"], rtol=1e-6)


def test_recall_is_of_the_nearest_sentence() -> None:
    references = {"1": ["A dog lies on a couch.", "Two boats are on a lake."]}
    both = {"1": "Two boats are on a lake. A dog lies on a couch."}
    alone = [
        captious.score({"1": [text]}, {"1": text}, "CaptiousScore-lite")["CaptiousScore-lite"].value
        for text in references["1"]
    ]
    recall = captious.score(references, both, "ParaScore-lite-R")["ParaScore-lite-R"].value
    assert recall == pytest.approx(np.mean(alone), rel=1e-6)
    precision, f = (
        captious.score(references, both, name)[name].value for name in ("ParaScore-lite-P", "ParaScore-lite")
    )
    assert f == pytest.approx(2 * precision * recall / (precision + recall))


def test_long_references_count_by_sentences() -> None:
    """References of two sentences are the same as two references of one sentence each."""
    joined = {"1": ["A brown dog lies on a couch. A lamp is next to the dog."]}
    apart = {"1": ["A brown dog lies on a couch.", "A lamp is next to the dog."]}
    caption = {"1": "A dog on a couch. There is a lamp."}
    for name in NAMES:
        one, two = (captious.score(side, caption, name)[name].value for side in (joined, apart))
        assert one == pytest.approx(two, rel=1e-6), name


def test_empty_descriptions_get_zero() -> None:
    for name, scores in values({"1": "", "2": TRUE["2"]}).items():
        assert scores[0] == 0 < scores[1], name


def test_prepared_references_give_the_same_values(tmp_path: Path) -> None:
    path = tmp_path / "references.prepared"
    captious.prepare(REFERENCES, NAMES).save(path)
    prepared = captious.score(path, LONGER, NAMES)
    for name, scores in values(LONGER).items():
        assert prepared[name].per_caption.tolist() == scores.tolist(), name


def test_para_spice_is_explained_by_its_tuples() -> None:
    [one] = explain(REFERENCES, WRONG, "ParaSPICE", images=["1"])
    statuses = {part["tuple"]: part["status"] for part in one.parts}
    assert statuses["dog"] == "matched"
    assert statuses["pizza"] != "matched"
