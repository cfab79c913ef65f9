"""Average precision, area under the curve, and wrong words named by a metric."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.agreement import Protocol, RatedCaptions, Study, agreement
from captious.agreement.coefficients import COEFFICIENTS
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics.base import Measure, NamesWrongWords, Rows, as_statistics


def average_precision(scores: np.ndarray, wrong: np.ndarray) -> float:
    """Sum of precision × gain of recall over thresholds, from the lowest score up."""
    total, recall_before = 0.0, 0.0
    for threshold in np.unique(scores):
        flagged = scores <= threshold
        recall = wrong[flagged].sum() / wrong.sum()
        total += wrong[flagged].mean() * (recall - recall_before)
        recall_before = recall
    return total


@pytest.mark.parametrize("levels", [2, 7, 1000])
def test_by_definition(levels: int) -> None:
    generator = np.random.default_rng(levels)
    scores = generator.integers(0, levels, 200).astype(float)
    ratings = (generator.random(200) < 0.6).astype(float)
    right, wrong = scores[ratings == 1], scores[ratings == 0]
    expected = np.mean((right[:, None] > wrong) + 0.5 * (right[:, None] == wrong))
    assert COEFFICIENTS["auc"](scores, ratings) == pytest.approx(expected)
    assert COEFFICIENTS["ap"](scores, ratings) == pytest.approx(average_precision(scores, ratings == 0))


def test_a_resample_equals_repeated_rows() -> None:
    generator = np.random.default_rng(3)
    scores, ratings = generator.integers(0, 9, 60).astype(float), generator.integers(0, 2, 60).astype(float)
    unit = np.arange(60) // 2
    counts = generator.integers(0, 3, (5, 30)).astype(np.int32)
    for name in ("ap", "auc", "word named"):
        resampled = COEFFICIENTS[name].resampled(scores, ratings, unit, counts)
        for row, value in zip(counts, resampled):
            repeated = np.repeat(np.arange(60), row[unit])
            assert value == pytest.approx(COEFFICIENTS[name](scores[repeated], ratings[repeated]))


def test_a_constant_metric_finds_as_many_as_chance() -> None:
    ratings = np.array([1.0, 0.0, 0.0, 1.0])
    assert COEFFICIENTS["ap"](np.zeros(4), ratings) == 0.5 == COEFFICIENTS["auc"](np.zeros(4), ratings)
    assert np.isnan(COEFFICIENTS["auc"](np.arange(4.0), np.ones(4)))
    with pytest.raises(InputError, match="need two ratings"):
        COEFFICIENTS["ap"](np.arange(3.0), np.arange(3.0))


class LastWord(Measure):
    """Metric that scores by length and names the last word of every caption as wrong."""

    name = "LastWord"
    bounds = (None, None)

    def statistics(self, corpus: Corpus, state: Any) -> Rows:
        return as_statistics(-np.array([float(len(text)) for text in corpus.candidates.texts]))

    def wrong_words(self, corpus: Corpus, state: Any) -> list[str]:
        return [text.split()[-1] for text in corpus.candidates.texts]


def judged_words() -> RatedCaptions:
    return RatedCaptions(
        name="words",
        images=["1", "1", "2", "3"],
        captions=["a dog", "a dog with a big Hat.", "a cat in the kitchen sink", "two sad men"],
        references=[["a dog"], ["a dog"], ["a cat in a box"], ["two men"]],
        ratings=[[1.0], [0.0], [0.0], [0.0]],
        protocol=Protocol("ap", own="keep"),
        categories=["near", "near", "far", "far"],
        wrong_words=[[], ["hat"], ["kitchen", "sink"], ["sad"]],
    )


def test_the_word_to_blame() -> None:
    assert isinstance(LastWord(), NamesWrongWords)
    study = Study.of(judged_words(), [LastWord(), "ROUGE-L"])
    tables = [(table.part, table.protocol.coefficient, list(table.scores)) for table in study.tables]
    both = ["LastWord", "ROUGE-L"]
    assert tables == [
        ("", "ap", both),
        ("far", "ap", both),
        ("near", "ap", both),
        ("", "word named", ["LastWord"]),
        ("far", "word named", ["LastWord"]),
        ("near", "word named", ["LastWord"]),
    ]
    named = study.tables[3]
    assert named.caption.tolist() == [1, 2, 3] and named.scores["LastWord"].tolist() == [1, 1, 0]
    results = {(item.metric, item.part, item.coefficient): item for item in agreement(study, ci=True)}
    assert results["LastWord", "", "word named"].value == pytest.approx(2 / 3)
    near = results["LastWord", "near", "word named"]
    assert near.value == 1.0 and near.interval is not None and near.interval[0] < 0.5
    assert "coef:word named" in near.signature and near.rows == 1


def test_a_metric_without_words_has_no_such_table() -> None:
    assert len(Study.of(judged_words(), "ROUGE-L").tables) == 3
    with pytest.raises(InputError, match="choose tau-b"):
        Study.of(judged_words(), "ROUGE-L", protocol={"coefficient": "word named"})


@pytest.mark.shared
def test_published_sizes(shared_data: Path) -> None:
    from captious.agreement import load_judgements

    sizes = {"hat": 190, "nocaps-foil": 1414, "nocaps-foil-pairs": 707, "imageinwords": 240, "faithscore": 94}
    for name, size in sizes.items():
        assert len(load_judgements(name, shared_data)) == size
    (whole, *parts) = agreement(load_judgements("nocaps-foil", shared_data), "CIDEr-D")
    assert whole.value == pytest.approx(0.65873, abs=1e-5) and len(parts) == 3
