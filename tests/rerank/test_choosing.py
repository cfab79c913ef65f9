"""n-best lists, and one caption from each: by mutual information, consensus, given scores."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import captious
from captious.core.errors import InputError
from captious.io import CaptionWarning
from captious.metrics.registry import make_measures
from captious.rerank import (
    Consensus,
    Likelihood,
    MutualInformation,
    NBest,
    Prior,
    Weights,
    read_given,
    read_nbest,
    rerank,
)
from captious.rerank.language_models.language_model import ModelVocabulary
from captious.rerank.language_models.ngram import Unigram
from tests.rerank.world import rows, write

WORDS = ["a", "the", "dog", "cat", "red", "zebra"]
#: P(word) falls from word to word.
MODEL = Unigram(ModelVocabulary(WORDS), np.array([8.0, 0, 1, 32, 16, 8, 4, 2, 1]))

captions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
lists = st.lists(
    st.lists(st.tuples(captions, st.floats(-30, 0)), min_size=1, max_size=5), min_size=1, max_size=6
)


def nbest(groups: list[list[tuple[str, float]]]) -> NBest:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptionWarning)
        return NBest.of(
            [
                {"image_id": i, "captions": [t for t, _ in g], "logprobs": [p for _, p in g]}
                for i, g in enumerate(groups)
            ]
        )


def by_information(found: NBest, lam: float, **options: Any) -> dict[str, str]:
    return rerank(found, MutualInformation(Prior.of(found, [MODEL]), Weights(lam), **options)).captions


@given(lists)
def test_no_weight_keeps_the_baseline(groups: list[list[tuple[str, float]]]) -> None:
    found = nbest(groups)
    assert by_information(found, 0.0) == rerank(found, Likelihood()).captions
    assert all(found.logprobs is not None and max(p for _, p in g) == p for g, p in zip(groups, _best(found)))


def _best(found: NBest) -> list[float]:
    chosen = rerank(found, Likelihood()).chosen
    assert found.logprobs is not None
    return found.logprobs[chosen].tolist()


@given(lists, st.floats(0, 2), st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_candidates_does_not_matter_but_for_ties(
    groups: list[list[tuple[str, float]]], lam: float, rng: Any, normalise: bool
) -> None:
    found = nbest(groups)
    other = nbest([rng.sample(group, len(group)) for group in groups])
    values = [
        rerank(one, MutualInformation(Prior.of(one, [MODEL]), Weights(lam), normalise=normalise))
        for one in (found, other)
    ]
    assert all(np.isfinite(one.values).all() for one in values)
    # Captions with equal scores may change places.
    assert values[0].values[values[0].chosen] == pytest.approx(values[1].values[values[1].chosen])


def test_rare_words_win_with_weight() -> None:
    found = nbest([[("a cat", -3.0), ("a zebra", -4.0)]])
    assert by_information(found, 0.1) == {"0": "a cat"} and by_information(found, 1.0) == {"0": "a zebra"}
    # log P(cat) − log P(zebra) = log 4, which outweighs the difference of 1 from λ = 1 / log 4 on.
    turn = 1 / np.log(4)
    assert by_information(found, turn - 0.01) == {"0": "a cat"} and by_information(found, turn + 0.01) == {
        "0": "a zebra"
    }


def test_the_formula() -> None:
    found = nbest([[("a cat", -3.0), ("the dog dog", -4.0)]])
    log = np.log(np.array([8.0, 1, 32, 16, 8, 4, 2, 1]) / 72)
    prior = [log[2] + log[5] + log[0], log[3] + 2 * log[4] + log[0]]
    assert Prior.of(found, [MODEL]).log[0] == pytest.approx(prior)
    plain = rerank(found, MutualInformation(Prior.of(found, [MODEL]), Weights(0.5))).values
    assert plain == pytest.approx([-3 - 0.5 * prior[0], -4 - 0.5 * prior[1]])
    each = rerank(found, MutualInformation(Prior.of(found, [MODEL]), Weights(0.5), normalise=True)).values
    assert each == pytest.approx([plain[0] / 3, plain[1] / 4])


def test_two_models_are_interpolated() -> None:
    found = nbest([[("a cat", -3.0), ("a zebra", -4.0)]])
    flat = Unigram(ModelVocabulary(WORDS), np.ones(9))
    prior = Prior.of(found, [MODEL, flat])
    assert prior.mixed(1.0) == pytest.approx(prior.log[0]) and prior.mixed(0.0) == pytest.approx(prior.log[1])
    assert prior.mixed(0.25) == pytest.approx(0.25 * prior.log[0] + 0.75 * prior.log[1])
    for bad in (Weights(-1.0), Weights(float("nan")), Weights(0.5, 1.1), Weights(0.5, -0.1)):
        with pytest.raises(InputError):
            MutualInformation(prior, bad)


def test_the_first_of_equals_is_chosen_and_lists_may_differ_in_length() -> None:
    found = nbest(
        [
            [("a cat", -3.0), ("a dog", -3.0)],
            [("a", -9.0), ("a dog", -8.5)],
            [("a", -2.0), ("a cat", -2.0), ("the cat", -1.0)],
        ]
    )
    assert rerank(found, Likelihood()).captions == {"0": "a cat", "1": "a dog", "2": "the cat"}


def test_own_tokens_are_used_as_they_are() -> None:
    row = {
        "image_id": 1,
        "captions": ["a cat", "A Zebra!"],
        "logprobs": [-1.0, -2.0],
        "tokens": [["a", "cat"], ["the", "red", "zebra"]],
    }
    prior = Prior.of(NBest.of([row]), [MODEL])
    assert prior.lengths.tolist() == [3, 4]
    assert prior.log[0][1] == pytest.approx(MODEL.log_p([["the", "red", "zebra"]])[0])


def test_results_and_candidates(tmp_path: Path) -> None:
    found = read_nbest(write(tmp_path / "n.jsonl", rows(5)))
    done = rerank(found, Likelihood())
    assert done.changed == 0
    assert [set(row) for row in done.results()] == [{"image_id", "caption"}] * 5
    kept = done.candidates()
    assert [row["captions"][row["chosen"]] for row in kept] == list(done.captions.values())
    assert [row["scores"] for row in kept] == [row["logprobs"] for row in rows(5)]


# Bad input

GOOD = {"image_id": 1, "captions": ["a cat", "a dog"], "logprobs": [-1.0, -2.0]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"logprobs": [-1.0]}, "2 captions but 1 logprobs"),
        ({"logprobs": [-1.0, float("nan")]}, "finite numbers"),
        ({"logprobs": [-1.0, float("-inf")]}, "contain -inf; use finite"),
        ({"logprobs": [-1.0, "x"]}, "the text 'x'"),
        ({"logprobs": [-1.0, True]}, "truth value"),
        ({"logprobs": -1.0}, "the number -1.0 logprobs"),
        ({"captions": []}, "no candidates"),
        ({"captions": "a cat"}, "no list of 'captions'"),
        ({"captions": ["a", "\ud83d"]}, "unpaired surrogate"),
        ({"tokens": [["a"]]}, "'tokens' of image"),
        ({"image_id": None}, "image_id is null"),
        ({"image_id": True}, "use an integer or a string"),
    ],
)
def test_bad_rows(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        NBest.of([{**GOOD, **change}])
    assert said in str(error.value) and "line 1" in str(error.value)


def test_bad_lists() -> None:
    with pytest.raises(InputError, match=r"more than once \('1'\)"):
        NBest.of([GOOD, GOOD])
    with pytest.raises(InputError, match="1 of 2 images have no 'logprobs'"):
        NBest.of([GOOD, {"image_id": 2, "captions": ["a"]}])
    with pytest.raises(InputError, match="no images"):
        NBest.of([])
    bare = NBest.of([{"image_id": 2, "captions": ["a", "b"]}])
    with pytest.raises(InputError, match="'logprobs' are missing"):
        rerank(bare, Likelihood())


def test_odd_lists_are_warned_of() -> None:
    with pytest.warns(CaptionWarning, match="1 of 2 logprobs are above 0"):
        NBest.of([{**GOOD, "logprobs": [1.0, -1.0]}])
    with pytest.warns(CaptionWarning, match=r"all candidates are equal for 1 images.*\('7'\)"):
        NBest.of([{"image_id": 7, "captions": ["a", "a"], "logprobs": [-1.0, -1.0]}])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("[1]", "an object with image_id"),
        ("[{}", "not JSON"),
        ("", "is empty"),
        ("7\n", "not the number 7"),
    ],
)
def test_bad_files(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_text(content)
    with pytest.raises(InputError, match=said):
        read_nbest(tmp_path / "n.jsonl")


def test_a_model_with_another_vocabulary() -> None:
    with pytest.raises(InputError, match="does not know 67% of the candidates' tokens"):
        Prior.of(nbest([[("ein Hund cat", -1.0)]]), [MODEL])
    with pytest.warns(CaptionWarning, match=r"does not know 25\.0% of the candidates' tokens"):
        Prior.of(nbest([[("a red big cat", -1.0)]]), [MODEL])
    with pytest.raises(InputError, match="3 language models"):
        Prior.of(nbest([[("a", -1.0)]]), [MODEL] * 3)


# Consensus


def test_consensus_is_the_mean_similarity_with_the_others() -> None:
    found = NBest.of(rows(6))
    values = rerank(found, Consensus(make_measures("ROUGE-L", {})[0])).values
    group = found.groups[0]
    expected = []
    for i, text in enumerate(group):
        others = [other for j, other in enumerate(group) if j != i]
        each = [captious.score({"x": [other]}, {"x": text}, "ROUGE-L")["ROUGE-L"].value for other in others]
        expected.append(np.mean(each))
    assert values[: len(group)] == pytest.approx(expected)


def test_consensus_prefers_what_most_say() -> None:
    groups = [
        ["a man rides a horse", "a man rides a big horse", "a man rides the horse", "a blue bus"],
        ["a cat sits", "a cat is sitting", "two boats", "a cat sits down"],
    ]
    found = NBest.of(
        [{"image_id": i, "captions": g, "logprobs": [-9.0, -9.0, -9.0, -1.0]} for i, g in enumerate(groups)]
    )
    for metric in ("CIDEr-D", "BLEU-1", "WEmbSim"):
        chosen = rerank(found, Consensus(make_measures(metric, {})[0])).captions
        assert "bus" not in chosen["0"] and "boat" not in chosen["1"], metric


def test_a_posterior_weighs_likely_candidates() -> None:
    group = ["a red bus", "a red car", "a blue car", "the blue car", "my blue car"]
    found = NBest.of(
        [
            {"image_id": 1, "captions": group, "logprobs": [-1.0, -2.0, -40.0, -40.0, -40.0]},
            {**GOOD, "image_id": 2},
        ]
    )
    measure = make_measures("ROUGE-L", {})[0]
    assert "blue" in rerank(found, Consensus(measure)).captions["1"]
    assert "red" in rerank(found, Consensus(measure, posterior=True)).captions["1"]


def test_what_has_no_consensus_is_refused() -> None:
    for name in ("ASL", "LSA"):
        with pytest.raises(InputError, match="does not compare a caption with another"):
            Consensus(make_measures(name, {})[0])
    with pytest.raises(InputError, match="only one candidate; a consensus needs several"):
        rerank(nbest([[("a", -1.0)]]), Consensus(make_measures("BLEU-1", {})[0]))


# Scores from a file


def test_scores_of_a_file(tmp_path: Path) -> None:
    found = NBest.of(rows(4))
    listed = [{"image_id": row["image_id"], "scores": list(range(len(row["captions"])))} for row in rows(4)]
    chosen = rerank(found, read_given(write(tmp_path / "s.jsonl", listed))).captions
    assert list(chosen.values()) == [row["captions"][-1] for row in rows(4)]
    with pytest.raises(InputError, match="has no scores for 1 of 4 images"):
        rerank(found, read_given(write(tmp_path / "s.jsonl", listed[1:])))
    with pytest.raises(InputError, match="scores for image"):
        rerank(found, read_given(write(tmp_path / "s.jsonl", [{**listed[0], "scores": [1.0]}, *listed[1:]])))
    for bad, said in (
        ({"scores": [float("nan")]}, "finite"),
        ({"scores": 3}, "no list of 'scores'"),
        ({"image_id": None}, "image_id"),
    ):
        with pytest.raises(InputError, match=said):
            read_given(write(tmp_path / "s.jsonl", [{**listed[0], **bad}]))
    with pytest.raises(InputError, match="more than once"):
        read_given(write(tmp_path / "s.jsonl", [listed[0], listed[0]]))


@pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
def test_saved_scores(tmp_path: Path) -> None:
    listed = rows(60)
    found = NBest.of(listed)
    references = captious.data.demo_path("references")
    predictions = {str(row["image_id"]): row["captions"] for row in listed}
    scores = captious.score(references, predictions, ["ROUGE-L", "CHAIRs"], several=True)
    scores.save(tmp_path / "c.scores")
    chosen = rerank(found, read_given(tmp_path / "c.scores", "rouge-l"))
    best = {
        image: max(
            captious.score(references, {image: texts}, "ROUGE-L", several=True, subset=True)[
                "ROUGE-L"
            ].per_caption
        )
        for image, texts in list(predictions.items())[:5]
    }
    assert chosen.values[chosen.chosen][:5] == pytest.approx(list(best.values()))
    # Lower is better for CHAIR.
    assert (rerank(found, read_given(tmp_path / "c.scores", "CHAIRs")).values <= 0).all()
    with pytest.raises(InputError, match="select one with --metric"):
        read_given(tmp_path / "c.scores")
    with pytest.raises(InputError, match="no caption-level scores of 'SPICE'"):
        read_given(tmp_path / "c.scores", "SPICE")
    other = NBest.of([{**listed[0], "captions": listed[0]["captions"][::-1]}])
    with pytest.raises(InputError, match="was computed for other captions"):
        rerank(other, read_given(tmp_path / "c.scores", "ROUGE-L"))


def test_a_gzipped_list_is_a_list(tmp_path: Path) -> None:
    import gzip

    with gzip.open(tmp_path / "n.json.gz", "wt") as file:
        json.dump(rows(3), file)
    assert len(read_nbest(tmp_path / "n.json.gz")) == 3
