"""Switching words for their neighbours."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError, MissingExtraError
from captious.corpus import Corpus
from captious.generate import synonym_sets, synonym_switch, train_vectors

VECTORS = {
    "dog": [1.0, 0.0, 0.0],
    "puppy": [1.0, 0.1, 0.0],
    "hound": [1.0, 1.0, 0.0],
    "cat": [0.0, 0.0, 1.0],
    "runs": [-1.0, 0.0, 0.0],
}
CAPTION = "a dog runs"
#: Captions whose words are candidates.
WORDS = ["a dog runs", "a puppy runs", "a hound runs", "a cat runs", "a dog sees a cat"]


def switch(captions: object = (CAPTION,), probability: float = 1.0, **options: object) -> object:
    options = {"vocabulary": WORDS, "similarity": 0.0, **options}
    options.setdefault("vectors", VECTORS)
    return synonym_switch(captions, probability, tokenizer="none", **options)


def test_nothing_is_switched_with_probability_0() -> None:
    assert switch(probability=0.0, samples=3) == [[CAPTION] * 3]


def test_words_are_switched_for_near_ones_in_proportion_to_similarity() -> None:
    varied = switch(samples=4000)[0]
    words = [caption.split() for caption in varied]
    assert {w[0] for w in words} == {"a"}  # no vector: stays
    assert {w[2] for w in words} == {"runs"}  # all its neighbours point away: stays
    counts = Counter(w[1] for w in words)
    # "cat" is orthogonal (similarity 0) and never chosen; a word is not its own neighbour.
    assert set(counts) == {"puppy", "hound"}
    near, far = 1 / 1.01**0.5, 0.5**0.5
    assert counts["puppy"] / 4000 == pytest.approx(near / (near + far), abs=0.03)


def test_probability_is_that_of_each_word() -> None:
    varied = switch(["dog " * 4000], 0.3, samples=1)[0][0].split()
    assert sum(word != "dog" for word in varied) / 4000 == pytest.approx(0.3, abs=0.03)


def test_only_the_nearest_count() -> None:
    assert {caption.split()[1] for caption in switch(samples=50, neighbours=1)[0]} == {"puppy"}


def test_words_can_be_kept() -> None:
    assert switch(keep=frozenset({"dog"}), samples=2) == [[CAPTION] * 2]


def test_the_same_seed_gives_the_same_captions() -> None:
    assert switch(samples=20) == switch(samples=20)
    assert switch(samples=20) != switch(samples=20, seed=1)


def test_mappings_and_corpora_keep_their_ids() -> None:
    varied = switch({7: "a dog", "b": ["a cat", "a puppy"]}, 0.0, samples=3)
    assert varied == {"7": ["a dog"] * 3, "b": ["a cat", "a puppy", "a cat"]}
    corpus = captious.load({"1": ["a dog"]}, {"1": "the dog"}, tokenizer="none")
    assert switch(corpus, 0.0, samples=2) == {"1": ["the dog", "the dog"]}


def test_more_switching_is_more_diverse_and_less_accurate() -> None:
    """A system of one caption moves across the plane, as in the paper."""
    from captious.data import demo_path

    corpus = captious.load(demo_path("references"), demo_path("good"), tokenizer="simple")
    vectors = train_vectors(corpus.references.sentences, min_count=2, dimensions=20, tokenizer="none")
    found = [
        captious.diversity(
            Corpus.build(
                corpus.ids,
                list(synonym_switch(corpus, p, vectors=vectors).values()),
                corpus.references,
                name=f"p={p}",
            )
        )
        for p in (0.0, 0.2, 0.5, 0.9)
    ]
    diversity = [f["Self-CIDEr"].value for f in found]
    accuracy = [f["mean CIDEr-D"].value for f in found]
    assert diversity[0] == pytest.approx(0.0, abs=1e-6)
    assert diversity == sorted(diversity) and diversity[-1] > 0.7
    assert accuracy == sorted(accuracy, reverse=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probability": 1.5}, "between 0 and 1"),
        ({"samples": 0}, "positive integers"),
        ({"captions": "a dog"}, "captions must be a list of texts"),
        ({"captions": [["a dog"]]}, "captions must be a list of texts"),
    ],
)
def test_mistakes(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        switch(**options)


def test_trained_vectors_are_the_same_each_time() -> None:
    captions = [
        f"a {animal} {verb} in the {place}"
        for animal in ("dog", "cat")
        for verb in ("runs", "sits")
        for place in ("park", "house")
    ] * 5
    first, second = (train_vectors(captions, dimensions=10, min_count=1, tokenizer="none") for _ in range(2))
    assert first.dimension == 10 and len(first) == 9
    assert first.nearest("dog", 3) == second.nearest("dog", 3) != []
    assert "40-captions" in first.name
    from_source = train_vectors({"i": captions}, dimensions=10, min_count=1, tokenizer="none")
    assert from_source.nearest("dog", 3) == first.nearest("dog", 3)


def test_too_few_captions_to_train_on() -> None:
    with pytest.raises(InputError, match="no word occurs 5 times"):
        train_vectors(["a dog"], tokenizer="none")


def test_missing_gensim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"captious\[word2vec\]"):
        train_vectors(["a dog"], tokenizer="none")


def test_the_vectors_that_ship_with_captious() -> None:
    words = [
        "a puppy sits on the lawn",
        "a hound sits on the grass",
        "a terrier runs",
        "dogs run",
        "a cat sits",
    ]
    varied = synonym_switch(
        ["a dog sits on the grass"], 1.0, samples=30, tokenizer="none", vocabulary=words, same_tags=True,
        similarity=0.5,
    )[0]  # fmt: skip
    dogs = {caption.split()[1] for caption in varied}
    assert dogs <= {"puppy", "hound", "terrier"} and len(dogs) >= 2
    assert {caption.split()[-1] for caption in varied} == {"lawn"}


def test_only_words_of_the_references_of_the_same_part_of_speech() -> None:
    """An earlier version gave "a teddy bearish is sittting onthe ay chair"."""
    from captious.data import demo_path
    from captious.generate.synonym_switch import word_tags

    corpus = captious.load(demo_path("references"), demo_path("good"))
    known = set(corpus.references.vocabulary.words)
    tags = {**word_tags(corpus.candidates), **word_tags(corpus.references)}
    switched = 0
    for image, varied in synonym_switch(corpus, 1.0, samples=3, same_tags=True).items():
        before = corpus.candidates.words(corpus.ids.index(image))
        for caption in varied:
            for old, new in zip(before, caption.split(" "), strict=True):
                if old != new:
                    switched += 1
                    assert new in known and tags[new] == tags[old]
                    assert tags[old][:2] in ("NN", "VB", "JJ", "RB")
    assert switched > 100


def test_any_word_is_switched_for_any_other_as_published() -> None:
    vectors = {"a": [1.0, 0.2], "the": [1.0, 0.3], "dog": [0.2, 1.0], "runs": [0.1, 1.0]}
    varied = switch(["a dog"], samples=40, vectors=vectors, vocabulary=["the dog runs a"], neighbours=1)[0]
    # No threshold, no tags: an article is switched for an article, and a noun for the verb nearest to it.
    assert set(varied) == {"the runs"}
    assert set(
        switch(["a dog"], samples=9, vectors=vectors, vocabulary=["the dog runs"], same_tags=True)[0]
    ) == {"a dog"}


def test_sets_begin_with_the_caption_and_switch_more_and_more() -> None:
    captions = {"1": "a dog", "2": "the cat"}
    sets = synonym_sets(captions, m=4, switch=(0.0, 1.0), vectors=VECTORS, vocabulary=WORDS, tokenizer="none")
    assert list(sets) == ["1", "2"] and all(len(texts) == 4 for texts in sets.values())
    assert sets["1"][:2] == ["a dog", "a dog"] and sets["1"][3] in ("a puppy", "a hound")
    again = synonym_sets(
        captions, m=4, switch=(0.0, 1.0), vectors=VECTORS, vocabulary=WORDS, tokenizer="none"
    )
    assert again == sets
    with pytest.raises(InputError, match="at least 1"):
        synonym_sets(captions, m=0)


def test_the_command_trains_vectors_on_captions(tmp_path: Path) -> None:
    from captious.data import demo_path

    out = tmp_path / "sets.jsonl"
    arguments = [
        str(demo_path("good")),
        "--training",
        str(demo_path("references")),
        "-o",
        str(out),
        "-n",
        "3",
    ]
    assert CliRunner().invoke(app, ["synonyms", *arguments]).exit_code == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 60 and all(len(row["captions"]) == 3 for row in rows)
    assert sum(row["captions"][0] != row["captions"][2] for row in rows) > 30


def test_similarity_is_a_floor() -> None:
    assert switch(samples=30, similarity=0.9)[0] == ["a puppy runs"] * 30
    assert switch(samples=3, similarity=1.0)[0] == [CAPTION] * 3
    with pytest.raises(InputError, match="similarity"):
        switch(similarity=2.0)


def test_words_that_no_caption_has_do_not_come() -> None:
    assert switch(samples=30, vocabulary=["a dog runs", "a hound runs"])[0] == ["a hound runs"] * 30
