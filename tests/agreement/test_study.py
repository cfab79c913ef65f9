"""Protocols: the rows of judgements, their references, and their results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from captious.agreement import (
    CaptionPairs,
    Protocol,
    RatedCaptions,
    RatedSystems,
    Study,
    agreement,
    compare_metrics,
    load_judgements,
    measure,
)
from captious.agreement.study import draw_references
from captious.core.errors import InputError
from captious.metrics import registry


def test_rows_are_judgements_and_own_references_are_left_out(small: Path) -> None:
    expert = Study.of(load_judgements("flickr8k-expert", small), "ROUGE-L").whole
    assert expert.human.tolist() == [4, 4, 3, 1, 1, 2, 4, 3, 4, 2, 2, 1] and expert.left_out == 1
    assert expert.caption.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 4, 4, 4] and expert.units == 3
    crowd = Study.of(load_judgements("flickr8k-cf", small), "ROUGE-L").whole
    assert crowd.human.tolist() == [1.0, 0.0, 0.67, 0.33]
    (result,) = measure(expert)
    assert result.value == pytest.approx(
        stats.kendalltau(expert.scores["ROUGE-L"], expert.human, variant="c").statistic
    )
    assert result.rows == 12 and result.units == 3 and result.coefficient == "tau-c"
    assert (
        result.signature.startswith("ROUGE-L|")
        and "|own:drop|" in result.signature
        and "judged:Flickr8k-Expert(5)@" in result.signature
    )


def test_an_own_reference_is_taken_out_of_the_references(small: Path) -> None:
    judged = load_judgements("flickr8k-cf-all", small)
    removed = Study.of(judged, "ROUGE-L").whole.scores["ROUGE-L"]
    result = Study.of(judged, "ROUGE-L", protocol={"own": "keep"}).whole.scores["ROUGE-L"]
    assert (
        result[3] == pytest.approx(1.0)
        and removed[3] < 0.5
        and np.array_equal(np.delete(result, 3), np.delete(removed, 3))
    )
    # If the set does not mark them, own references are found by their text, regardless of case and punctuation.
    assert isinstance(judged, RatedCaptions)
    bare = replace(
        judged, own=None, captions=[*judged.captions[:3], "Two women drink coffee .", *judged.captions[4:]]
    )
    assert Study.of(bare, "ROUGE-L").whole.scores["ROUGE-L"][3] == pytest.approx(removed[3])


def test_judges_each_mean_and_mode(small: Path) -> None:
    judged = load_judgements("flickr8k-expert", small)
    mean = Study.of(judged, "BLEU-1", protocol={"judges": "mean"}).whole
    mode = Study.of(judged, "BLEU-1", protocol={"judges": "mode"}).whole
    assert mean.human.tolist() == pytest.approx([11 / 3, 4 / 3, 11 / 3, 5 / 3])
    assert mode.human.tolist() == [4, 1, 4, 2]
    assert isinstance(judged, RatedCaptions)
    torn = replace(judged, ratings=[[1, 2, 3]] * len(judged))
    assert set(Study.of(torn, "BLEU-1", protocol={"judges": "mode"}).whole.human) == {1.0}


def test_lower_is_better_turns_the_sign(small: Path) -> None:
    metric = registry.create("ROUGE-L")
    judged = load_judgements("flickr8k-cf", small)
    usual = agreement(judged, [metric])[0].value
    metric.higher_is_better = False  # type: ignore[misc]
    assert agreement(judged, [metric])[0].value == pytest.approx(-usual)


def test_one_score_for_all_is_no_agreement(small: Path) -> None:
    judged = load_judgements("flickr8k-cf", small)
    (result,) = agreement(judged, "HWCM-4", ci=True, resamples=20)
    assert result.value == 0.0 and result.interval == (0.0, 0.0) and result.undefined == 0


def test_undefined_scores_are_left_out_and_counted(small: Path) -> None:
    table = Study.of(load_judgements("flickr8k-cf", small), "ROUGE-L").whole
    holes = table.with_scores({"ROUGE-L": np.array([0.1, np.nan, 0.3, 0.2])})
    (result,) = measure(holes)
    assert result.rows == 3 and result.undefined == 1 and result.value == pytest.approx(-1 / 3)


def test_within_images_and_over_systems(many: Path) -> None:
    judged = load_judgements(many)
    study = Study.of(judged, "BLEU-1,ROUGE-L")
    (within, _) = measure(study.whole.under(level="image", coefficient="tau-b"), ci=True, resamples=100)
    rows = study.whole
    by_hand = []
    for image in range(rows.units):
        mine = rows.unit == image
        if np.ptp(rows.human[mine]) > 0:
            result = stats.kendalltau(rows.scores["BLEU-1"][mine], rows.human[mine]).statistic
            by_hand.append(0.0 if np.isnan(result) else result)
    assert within.value == pytest.approx(np.mean(by_hand)) and within.level == "image"
    assert within.interval is not None and within.interval[0] < within.value < within.interval[1]
    over = agreement(judged, "BLEU-1", protocol={"level": "system", "coefficient": "pearson"}, ci=True)[0]
    assert (
        over.rows == 3 and over.value > 0.9 and over.interval == (-1.0, 1.0) and "fisher-z" in over.signature
    )


def test_drawn_references_are_the_same_for_an_image_and_nested() -> None:
    images, references = ["x", "y", "x"], [list("abcdef")] * 3
    orders = draw_references(images, references, 3, seed=1, draw=0)
    assert orders[0] == orders[2] and sorted(orders[0]) == list(range(6))
    assert (
        draw_references(images, references, 2, 1, 0) == orders
        and draw_references(images, references, 3, 1, 1) != orders
    )
    assert draw_references(images, references, None, 1, 0)[0] == [0, 1, 2, 3, 4, 5]


def pairs(**changes: object) -> CaptionPairs:
    result = CaptionPairs(
        name="pairs",
        images=["i", "i", "j", "k"],
        first=["a dog runs", "a cat", "two men sit on a bench", "a red bus"],
        second=["a cat sleeps", "a dog runs on grass", "a train", "a red bus"],
        references=[["a dog runs on grass", "the dog runs"]] * 2
        + [["men sit on a bench", "two people"]]
        + [["a red bus", "a bus in a street"]],
        votes=[[1, 1, -1], [-1, -1, -1], [1, 1, 1], [1, -1, 1]],
        categories=["HC", "HI", "HI", "HM"],
        protocol=Protocol("accuracy", own="remove"),
    )
    return replace(result, **changes)  # type: ignore[arg-type]


def test_pairs_ties_half_and_both_candidates_removed() -> None:
    study = Study.of(pairs(), "ROUGE-L")
    agreements = {(item.part, item.coefficient): item for item in agreement(study)}
    # Three right, and one tie between equal captions.
    assert (
        agreements["", "accuracy"].value == pytest.approx(3.5 / 4) and agreements["HI", "accuracy"].rows == 2
    )
    whole = study.whole
    assert whole.human.tolist() == pytest.approx([1 / 3, -1, 1, 1 / 3]) and whole.units == 3
    assert agreements["", "pearson"].value == pytest.approx(
        stats.pearsonr(whole.scores["ROUGE-L"], whole.human).statistic
    )
    # "a dog runs on grass" is a candidate of the second pair, and is left out of the references there only.
    result = Study.of(pairs(protocol=Protocol("accuracy", own="keep")), "ROUGE-L").whole.scores["ROUGE-L"]
    assert result[1] < whole.scores["ROUGE-L"][1] < 0 and result[0] == whole.scores["ROUGE-L"][0]
    drawn = Study.of(pairs(), "ROUGE-L", protocol={"references": 1, "draws": 3}).whole
    assert len(drawn) == 12 and drawn.units == 3 and "refs:1 drawn 3x" in measure(drawn)[0].signature


def test_votes_on_triplets_are_used_when_asked_for() -> None:
    result = pairs(triplet_votes=[[-1], [1], [-1], [-1]])
    assert agreement(result, "ROUGE-L", protocol={"votes": "triplets"})[0].value == pytest.approx(0.5 / 4)
    with pytest.raises(InputError, match="no votes on triplets"):
        agreement(pairs(), "ROUGE-L", protocol={"votes": "triplets"})
    with pytest.raises(InputError, match="accuracy, pearson or spearman, not tau-b"):
        agreement(pairs(), "ROUGE-L", protocol={"coefficient": "tau-b"})
    with pytest.raises(InputError, match="no agreement on them by system"):
        agreement(pairs(), "ROUGE-L", protocol={"level": "system"})


def test_a_better_metric_is_called_better_and_a_tie_is_not(many: Path) -> None:
    table = Study.of(load_judgements(many), "BLEU-1").whole
    noise = np.random.default_rng(0).normal(0, 1e-3, len(table))
    scored = table.with_scores(
        {
            "good": table.human + noise,
            "same": table.human - noise,
            "bad": np.random.default_rng(1).normal(size=len(table)),
        }
    )
    by_key = {(c.a, c.b): c for c in compare_metrics(scored, resamples=200)}
    assert by_key["good", "bad"].better == "good" and by_key["same", "bad"].better == "same"
    assert (
        by_key["good", "same"].better is None
        and by_key["good", "same"].p_holm >= by_key["good", "same"].p_bootstrap
    )
    linear = compare_metrics(scored.under(coefficient="pearson"), ["good", "bad"], resamples=200)[0]
    assert linear.p_williams is not None and linear.p_williams < 1e-6 and linear.better == "good"


def systems() -> RatedSystems:
    human = {"M1": np.array([0.1, 0.2, 0.3, 0.4, 0.5])}
    return RatedSystems(
        "contest",
        ["A", "B", "C", "D", "E"],
        human,
        {"X": np.array([1.0, 2, 3, 5, 4]), "Y": np.array([2.0, 1, np.nan, 1, 2])},
        Protocol("pearson"),
    )


def test_whole_systems() -> None:
    agreements = {item.metric: item for item in agreement(systems(), "BLEU-1", ci=True)}
    assert (
        agreements["X"].value == pytest.approx(0.9)
        and agreements["X"].rows == 5
        and agreements["Y"].rows == 4
        and agreements["Y"].undefined == 1
    )
    assert agreements["X"].interval == pytest.approx(
        (np.tanh(np.arctanh(0.9) - 1.96 / 2**0.5), np.tanh(np.arctanh(0.9) + 1.96 / 2**0.5)), abs=1e-4
    )


def test_whole_systems_scored_by_our_metrics() -> None:
    references = {"1": ["a dog runs"], "2": ["a red bus"], "3": ["two men"]}
    by_key = {
        "a": ["a cow", "a car", "a tree"],
        "B": ["a dog", "a bus", "men"],
        "c": ["a dog runs", "a red bus", "two men"],
        "z": ["x", "y", "z"],
    }
    predictions = {name: dict(zip("123", texts)) for name, texts in by_key.items()}
    study = Study.of_systems(systems(), references, predictions, "BLEU-1,ROUGE-L")
    assert (
        study.whole.scores["ROUGE-L"].tolist() == sorted(study.whole.scores["ROUGE-L"])
        and len(study.whole) == 3
    )
    assert measure(study.whole.under(coefficient="spearman"))[0].value == pytest.approx(1.0)
    with pytest.raises(InputError, match="predictions match 1 of the judged systems"):
        Study.of_systems(systems(), references, {"A": predictions["a"]}, "BLEU-1")


def test_unknown_parts_of_a_protocol_are_named(small: Path) -> None:
    judged = load_judgements("flickr8k-cf", small)
    for part, value, message in (
        ("coefficient", "tau", "unknown coefficient 'tau'; did you mean"),
        ("judges", "median", "unknown way to combine judges 'median'"),
        ("own", "delete", "unknown way to treat own references"),
        ("level", "corpus", "unknown level"),
        ("references", 0, "at least one reference"),
        ("draws", 0, "at least once"),
        ("coefficient", "accuracy", "has ratings, not pairs"),
        ("level", "system", "no system names"),
    ):
        with pytest.raises(InputError, match=message):
            Study.of(judged, "BLEU-1", protocol={part: value})
    with pytest.raises(InputError, match="'METEOR' was not measured"):
        Study.of(judged, "BLEU-1").choose("METEOR")
