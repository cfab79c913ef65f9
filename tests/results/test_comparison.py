"""Any number of systems compared: the tests of two, draws that all share, Holm's correction, refusals."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.data import demo_path
from captious.io import CaptionWarning
from captious.metrics.base import FloatArray, Measure, Sequences
from captious.metrics.captions.bleu import BLEU
from captious.results import significance
from captious.results.comparison import compare_scores
from captious.results.comparison_result import Comparison
from captious.results.scores import Score, Scores
from tests.results.paired import paired_bootstrap

NAMES = ["good", "generic", "poor"]
METRICS = ["BLEU-4", "ROUGE-L", "CIDEr-D", "CHAIRs"]
QUICK: dict[str, Any] = {"trials": 2000, "resamples": 200}


@pytest.fixture(scope="module")
def corpora() -> list[Corpus]:
    return captious.load_systems(demo_path("references"), [demo_path(name) for name in NAMES], names=NAMES)


@pytest.fixture(scope="module")
def scores(corpora: list[Corpus]) -> list[Scores]:
    return [captious.score(corpus, METRICS) for corpus in corpora]


class Value(Measure):
    """Measure whose value of each image is set by the test."""

    needs = frozenset()

    def __init__(self, name: str = "Value", higher: bool = True) -> None:
        self.name, self.higher_is_better = name, higher

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        raise NotImplementedError


def made(system: str, values: Any, *, name: str = "Value", higher: bool = True, ids: Any = None) -> Scores:
    rows = np.stack([np.asarray(values, dtype=np.float64), np.ones(len(values))], axis=1)
    names = tuple(map(str, range(len(rows)))) if ids is None else tuple(ids)
    return Scores(system, [Score.of_images(Value(name, higher), rows, names, f"{name}|x:1")])


def noise(seed: int, shift: float = 0.0, n: int = 80) -> FloatArray:
    return np.random.default_rng(seed).normal(shift, 1.0, n)


def test_every_pair_gets_the_tests_of_two(scores: list[Scores]) -> None:
    """Sharing draws and columns among systems changes no p-value, and no interval beyond rounding."""
    comparisons = captious.compare(*scores)
    assert [(row.system_a, row.system_b) for row in comparisons[:3]] == [
        ("good", "generic"),
        ("good", "poor"),
        ("generic", "poor"),
    ]
    assert comparisons.metrics == METRICS
    for row in comparisons:
        a, b = (scores[NAMES.index(name)][row.metric] for name in (row.system_a, row.system_b))
        rows = a.image_statistics, b.image_statistics, a.measure.value
        low, high, p_bootstrap = paired_bootstrap(*rows)
        assert row.p_bootstrap == p_bootstrap
        assert row.p_randomisation == significance.randomisation(*rows)
        assert row.interval == pytest.approx((low, high), rel=0, abs=1e-12)
        assert (row.a, row.b, row.difference) == (a.value, b.value, b.value - a.value)


def test_close_systems_get_the_same_p_alone_and_among_others() -> None:
    systems = [made(f"s{k}", noise(k, 0.1 * k)) for k in range(5)]
    together = captious.compare(*systems, trials=1000)
    for row in together:
        a, b = (systems[int(name[1])] for name in (row.system_a, row.system_b))
        alone = captious.compare(a, b, trials=1000)[0]
        assert row.p_randomisation == alone.p_randomisation
        assert row.p_bootstrap == alone.p_bootstrap
        assert alone.p_corrected == alone.p_randomisation
    assert len({row.p_randomisation for row in together}) > 5


def test_holm_by_hand() -> None:
    assert significance.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert significance.holm([0.4, 0.5, 0.9]) == pytest.approx([1.0, 1.0, 1.0])
    assert significance.holm([]) == []
    assert significance.holm([0.02]) == [0.02]
    with_a_gap = significance.holm([0.01, float("nan"), 0.04])
    assert [with_a_gap[0], with_a_gap[2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(with_a_gap[1])


def test_correction_is_over_all_pairs_and_metrics() -> None:
    first = [made(f"s{k}", noise(k, 0.25 * k)) for k in range(3)]
    both = [
        Scores(s.system, [s["Value"], made(s.system, noise(10 + k), name="Other")["Other"]])
        for k, s in enumerate(first)
    ]
    comparisons = captious.compare(*both, trials=2000)
    assert comparisons.family == 6 == len(comparisons)
    assert [row.p_corrected for row in comparisons] == significance.holm(
        [row.p_randomisation for row in comparisons]
    )
    assert {row.family for row in comparisons} == {6}
    assert comparisons[0].signature.endswith(
        "|x:1|paired-bootstrap:1000|randomisation:2000|seed:12345|holm:6|alpha:0.05"
    )


def test_ahead_only_where_it_is_significant() -> None:
    a, near, far = (
        made("a", noise(1)),
        made("near", noise(1) + 0.1 * noise(2)),
        made("far", noise(1) + 1 + noise(3)),
    )
    comparisons = {(row.system_a, row.system_b): row for row in captious.compare(a, near, far, **QUICK)}
    row = comparisons["a", "near"]
    assert row.difference != 0
    assert row.better in "AB"
    assert row.p_corrected > 0.05
    assert row.ahead is None
    assert comparisons["a", "far"].ahead == comparisons["near", "far"].ahead == "far"
    between = made("between", noise(1) + 0.35 + noise(3))
    lax, strict = (captious.compare(a, between, alpha=alpha, trials=2000)[0] for alpha in (0.05, 0.01))
    assert lax.p_corrected == strict.p_corrected
    assert lax.ahead == "between"
    assert strict.better == "B"
    assert strict.ahead is None


def test_significant_alone_is_not_ahead_among_many() -> None:
    a, b = made("a", noise(1)), made("b", noise(1) + 0.35 + noise(3))
    alone = captious.compare(a, b, trials=2000)[0]
    assert alone.p_randomisation == alone.p_corrected < 0.05 and alone.ahead == "b"
    among = captious.compare(a, b, *(made(f"c{i}", noise(20 + i)) for i in range(6)), trials=2000)
    row = next(row for row in among if (row.system_a, row.system_b) == ("a", "b"))
    assert row.p_randomisation == alone.p_randomisation < 0.05 < row.p_corrected
    assert not row.significant and row.ahead is None


def test_p_is_never_smaller_than_the_trials_allow() -> None:
    row = captious.compare(made("a", noise(1)), made("far", noise(1) + 50), trials=1000)[0]
    assert row.p_randomisation == 1 / 1001


def test_alpha_is_the_level_of_intervals_too() -> None:
    wide, narrow = (
        captious.compare(made("a", noise(1)), made("b", noise(2)), alpha=alpha)[0].interval
        for alpha in (0.01, 0.5)
    )
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    for alpha in (0.0, 1.0, -1.0):
        with pytest.raises(captious.InputError, match="alpha"):
            captious.compare(made("a", noise(1)), made("b", noise(2)), alpha=alpha)


def test_less_may_be_better() -> None:
    low, high = made("low", noise(1), higher=False), made("high", noise(2, 2.0), higher=False)
    row = captious.compare(low, high, **QUICK)[0]
    assert row.difference > 0
    assert (row.better, row.ahead) == ("A", "low")


def test_undefined_values_do_not_count() -> None:
    nothing = [
        Scores(s, [Score.of_images(Value("Nil"), np.zeros((80, 2)), made("", noise(1))["Value"].ids, "Nil")])
        for s in "ab"
    ]
    both = [Scores(s, [made(s, noise(k, k))["Value"], nothing[k]["Nil"]]) for k, s in enumerate("ab")]
    value, nil = captious.compare(*both, **QUICK)
    assert value.family == nil.family == 1
    assert value.p_corrected == value.p_randomisation
    assert np.isnan(nil.p_corrected)
    assert nil.ahead is None
    assert json.loads(json.dumps(nil.to_json(), allow_nan=False))["p_corrected"] is None


def test_baseline(scores: list[Scores]) -> None:
    for baseline in ("poor", 2):
        comparisons = captious.compare(*scores, metrics="CIDEr-D", baseline=baseline, **QUICK)
        assert [(row.system_a, row.system_b) for row in comparisons] == [
            ("poor", "good"),
            ("poor", "generic"),
        ]
        assert comparisons.family == 2
    with pytest.raises(captious.InputError, match="'pooor' is not among the systems; did you mean 'poor'"):
        captious.compare(*scores, baseline="pooor")
    with pytest.raises(captious.InputError, match="the 3 systems are numbered from 0"):
        captious.compare(*scores, baseline=3)


def test_corpora_scores_and_files_are_the_same_systems(
    corpora: list[Corpus], scores: list[Scores], tmp_path: Path
) -> None:
    expected = captious.compare(*scores, **QUICK)
    for result in scores:
        result.save(tmp_path / f"{result.system}.scores")
    files = [tmp_path / f"{name}.scores" for name in NAMES]
    assert captious.compare(*files, **QUICK) == expected
    assert captious.compare(*map(str, files), **QUICK) == expected
    assert captious.compare(*corpora, metrics=METRICS, **QUICK) == expected
    assert captious.compare(corpora[0], scores[1], files[2], **QUICK) == expected
    assert captious.compare(*corpora, METRICS, **QUICK) == expected


def test_two_systems_as_ever(corpora: list[Corpus], scores: list[Scores]) -> None:
    row = captious.compare(corpora[2], corpora[0], ["ROUGE-L"], trials=500)[0]
    assert row.better == "B"
    assert (row.system_a, row.system_b) == ("poor", "good")
    by_score = compare_scores(scores[2]["ROUGE-L"], scores[0]["ROUGE-L"], trials=500)
    assert (by_score.a, by_score.b, by_score.p_randomisation) == (row.a, row.b, row.p_randomisation)
    assert isinstance(row, Comparison)


def test_metrics_can_be_chosen_among_saved_ones(scores: list[Scores]) -> None:
    assert captious.compare(*scores, metrics="rouge-l,CIDEr-D", **QUICK).metrics == ["ROUGE-L", "CIDEr-D"]
    with pytest.raises(captious.InputError, match="good has no METEOR; it has BLEU-4"):
        captious.compare(*scores, metrics="METEOR")
    with pytest.raises(captious.InputError, match="unknown metric"):
        captious.compare(*scores, metrics="METEROR")
    with pytest.raises(captious.InputError, match="made already"):
        captious.compare(*scores, df="x.df")


def test_metrics_that_not_all_have_are_left_out_and_said() -> None:
    a, b = made("a", noise(1)), made("b", noise(2))
    more = Scores("a", [a["Value"], made("a", noise(3), name="More")["More"]])
    with pytest.warns(CaptionWarning, match="left out More: not all systems have them"):
        assert captious.compare(more, b, **QUICK).metrics == ["Value"]
    with pytest.raises(captious.InputError, match=r"no metric in common \(a: More; b: Value\)"):
        captious.compare(made("a", noise(3), name="More"), b)


def test_unlike_numbers_are_refused_field_by_field(corpora: list[Corpus]) -> None:
    references = captious.io.read(demo_path("references"), "references")
    altered = dict(zip(references.ids, references.captions))
    altered[references.ids[0]] = [*altered[references.ids[0]][1:], "something else"]
    other = captious.load(altered, demo_path("good"), name="other")
    with pytest.raises(
        captious.InputError,
        match=r"CIDEr-D: good and other cannot be compared, .*\(refs: 60x5@(\w+) / 60x5@(?!\1)\w+\)",
    ):
        captious.compare(corpora[0], other, metrics="CIDEr-D")
    simple = captious.load(demo_path("references"), demo_path("good"), tokenizer="simple", name="other")
    with pytest.raises(captious.InputError, match=r"\(tok: ptb / simple\)"):
        captious.compare(corpora[0], simple, metrics="BLEU-4")


def test_the_order_of_images_does_not_matter_but_the_images_do() -> None:
    a, b = noise(1), noise(2)
    turned = made("b", b[::-1], ids=[str(k) for k in range(79, -1, -1)])
    straight, crossed = (
        captious.compare(made("a", a), other, **QUICK)[0] for other in (made("b", b), turned)
    )
    assert crossed.p_randomisation == straight.p_randomisation
    assert crossed.interval == pytest.approx(straight.interval)
    with pytest.raises(
        captious.InputError, match=r"a was scored on 80 images and b on 79; .*\(in one of them only: 79\)"
    ):
        captious.compare(made("a", a), made("b", b[:-1]))


def test_equal_names_become_distinct() -> None:
    comparisons = captious.compare(made("pred", noise(1)), made("pred", noise(2, 5.0)), **QUICK)
    assert comparisons.systems == ["pred", "pred (2)"]
    assert comparisons[0].ahead == "pred (2)"


def test_too_few_trials_for_so_many_comparisons_is_said() -> None:
    systems = [made(f"s{k}", noise(k, k)) for k in range(4)]
    with pytest.warns(
        CaptionWarning,
        match="100 trials cannot give a p-value below 0.0099, too coarse for 6 comparisons at alpha = 0.05",
    ):
        captious.compare(*systems, trials=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        captious.compare(*systems, trials=200)


def test_one_system_is_no_comparison(scores: list[Scores]) -> None:
    with pytest.raises(captious.InputError, match="at least two systems"):
        captious.compare(scores[0])
    with pytest.raises(captious.InputError, match=r"paths of saved scores \(NAME\.scores\), not 7"):
        captious.compare(scores[0], 7, scores[1])  # type: ignore[arg-type]


def test_json_has_everything(scores: list[Scores]) -> None:
    comparisons = captious.compare(*scores, **QUICK)
    described = json.loads(json.dumps(comparisons.to_json(), allow_nan=False))
    assert described["systems"] == NAMES
    assert (described["correction"], described["family"], described["alpha"]) == (
        "holm",
        comparisons.family,
        0.05,
    )
    assert described["metrics"][0]["system_b"] == "generic"
    assert "a" not in described
    assert captious.compare(*scores[:2], **QUICK).to_json()["b"] == "generic"


class Words(Measure):
    """Number of different words: its rows are words, not numbers."""

    name = "Words"
    rows = "corpus"
    needs = frozenset()

    def statistics(self, corpus: Corpus, state: Any) -> Sequences:
        captions = corpus.candidates
        keys = np.arange(len(captions.vocabulary), dtype=np.uint64)
        return Sequences(captions.tokens, captions.token_offsets, keys).grouped(captions.image_offsets)

    def value(self, sums: Any) -> FloatArray:
        return np.asarray((sums.counts() > 0).sum(axis=-1), dtype=np.float64)


def test_rows_of_words_beside_rows_of_numbers() -> None:
    rng = np.random.default_rng(3)
    words = [
        [" ".join(f"w{rng.integers(size)}" for _ in range(6)) for _ in range(30)] for size in (200, 190, 20)
    ]
    ids = [str(k) for k in range(30)]
    first = Corpus.build(ids, [[text] for text in words[0]], [["w0 w1"]] * 30, name="s0")
    systems = [
        first,
        *(
            Corpus.build(first.ids, [[t] for t in w], first.references, name=f"s{k}")
            for k, w in enumerate(words[1:], 1)
        ),
    ]
    both = [Scores.of(corpus, [Words(), BLEU(1)]) for corpus in systems]
    for row in captious.compare(*both, trials=300, resamples=100):
        a, b = (both[int(name[1])][row.metric] for name in (row.system_a, row.system_b))
        rows = a.image_statistics, b.image_statistics, a.measure.value
        assert row.p_bootstrap == paired_bootstrap(*rows, resamples=100)[2]
        assert row.p_randomisation == significance.randomisation(*rows, trials=300)
        if row.metric == "Words":
            assert row.ahead == {"s1": None, "s2": row.system_a}[row.system_b]
