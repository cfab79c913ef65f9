"""WMD, WEmbSim, MOWE and SentenceSim against plain implementations of their definitions."""

from __future__ import annotations

import os
import random
import warnings
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Captions, Corpus
from captious.metrics.base import Measure, in_signature
from captious.metrics.captions import wembsim
from captious.metrics.captions.sentence_sim import SentenceSim
from captious.metrics.captions.vocabulary_vectors import coverage
from captious.metrics.captions.wembsim import MOWE, WEmbSim
from captious.metrics.captions.wmd import WMD, nearest_distances
from captious.text.stopwords import ENGLISH
from captious.vectors import WordVectors, get
from tests.conftest import read_jsonl
from tests.forms import both_forms, running

# POT loads every array library it finds; torch alone takes seconds, and is not needed.
os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")

REFERENCES = [
    ["a brown dog runs over the grass", "the dog is running", "a puppy plays in a green field field"],
    ["two women drink coffee", "women sit at a table in a café"],
    ["the of and", "a child with a ball"],
]
CANDIDATES = [["a dog runs in a field", "a puppy puppy"], ["women at a table"], ["a boy kicks a ball"]]


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    words = {word for group in REFERENCES + CANDIDATES for text in group for word in text.split()} - {"kicks"}
    rng = np.random.default_rng(0)
    return WordVectors.from_mapping({word: rng.normal(size=11) for word in sorted(words)})


def build(candidates: list[list[str]] = CANDIDATES, references: list[list[str]] = REFERENCES) -> Corpus:
    return Corpus.build([str(i) for i in range(len(references))], candidates, references, tokenizer="none")


def content(text: str, vectors: WordVectors, stop: bool = True) -> np.ndarray:
    words = [w for w in text.split() if not (stop and w in ENGLISH) and w in vectors]
    return vectors.lookup(words)[0].astype(np.float64)


def each(corpus: Corpus):
    """Candidate text and the texts of its references."""
    for i, text in enumerate(corpus.candidates.texts):
        image = corpus.candidates.image_of[i]
        yield text, corpus.references.texts[slice(*corpus.references.image_offsets[image : image + 2])]


def statistics_of(measure: Measure, corpus: Corpus) -> np.ndarray:
    return measure.statistics(corpus, measure.prepare(corpus.references))


def plain_wmd(a: str, b: str, vectors: WordVectors) -> float:
    import ot

    x, y = content(a, vectors), content(b, vectors)
    if not len(x) or not len(y):
        return np.inf
    cost = np.sqrt(((x[:, None] - y) ** 2).sum(axis=-1))
    return float(ot.emd2(np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y)), cost))


@pytest.mark.filterwarnings("ignore:candidates")
@both_forms
def test_wmd_is_the_transport_distance_to_the_nearest_reference(vectors: WordVectors, form: str) -> None:
    corpus = build()
    expected = [min(plain_wmd(text, r, vectors) for r in others) for text, others in each(corpus)]
    with running(form):
        np.testing.assert_allclose(nearest_distances(corpus, vectors), expected, atol=1e-9)
        np.testing.assert_allclose(
            statistics_of(WMD(vectors), corpus)[:, 0], np.exp(-np.array(expected)), atol=1e-9
        )


@pytest.mark.parametrize("portion", [1, 3, 1 << 11])
def test_mean_vectors_of_captions_that_repeat_and_of_those_that_do_not(
    portion: int, vectors: WordVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wembsim, "_PORTION", portion)
    texts = ["a dog runs", "a puppy puppy", "", "kicks", "the of and", "women drink coffee in a field"]
    for times in (1, 5):
        captions = Captions.of([texts] * times, "none")
        found = wembsim.mean_vectors(captions, vectors, True)
        assert found.shape == (len(texts) * times, 11)
        for i, text in enumerate(texts * times):
            total = content(text, vectors).sum(axis=0)
            np.testing.assert_allclose(found[i], total / max(np.linalg.norm(total), 1e-12), atol=1e-6)


def test_wmd_of_long_captions() -> None:
    """Hundreds of different words on both sides, some of them shared."""
    rng, draw = np.random.default_rng(1), random.Random(3)
    known = [f"word{i}" for i in range(900)]
    vectors = WordVectors.from_mapping({word: rng.normal(size=7) for word in known})
    texts = [" ".join(draw.choices(known, k=700)) for _ in range(4)]
    corpus = Corpus.build(["1"], [texts[:1]], [texts[1:]], tokenizer="none")
    assert len(set(texts[0].split())) > 300
    assert nearest_distances(corpus, vectors)[0] == pytest.approx(
        min(plain_wmd(texts[0], other, vectors) for other in texts[1:]), rel=1e-9
    )


