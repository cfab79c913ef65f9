"""HWCM against a definition on objects: chains in dictionaries, one caption at a time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics.captions.hwcm import HWCM, best_overlaps, head_word_chains
from captious.parser import ParsedBatch, Sentence, parses_of
from tests.forms import both_forms, form_of

Chains = Counter[tuple[str, ...]]


def sentence(words: str, heads: list[int]) -> Sentence:
    forms = words.split()
    return Sentence(forms, ["NN"] * len(forms), forms, heads, ["dep"] * len(forms))


#: "a dog chases a cat": both articles hang on their nouns, both nouns on the verb.
DOG = sentence("a dog chases a Cat", [2, 3, 0, 5, 3])
SLEEPS = sentence("a dog sleeps", [2, 3, 0])


def plain_chains(parse: list[Sentence], n: int) -> Chains:
    """The definition."""
    chains: Chains = Counter()
    for one in parse:
        for start in range(len(one)):
            chain, place = [one.forms[start].lower()], start
            while len(chain) < n and one.heads[place] > 0:
                place = one.heads[place] - 1
                chain.append(one.forms[place].lower())
            if len(chain) == n:
                chains[tuple(chain)] += 1
    return chains


def found_chains(parses: list[list[Sentence]], n: int) -> list[Chains]:
    made = head_word_chains(ParsedBatch.of(parses), n)
    names = [tuple(made.names[i] for i in row) for row in made.rows.tolist()]
    return [Counter(names[a:b]) for a, b in zip(made.offsets.tolist(), made.offsets[1:].tolist())]


def test_chains_follow_heads() -> None:
    assert found_chains([[DOG]], 1) == [{("a",): 2, ("dog",): 1, ("chases",): 1, ("cat",): 1}]
    assert found_chains([[DOG]], 2) == [
        {("a", "dog"): 1, ("dog", "chases"): 1, ("a", "cat"): 1, ("cat", "chases"): 1}
    ]
    assert found_chains([[DOG]], 3) == [{("a", "dog", "chases"): 1, ("a", "cat", "chases"): 1}]
    assert found_chains([[DOG]], 4) == [{}]
    for n in (1, 2, 3, 4):
        parses = [[], [SLEEPS, DOG, SLEEPS], [DOG], [SLEEPS]]
        assert found_chains(parses, n) == [plain_chains(parse, n) for parse in parses]
    assert found_chains([], 2) == []


@both_forms
def test_overlap_is_clipped_and_normalised_by_our_chains(form: str) -> None:
    # Captions of numbers: ours are 0 0 1 2 5 and none; theirs 0 1 3, 0 0 0 and none.
    ours, bounds = np.array([0, 0, 1, 2, 5]), np.array([0, 5, 5])
    theirs, their_bounds = np.array([0, 1, 3, 0, 0, 0]), np.array([0, 3, 6, 6])
    own, pairs, partners = (
        np.array([0, 0, 0, 1, 1, 0]),
        np.array([0, 1, 2, 5, 6, 6, 6]),
        np.array([0, 2, 1, 0, 2, 1]),
    )
    values = np.empty(6)
    form_of(best_overlaps, form)(ours, bounds, own, theirs, their_bounds, pairs, partners, values)
    assert values[:4].tolist() == [2 / 5, 0.0, 2 / 5, 0.0]
    assert np.isnan(values[4:]).all()
    back = np.empty(1)
    form_of(best_overlaps, form)(
        theirs, their_bounds, np.array([1]), ours, bounds, np.array([0, 2]), np.array([1, 0]), back
    )
    assert back.tolist() == [2 / 3]


def test_a_corpus_one_by_one() -> None:
    rng = np.random.default_rng(7)
    words = ["a", "dog", "cat", "man", "sits", "runs", "on", "the", "red", "and", "with", "sofa", "beach"]
    texts = [" ".join(words[w] for w in rng.integers(0, len(words), rng.integers(0, 14))) for _ in range(90)]
    groups = [[texts[k] for k in rng.integers(0, 90, rng.integers(1, 4))] for _ in range(30)]
    corpus = Corpus.build(
        [str(i) for i in range(30)], [[texts[k] for k in rng.integers(0, 90, 2)] for _ in range(30)], groups
    )
    ours, theirs = parses_of(corpus.candidates), parses_of(corpus.references)
    bounds = corpus.references.image_offsets.tolist()
    for n in (1, 2, 3, 4):
        expected = []
        for i in range(len(corpus.candidates)):
            own, image = plain_chains(ours[i], n), int(corpus.candidates.image_of[i])
            total = sum(own.values())
            shared = [
                sum((own & plain_chains(theirs[r], n)).values())
                for r in range(bounds[image], bounds[image + 1])
            ]
            expected.append(max(count / total if total else 0.0 for count in shared))
        assert len(set(expected)) > 2
        assert captious.score(corpus, f"HWCM-{n}")[f"HWCM-{n}"].per_caption.tolist() == expected


def test_the_best_reference_counts() -> None:
    references = [["a cat sleeps on a sofa", "a dog runs on the beach"]]
    corpus = Corpus.build(["1"], [["a dog runs on the beach"]], references)
    scores = captious.score(corpus, ["HWCM-1", "HWCM-2", "HWCM-3"])
    assert [score.value for score in scores.values()] == [1.0, 1.0, 1.0]
    far = captious.score(Corpus.build(["1"], [["three boats"]], references), ["HWCM-1", "HWCM-2"])
    assert [score.value for score in far.values()] == [0.0, 0.0]


def test_only_chains_of_one_to_four_words() -> None:
    with pytest.raises(ValueError, match="chains of 1 to 4 words, not 5"):
        HWCM(5)


def test_chains_are_single_or_cumulated_and_combined_over_references() -> None:
    corpus = captious.load(
        {"1": ["a dog runs on grass", "a cat sleeps", "the dog chases a cat"]}, {"1": "a dog chases a cat"}
    )
    single = [captious.score(corpus, f"HWCM-{n}")[f"HWCM-{n}"].value for n in (1, 2, 3)]
    cumulated = captious.score(corpus, "HWCM-3", chains="cumulated")["HWCM-3"]
    assert cumulated.value == pytest.approx(np.mean(single))
    assert cumulated.signature.fields["chains"] == "cumulated"
    alone = [
        captious.score(captious.load({"1": [text]}, {"1": "a dog chases a cat"}), "HWCM-2")["HWCM-2"].value
        for text in ("a dog runs on grass", "a cat sleeps", "the dog chases a cat")
    ]
    for how, combine in (("max", max), ("mean", np.mean), ("min", min)):
        found = captious.score(corpus, "HWCM-2", overlap=how)["HWCM-2"].value
        assert found == pytest.approx(combine(alone)), how
    with pytest.raises(InputError, match="single or cumulated"):
        HWCM(2, chains="both")
    with pytest.raises(InputError, match="max, mean or min"):
        HWCM(2, overlap="median")
