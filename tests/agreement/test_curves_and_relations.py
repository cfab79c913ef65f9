from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from captious.agreement import Study, load_judgements
from captious.agreement.agreement_curves import by_length, by_level, by_references
from captious.agreement.metric_relations import complementary_pairs, correlate_metrics, over_captions
from captious.core.errors import InputError


def test_more_references_up_to_all(many: Path) -> None:
    judged = load_judgements(many)
    result = by_references(judged, "ROUGE-L", (1, 2, 9), draws=2, resamples=50)
    assert [point.label for point in result.points] == ["1", "2", "4"]
    rows = [point.agreements[0].rows for point in result.points]
    # There is only one way to draw all references.
    assert rows == [720, 720, 360]
    whole = Study.of(judged, "ROUGE-L").whole
    assert result.points[-1].agreements[0].value == pytest.approx(whole.estimate("ROUGE-L"))
    assert result.points[0].agreements[0].value != pytest.approx(result.points[-1].agreements[0].value)


def test_lengths_and_levels_cover_all_rows(many: Path) -> None:
    table = Study.of(load_judgements(many), "ROUGE-L").whole
    lengths = by_length(table, bins=2, resamples=50)
    assert sum(point.agreements[0].rows for point in lengths.points) == len(table)
    levels = by_level(table, resamples=50)
    assert [point.label for point in levels.points] == ["1 or 2", "2 or 3", "3 or 4", "4 or 5"]
    two = np.isin(table.human, [2, 3])
    expected = stats.kendalltau(table.scores["ROUGE-L"][two], table.human[two], variant="c").statistic
    assert levels.points[1].agreements[0].value == pytest.approx(expected)
    many_levels = by_level(
        table.with_scores(table.scores).where(np.ones(len(table), bool)), bins=2, resamples=20
    )
    assert many_levels.points


def test_like_metrics_stand_side_by_side() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=200), generator.normal(size=200)
    scores = {
        "a": a,
        "b": b,
        "a too": a + 0.1 * generator.normal(size=200),
        "b too": -b + 0.1 * generator.normal(size=200),
    }
    result = correlate_metrics(scores, "captions")
    places = [result.metrics.index(name) for name in scores]
    assert abs(places[0] - places[2]) == 1 and abs(places[1] - places[3]) == 1
    i, j = result.metrics.index("a"), result.metrics.index("b too")
    assert result.matrix[i, j] == pytest.approx(stats.spearmanr(a, scores["b too"]).statistic)
    assert np.allclose(result.matrix, result.matrix.T) and np.allclose(np.diag(result.matrix), 1)
    with pytest.raises(InputError, match="at least two"):
        correlate_metrics({"a": a}, "captions")


def test_captions_count_once_however_many_judges(many: Path) -> None:
    table = Study.of(load_judgements(many), "ROUGE-L,BLEU-1").whole
    assert over_captions(table).rows == 180 and len(table) == 360


def test_complementary_metrics_are_found_and_others_are_not(many: Path) -> None:
    table = Study.of(load_judgements(many), "BLEU-1").whole
    generator = np.random.default_rng(2)
    # People's rating is the sum of two things, each of which one metric sees.
    one, two, blind = (generator.normal(size=len(table)) for _ in range(3))
    result = table.with_scores({"one": one, "two": two, "blind": blind})
    result = replace(result, human=one + two + generator.normal(0, 0.3, len(table)))
    best, *others = complementary_pairs(result, resamples=200)
    assert (
        {best.a, best.b} == {"one", "two"}
        and best.complementary
        and best.combined > max(best.value_a, best.value_b) + 0.1
    )
    assert best.share_a == pytest.approx(0.5, abs=0.1)
    assert not any(pair.complementary for pair in others)
    with pytest.raises(InputError, match="too few for 50 folds"):
        complementary_pairs(result, folds=50)