@pytest.mark.filterwarnings("ignore:candidates")
def test_wmd_of_ten_thousand_words_and_of_nothing() -> None:
    words = [
        f"{a}{b}" for a in ("dog", "cat", "red", "man", "sea") for b in ("s", "", "man", "-boat", "-like")
    ] * 400
    corpus = build([[" ".join(words)], [""], ["zzzzqqqq"]], [["a dog"], ["a cat"], ["zzzzqqqq"]])
    values = statistics_of(WMD(), corpus)[:, 0]
    assert 0 < values[0] < 1
    assert values[1:].tolist() == [0.0, 0.0]


@pytest.mark.filterwarnings("ignore:candidates")
@pytest.mark.parametrize("combine", ["mean", "max", "min"])
def test_wembsim_is_the_cosine_of_means(vectors: WordVectors, combine: str) -> None:
    def cosine(a: str, b: str, stop: bool) -> float:
        x, y = (content(text, vectors, stop) for text in (a, b))
        if not len(x) or not len(y):
            return 0.0
        x, y = x.mean(axis=0), y.mean(axis=0)
        return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))

    corpus = build()
    over = {"mean": np.mean, "max": np.max, "min": np.min}[combine]
    expected = [over([cosine(text, r, True) for r in others]) for text, others in each(corpus)]
    np.testing.assert_allclose(statistics_of(WEmbSim(vectors, combine), corpus)[:, 0], expected, atol=1e-6)
    expected = [max(cosine(text, r, False) for r in others) for text, others in each(corpus)]
    np.testing.assert_allclose(statistics_of(MOWE(vectors), corpus)[:, 0], expected, atol=1e-6)


def test_the_choice_of_vectors_is_in_the_signature(vectors: WordVectors) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = captious.score(build(), ["WEmbSim", "WMD", "MOWE"], vectors=vectors, combine="max")
    for name, score in scores.items():
        assert score.signature.fields["vectors"] == in_signature(vectors), name
    fields = {name: score.signature.fields for name, score in scores.items()}
    assert (fields["WEmbSim"]["combine"], fields["WEmbSim"]["stop"]) == ("max", "nltk")
    assert (fields["MOWE"]["combine"], fields["MOWE"]["stop"]) == ("max", "none")
    assert captious.score(build(), "WMD")["WMD"].signature.fields["vectors"] == in_signature(get())


def test_unknown_words_are_counted_and_many_are_a_warning(vectors: WordVectors) -> None:
    corpus = build()
    known = coverage(corpus.candidates, vectors)
    assert (known.unknown, known.examples) == (1, ("kicks",))
    assert known.content == 10
    with pytest.warns(
        UserWarning, match=r"1 of 10 content words have no vector in dict .* WMD \(such as 'kicks'\)"
    ):
        statistics_of(WMD(vectors), corpus)


def test_a_vocabulary_that_grows_is_looked_up_again(vectors: WordVectors) -> None:
    corpus = build()
    statistics_of(WEmbSim(vectors), corpus)
    more = Corpus.build(
        corpus.ids, [["a zebra"], ["coffee table"], ["football"]], corpus.references, name="second"
    )
    fresh = build([["a zebra"], ["coffee table"], ["football"]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(
            statistics_of(WEmbSim(vectors), more), statistics_of(WEmbSim(vectors), fresh), atol=1e-6
        )


def test_a_wrong_way_to_combine_is_refused(vectors: WordVectors) -> None:
    with pytest.raises(InputError, match="mean, max, min or centroid, not 'median'"):
        WEmbSim(vectors, "median")


def test_sentence_sim_is_the_mean_cosine() -> None:
    corpus = build()
    metric = SentenceSim()
    encoder = metric.encoder
    expected = [np.mean(encoder.encode(others) @ encoder.encode([text])[0]) for text, others in each(corpus)]
    np.testing.assert_allclose(statistics_of(metric, corpus)[:, 0], expected, atol=1e-6)
    assert f"model:bert-6x384@{encoder.digest}|" in captious.score(corpus, metric)["SentenceSim"].signature
    with pytest.raises(InputError, match="no sentence encoder at"):
        SentenceSim("/nowhere/at/all")


@pytest.mark.shared
def test_pruning_changes_no_value(shared_data: Path) -> None:
    """On real captions: the distance to the nearest reference, with POT for each reference."""
    rows = [
        row["captions"]
        for row, _ in zip(read_jsonl(shared_data / "flickr30k" / "captions.jsonl.gz"), range(40))
    ]
    vectors = get()
    corpus = Corpus.build(
        [str(i) for i in range(len(rows))], [row[:1] for row in rows], [row[1:] for row in rows]
    )
    ours = nearest_distances(corpus, vectors)
    for i in range(len(rows)):
        own = " ".join(corpus.candidates.words(i))
        others = [
            " ".join(corpus.references.words(r)) for r in range(*corpus.references.image_offsets[i : i + 2])
        ]
        known = [plain_wmd(own, other, vectors) for other in others]
        assert ours[i] == pytest.approx(min(known), abs=1e-9)
