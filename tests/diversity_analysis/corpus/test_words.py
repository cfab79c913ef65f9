"""Global recall, over-use, negation, concreteness, distances and correlations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import power_divergence, spearmanr

import captious
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.diversity_analysis.corpus.corpus_result import rank_correlations
from captious.metrics.corpus import corpus_word_lists as word_lists
from captious.metrics.corpus import global_recall
from captious.metrics.corpus import global_recall as glob
from captious.metrics.corpus import pos_counts as pos


def target(training: list[int] | None = None) -> glob.Target:
    # Words 0 … 4; word 3 is a punctuation mark, word 4 is not in the references.
    counts = None if training is None else np.array(training)
    return glob.Target(np.array([9, 5, 5, 7, 0]), counts, np.array([True, True, True, False, True]))


def test_learnable_recalled_coverage_limit() -> None:
    found = target([3, 0, 8, 1, 2])
    recall = glob.global_recall(np.array([True, True, False, True, True]), found)
    assert (recall.learnable, recall.recalled) == (3, 2)
    assert recall.coverage == pytest.approx(2 / 3)
    assert found.limit == pytest.approx(3 / 4)


def test_without_training_all_words_are_learnable() -> None:
    assert target().limit == 1
    assert glob.global_recall(np.array([True] * 5), target()).coverage == 1


def test_omitted_words_by_both_frequencies_without_punctuation() -> None:
    nothing = np.zeros(5, dtype=bool)
    assert glob.omitted(nothing, target([3, 4, 8, 1, 2]), by="validation").tolist() == [0, 1, 2]
    assert glob.omitted(nothing, target([3, 4, 8, 1, 2]), by="training").tolist() == [2, 1, 0]
    assert glob.omitted(np.array([True, False, True, False, False]), target(), by="training").tolist() == [1]


def test_deciles_run_from_frequent_to_rare() -> None:
    validation = np.arange(20, 0, -1)
    found = glob.Target(validation, None, np.ones(20, dtype=bool))
    produced = np.zeros(20, dtype=bool)
    produced[:3] = True
    assert glob.global_recall(produced, found).deciles.tolist() == [1.0, 0.5, *[0.0] * 8]


def test_deciles_of_learnable_words_and_of_all_words() -> None:
    training = np.array([0, 5] * 10)
    found = glob.Target(np.arange(20, 0, -1), training, np.ones(20, dtype=bool))
    recall = glob.global_recall(np.arange(20) < 4, found)
    assert recall.deciles.tolist() == [1.0, 1.0, *[0.0] * 8]
    assert recall.deciles_of_references.tolist() == [0.5, 0.5, *[0.0] * 8]


def test_usage_is_the_log_likelihood_with_a_sign() -> None:
    system, humans = np.array([50, 10, 0, 40]), np.array([30, 60, 10, 0])
    found = global_recall.usage(system, humans)
    share = (50 + 30) / 200
    expected = power_divergence([50, 30], [100 * share, 100 * share], lambda_="log-likelihood").statistic
    assert found.log_likelihood[0] == pytest.approx(expected)
    assert found.ratio[0] == pytest.approx(50 / 30)
    assert found.ratio[2] == 0
    assert np.isinf(found.ratio[3])
    assert found.most(5, over=True).tolist() == [3, 0]
    assert found.most(5, over=False).tolist() == [1, 2]


def test_share_of_negations() -> None:
    texts = ["no dog", "a dog", "", "it doesnt not", "a dog without a tail"]
    corpus = Corpus.build(list("12345"), [[text] for text in texts], tokenizer="spacy-like")
    assert captious.score(corpus, "Neg")["Neg"].value == pytest.approx(3 / 5)


def test_norms_and_concreteness(tmp_path: Path) -> None:
    table = tmp_path / "norms.tsv"
    table.write_text("Word\tBigram\tConc.M\tSD\ndog\t0\t4.85\t0.1\nIdea\t0\t1.61\t1.0\n", encoding="utf-8")
    norms = word_lists.read_norms(table)
    assert norms == {"dog": 4.85, "idea": 1.61}
    corpus = Corpus.build(["1"], [["dog dog idea cat"]], tokenizer="none")
    score = captious.score(corpus, "Concr", norms=table)["Concr"]
    assert score.value == pytest.approx((4.85 * 2 + 1.61) / 3)
    assert score.statistics.tolist() == [[pytest.approx(11.31), 3, 4]]
    same, other = (captious.score(corpus, "Concr", norms=given)["Concr"] for given in (norms, {"dog": 5.0}))
    assert same.signature == score.signature != other.signature
    (tmp_path / "bare.csv").write_text("dog,5\ncat,4\n", encoding="utf-8")
    assert word_lists.read_norms(tmp_path / "bare.csv") == {"dog": 5, "cat": 4}


@pytest.mark.parametrize(
    "content", [b"", b"word,rating\ndog,high\n", b"word,rating\ndog\n", b"\xff\xfe", b"word\trating\n"]
)
def test_bad_norms_are_refused(tmp_path: Path, content: bytes) -> None:
    table = tmp_path / "norms.csv"
    table.write_bytes(content)
    with pytest.raises(InputError, match=r"norms\.csv"):
        word_lists.read_norms(table)
    with pytest.raises(InputError, match="there is no such file"):
        word_lists.read_norms(tmp_path / "none.csv")


def test_jensen_shannon_distance_is_that_of_scipy() -> None:
    p, q = np.array([5.0, 3.0, 0.0, 2.0]), np.array([1.0, 3.0, 6.0, 0.0])
    assert pos.jensen_shannon_distance(p, q) == pytest.approx(jensenshannon(p, q, 2))
    assert pos.jensen_shannon_distance(np.array([p, 2 * q, 0 * p]), q) == pytest.approx(
        [jensenshannon(p, q, 2), 0, np.nan], abs=1e-7, nan_ok=True
    )
    assert pos.jensen_shannon_distance(p, 3 * p) == pytest.approx(0, abs=1e-7)
    assert pos.jensen_shannon_distance(np.array([1.0, 0]), np.array([0, 1.0])) == 1


def test_rank_correlations_are_those_of_scipy() -> None:
    values = np.random.default_rng(0).integers(0, 6, (9, 4)).astype(float)
    rows = [dict(zip("abcd", row)) for row in values.tolist()]
    found = rank_correlations(rows)
    assert found is not None
    assert found[1] == pytest.approx(spearmanr(values).statistic)
    assert rank_correlations(rows[:2]) is None
    rows[0]["a"] = float("nan")
    for row in rows:
        row["b"] = 1.0
    found = rank_correlations(rows)
    assert found is not None
    assert found[0] == ["c", "d"]
