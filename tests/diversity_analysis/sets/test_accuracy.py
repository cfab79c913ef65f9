"""Accuracy of sets, of people, the trade-off, the best m, agreement with people."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.diversity_analysis.sets import best, correlate_judgements, human
from captious.metrics import registry
from captious.metrics.sets.selection import leave_one_out
from captious.results.scores import Score

Make = Callable[..., Corpus]


def test_mean_and_oracle_are_those_of_score(make: Make) -> None:
    corpus = make(20, (4, 7))
    names = ["ROUGE-L", "CIDEr-D", "BLEU-4"]
    found = captious.diversity(corpus, accuracy=names)
    scores = captious.score(corpus, names)
    for name in names:
        assert found[f"mean {name}"].value == pytest.approx(scores[name].value)
        assert found[f"oracle {name}"].value == pytest.approx(scores[name].oracle)
    assert found["mean ROUGE-L"].per_image == pytest.approx(scores["ROUGE-L"].per_image)
    assert found["oracle CIDEr-D"].per_image == pytest.approx(scores["CIDEr-D"].best_per_image)
    assert found["F-measure"].metric.summary.endswith("mean ROUGE-L, β² = 5")


def test_f_measure() -> None:
    from captious.diversity_analysis.sets import f_measure

    assert float(f_measure(0.5, 0.8)) == pytest.approx(6 * 0.5 * 0.8 / (5 * 0.5 + 0.8))
    assert float(f_measure(0.5, 0.8, 1.0)) == pytest.approx(2 * 0.5 * 0.8 / 1.3)
    assert float(f_measure(0.7, 0.7)) == pytest.approx(0.7)
    assert float(f_measure(0.0, 0.0)) == 0.0
    np.testing.assert_allclose(f_measure(np.array([0.2, 0.0]), np.array([0.4, 1.0])), [6 * 0.08 / 1.4, 0.0])


def test_f_measure_of_a_corpus_is_of_the_means(make: Make) -> None:
    found = captious.diversity(make(15), beta_squared=2.0)
    div, acc = found["Self-CIDEr"].value, found["mean CIDEr-D"].value
    assert found["F-measure"].value == pytest.approx(3 * div * acc / (2 * div + acc))
    assert "beta2:2" in found["F-measure"].signature
    assert "df:references" in found["F-measure"].signature
    assert found["F-measure"].signature.fields["refs"] == f"15x5@{found.corpus.references.digest}"
    with pytest.raises(InputError, match="β² must be positive"):
        captious.diversity(make(3), beta_squared=0)


def test_leave_one_out_equals_scoring_texts(make: Make) -> None:
    """Held-out references that are not tokenized again equal a corpus built from their texts."""
    corpus = make(6, (2,), references=4)
    table = captious.FrequencyTable.build(corpus.references)
    held_out = leave_one_out(corpus.references)
    candidates, references, ids = [], [], []
    for i in range(len(corpus)):
        texts = corpus.references.texts[4 * i : 4 * i + 4]
        for k in range(4):
            ids.append(f"{corpus.ids[i]}#{k}")
            candidates.append([texts[k]])
            references.append(texts[:k] + texts[k + 1 :])
    again = Corpus.build(ids, candidates, references, tokenizer="none")
    assert list(held_out.ids) == ids == list(again.ids)
    assert held_out.references.sentences == again.references.sentences
    metrics = ["BLEU-4", "ROUGE-L", "CIDEr-D"]
    first, second = captious.score(held_out, metrics, df=table), captious.score(again, metrics, df=table)
    for name in metrics:
        np.testing.assert_allclose(first[name].per_caption, second[name].per_caption, atol=1e-12)
    # Without a table, n-grams are weighed by the references of the images, each counted once.
    measure = registry.create("CIDEr-D")
    prepared = Score.of(measure, held_out, measure.prepare(corpus.references))
    np.testing.assert_allclose(prepared.per_caption, first["CIDEr-D"].per_caption)


def test_human_reference_points(make: Make) -> None:
    corpus = make(12, (3,), references=5)
    people = human(corpus)
    assert people.system == "human"
    assert "references:leave-one-out" in people["mean CIDEr-D"].signature
    sets = {image: corpus.references.texts[5 * i : 5 * i + 5] for i, image in enumerate(corpus.ids)}
    table = captious.FrequencyTable.build(corpus.references)
    direct = captious.diversity(sets, df=table, tokenizer="none")
    for name in ("Self-CIDEr", "LSA", "mBLEU-4", "Div-1"):
        assert people[name].per_image == pytest.approx(direct[name].per_image), name
    held_out = captious.score(leave_one_out(corpus.references), "CIDEr-D", df=table)[
        "CIDEr-D"
    ].per_caption.reshape(12, 5)
    assert people["mean CIDEr-D"].value == pytest.approx(held_out.mean())
    assert people["oracle CIDEr-D"].value == pytest.approx(held_out.max(axis=1).mean())
    div, acc = people["Self-CIDEr"].value, people["mean CIDEr-D"].value
    assert people["F-measure"].value == pytest.approx(6 * div * acc / (5 * div + acc))


def test_human_accuracy_leaves_out_images_with_one_reference() -> None:
    corpus = Corpus.build(
        ["a", "b", "c"],
        [["x y", "y z"]] * 3,
        [["a dog runs", "a dog walks"], ["a cat"], ["a man eats", "the man eats food", "a man"]],
        tokenizer="none",
    )
    people = human(corpus)
    assert list(people["mean CIDEr-D"].per_image) == ["a", "c"]
    assert people["Self-CIDEr"].per_image["b"] == 0.0
    assert "F-measure" not in people
    single = Corpus.build(["a", "b"], [["x", "y"]] * 2, [["a dog"], ["a cat"]], tokenizer="none")
    assert "mean CIDEr-D" not in human(single)


def test_best_m(make: Make) -> None:
    corpus = make(10, (10, 6))
    rows = best(corpus)
    assert [(row.m, row.images) for row in rows] == [(2, 10), (5, 10), (8, 5), (10, 5)]
    scores = captious.score(corpus, "CIDEr-D")["CIDEr-D"].per_caption
    offsets = corpus.candidates.image_offsets
    for row in rows[:2]:
        kept, means = [], []
        for i in range(len(corpus)):
            mine = np.arange(offsets[i], offsets[i + 1])
            order = mine[np.argsort(-scores[mine], kind="stable")][: row.m]
            kept.append([corpus.candidates.texts[k] for k in sorted(order)])
            means.append(scores[order].mean())
        assert row.scores["mean CIDEr-D"].value == pytest.approx(np.mean(means))
        table = captious.FrequencyTable.build(corpus.references)
        direct = captious.diversity(dict(zip(corpus.ids, kept)), df=table, tokenizer="none")
        for name in ("Self-CIDEr", "LSA", "1-mBLEU-mix"):
            assert row.scores[name].value == pytest.approx(direct[name].value), name
    # Accuracy falls as worse captions are added.
    means = [row.scores["mean CIDEr-D"].value for row in rows[:2]]
    assert means == sorted(means, reverse=True)
    whole = captious.diversity(make(10, (10,)))
    assert best(make(10, (10,)), [10])[0].scores["LSA"].value == pytest.approx(whole["LSA"].value)


def test_best_m_in_other_orders(make: Make) -> None:
    corpus = make(6, (5,))
    first = best(corpus, [2], order="given")[0]
    sets = {image: corpus.candidates.texts[5 * i : 5 * i + 2] for i, image in enumerate(corpus.ids)}
    table = captious.FrequencyTable.build(corpus.references)
    assert first.scores["Self-CIDEr"].value == pytest.approx(
        captious.diversity(sets, df=table, tokenizer="none")["Self-CIDEr"].value
    )
    again = [best(corpus, [3], order="random", seed=s)[0].scores["LSA"].value for s in (1, 1, 2)]
    assert again[0] == again[1] != again[2]
    assert best(corpus, [9]) == []
    with pytest.raises(InputError, match="positive integers"):
        best(corpus, [0])


def test_agreement() -> None:
    scores = {"s": {"1": 0.1, "2": 0.5}, "t": {"1": 0.4, "2": 0.6}, "u": {"1": 0.9, "2": 0.2}}
    people = {"s": {"1": 1, "2": 5}, "t": {"1": 2, "2": 6}, "u": {"1": 3, "2": 2}}
    found = correlate_judgements(scores, people, measure="x")
    assert found.per_image_spearman == pytest.approx(1.0)
    assert (found.sets, found.images) == (6, 2)
    from scipy.stats import pearsonr, spearmanr

    a, b = [0.1, 0.4, 0.9, 0.5, 0.6, 0.2], [1, 2, 3, 5, 6, 2]
    assert found.pearson == pytest.approx(pearsonr(a, b)[0])
    assert found.spearman == pytest.approx(spearmanr(a, b)[0])


def test_correlation_skips_constant_images_and_refuses_unknown_ones(make: Make) -> None:
    scores = {"s": {"1": 0.1, "2": 0.5}, "t": {"1": 0.4, "2": 0.6}, "u": {"1": 0.9, "2": 0.2}}
    same = {system: {"1": 3.0, "2": k} for k, system in enumerate(scores)}
    assert correlate_judgements(scores, same).images == 1
    with pytest.raises(InputError, match="systems that were not measured: z"):
        correlate_judgements(scores, {"z": {"1": 1.0}})
    with pytest.raises(InputError, match="images that were not measured: 9"):
        correlate_judgements(scores, {"s": {"9": 1.0}})
    with pytest.raises(InputError, match="too few"):
        correlate_judgements(scores, {"s": {"1": 1.0}})
    found = captious.diversity(make(5))
    ranks = {image: float(i) for i, image in enumerate(found.corpus.ids)}
    assert correlate_judgements({"s": found["LSA"]}, {"s": ranks}).measure == "LSA"


def test_a_selection_is_captions(make: Make) -> None:
    captions = make(5, (3,)).candidates
    index = np.array([4, 0, 4, 9])
    chosen = captions.take(index, np.array([0, 1, 4]))
    assert [chosen.words(i) for i in range(4)] == [captions.words(i) for i in index.tolist()]
    assert chosen.per_image.tolist() == [1, 3]
    for n in (1, 3):
        table, source = chosen.ngrams(n), captions.ngrams(n)
        for place, i in enumerate(index.tolist()):
            rows, whole = slice(*table.offsets[place : place + 2]), slice(*source.offsets[i : i + 2])
            np.testing.assert_array_equal(table.number[rows], source.number[whole])
            assert table.totals[place] == source.totals[i]
