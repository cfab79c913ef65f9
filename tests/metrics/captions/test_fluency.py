"""The fluency detector, SPIDEr-FL and FENSE."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.metrics.captions.fluency_penalty import PENALTY
from captious.text import fluency
from captious.training.fluency_examples import CORRUPTIONS, corrupt, tag_captions
from captious.training.fluency_recipe import area_under_curve
from tests.conftest import read_jsonl

GOOD = ["a man speaks while water runs", "birds chirp in the distance and a dog barks", "a baby cries loudly"]
BAD = ["a man speaks while water runs and a", "a bell rings and a bell rings", "a dog barks a dog barks"]


def test_errors_are_found_and_clean_captions_are_not() -> None:
    model = fluency.load()
    good, bad = model.error_probability(GOOD), model.error_probability(BAD)
    assert (good < 0.5).all() and (bad > fluency.THRESHOLD).all()
    assert model.error_probability(["", " , "]).tolist() == [1.0, 1.0]
    assert fluency.FILE.stat().st_size < 1_000_000


def test_descriptions_are_judged_by_their_worst_sentence() -> None:
    model = fluency.load()
    clean = "A man stands in a kitchen. He wears a red shirt. A dog sits beside the table."
    cut = "A man stands in a kitchen. He wears a red shirt and a."
    assert fluency.sentences_of(cut) == ["A man stands in a kitchen.", "He wears a red shirt and a."]
    good, bad = model.error_probability([clean, cut])
    assert good < 0.5 and bad > fluency.THRESHOLD
    worst = max(model.error_probability(fluency.sentences_of(cut)))
    assert bad == pytest.approx(1 - 4 * (1 - worst)) and bad < worst


@pytest.mark.parametrize(
    "caption",
    ["a man speaks and a", "Mr. Smith walks a dog.", " a dog runs. ", "A dog!\n", "A 5.5 in. bell..."],
)
def test_captions_of_one_sentence_are_not_split(caption: str) -> None:
    assert fluency.sentences_of(caption) == [caption]


def test_hostile_captions_take_little_time_and_give_a_number() -> None:
    texts = ["a " * 100_000, "\ud800", "ﷺ" * 5000, "'" * 5000, "a'" * 5000, "\x00"]
    texts += [
        "a. " * 100_000,
        "x" + "\n" * 100_000,
        "x" + " \n" * 50_000 + "y",
        "." + ")" * 100_000,
        "- a\n" * 50_000,
    ]
    values = fluency.load().error_probability(texts)
    assert ((values >= 0) & (values <= 1)).all()


def test_every_corruption_changes_a_caption_and_keeps_most_words() -> None:
    captions = tag_captions(
        ["A man is speaking loudly and a dog barks, then water splashes", "Birds chirp while a car passes by"]
    )
    random = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        for caption in captions:
            result = corrupt(caption, random)
            if result is not None:
                seen.add(result[0])
                assert result[1] != caption.words and set(caption.words) & set(result[1])
    assert seen == set(CORRUPTIONS)


def test_penalised_scores_are_a_tenth_where_the_detector_fires() -> None:
    references = {
        k: [["a man speaks as water runs"], ["a bell rings"], ["a dog barks twice"]][k] for k in range(3)
    }
    predictions = {0: GOOD[0], 1: BAD[1], 2: BAD[2]}
    scores = captious.score(references, predictions, ["SPIDEr", "SPIDEr-FL", "FENSE-lite", "FluencyError"])
    factors = np.array([1.0, PENALTY, PENALTY])
    np.testing.assert_allclose(scores["SPIDEr-FL"].per_caption, scores["SPIDEr"].per_caption * factors)
    plain = captious.score(references, predictions, "SentenceSim-lite", combine="mean")["SentenceSim-lite"]
    np.testing.assert_allclose(scores["FENSE-lite"].per_caption, plain.per_caption * factors)
    assert scores["FluencyError"].value == pytest.approx(2 / 3)
    assert "detector" in scores["SPIDEr-FL"].signature.fields


def test_area_under_the_curve_counts_pairs() -> None:
    assert area_under_curve([0.1, 0.4, 0.4, 0.9], [False, False, True, True]) == pytest.approx(3.5 / 4)


@pytest.mark.shared
def test_agreement_with_human_labels(shared_data) -> None:  # type: ignore[no-untyped-def]
    rows = list(read_jsonl(shared_data / "audio" / "fluency.jsonl.gz"))
    values = fluency.load().error_probability([row["caption"] for row in rows])
    assert area_under_curve(values, [row["fluency_issue"] == 1 for row in rows]) > 0.9
