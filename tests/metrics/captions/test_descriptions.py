"""Measures of descriptions: CIDEr-R, CAPTURE, FactRecall, FactPrecision, atomic facts, explanations."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.corpus import Captions, Corpus
from captious.metrics.captions.capture import Capture
from captious.metrics.captions.cider_r import CiderR
from captious.metrics.captions.fact_coverage import FactPrecision, FactRecall, atomic_facts
from captious.metrics.captions.named_objects import caption_words
from captious.metrics.captions.paragraph_scenes import paragraph_tuples, resolved_sentences
from captious.parser.choice import get as get_parser
from captious.results.caption_explanations import explain

REFERENCES = {
    "1": ["A brown dog lies on a couch. It sleeps next to a lamp."],
    "2": ["A man rides a horse on the beach.", "a man on a white horse"],
}
GOOD = {"1": "A brown dog is on a couch. There is a lamp.", "2": "a man on a horse"}
BAD = {"1": "Two pizzas on a table.", "2": "a red airplane in the sky"}


def load(predictions: dict[str, str]) -> Corpus:
    return captious.load(REFERENCES, predictions)


def test_cider_r_penalises_relative_length_and_repetition() -> None:
    corpus = captious.load({"1": ["a dog runs"], "2": ["a cat"]}, {"1": "dog dog on a mat", "2": "a cat"})
    measure = CiderR()
    # Five words against three; "dog" once too often, the others as often as they may be.
    expected = math.exp(-0.2 * (2 / 3) ** 2) * ((1 / 2) ** (1 / 4)) ** 0.8
    assert np.asarray(measure.length_penalty(corpus)) == pytest.approx([expected, 1.0])
    assert captious.score(corpus, measure)["CIDEr-R"].per_caption[1] > 0


def test_cider_r_counts_parts_of_words_and_equals_a_plain_computation() -> None:
    """Counted by hand from the formula, with the words of "t-shirt" apart, as the published program does."""
    references = {"1": ["a red t-shirt and a hat", "one shirt"], "2": ["a cat sits"], "3": ["two dogs run"]}
    predictions = {"1": "a red shirt with a t-shirt", "2": "a cat", "3": "two dogs run"}
    corpus = captious.load(references, predictions)
    scores = captious.score(corpus, "CIDEr-R")["CIDEr-R"].per_caption
    for i, (image, text) in enumerate(predictions.items()):
        expected = naive_cider_r(text, references[image], list(references.values()))
        assert scores[i] == pytest.approx(expected, abs=1e-12)


def naive_cider_r(text: str, references: list[str], everything: list[list[str]]) -> float:
    def ngrams(words: list[str]) -> list[Counter[tuple[str, ...]]]:
        return [Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for n in range(1, 5)]

    def has(group: list[str]) -> set[tuple[str, ...]]:
        return {gram for one in group for counts in ngrams(one.split()) for gram in counts}

    frequency = Counter(gram for group in everything for gram in has(group))

    def vectors(words: list[str]) -> list[dict[tuple[str, ...], float]]:
        return [
            {
                gram: k * (math.log(len(everything)) - math.log(max(1, frequency[gram])))
                for gram, k in own.items()
            }
            for own in ngrams(words)
        ]

    total = 0.0
    for reference in references:
        ours, theirs = text.split(), reference.split()
        said, wanted = (Counter(re.findall(r"\w+", side)) for side in (text, reference))
        gaps = [abs(wanted[word] - k) if word in wanted else k - 1 for word, k in said.items()]
        penalty = math.exp(-0.2 * ((len(ours) - len(theirs)) / len(theirs)) ** 2)
        penalty *= math.exp(-0.8 * sum(math.log(1 + gap) for gap in gaps) / len(gaps))
        for a, b in zip(vectors(ours), vectors(theirs)):
            norms = math.sqrt(sum(x * x for x in a.values())) * math.sqrt(sum(x * x for x in b.values()))
            product = sum(min(x, b.get(gram, 0.0)) * b.get(gram, 0.0) for gram, x in a.items())
            total += penalty * product / norms if norms else 0.0
    return 10 * total / 4 / len(references)


@pytest.mark.parametrize("name", ["CAPTURE", "FactRecall", "FactPrecision", "ALOHa"])
def test_true_descriptions_are_better(name: str) -> None:
    good, bad = (captious.score(load(side), name)[name].value for side in (GOOD, BAD))
    assert good > bad + 0.2


def test_a_description_equal_to_its_only_reference_is_perfect() -> None:
    same = {"1": REFERENCES["1"][0]}
    corpus = captious.load({"1": REFERENCES["1"]}, same)
    for name in ("CAPTURE", "FactRecall", "FactPrecision"):
        assert captious.score(corpus, name)[name].value == pytest.approx(1.0)


def test_kinds_that_neither_side_has_do_not_count() -> None:
    """ "A brown dog" has no relation, and is perfect without one."""
    score = captious.score({"1": ["A brown dog."]}, {"1": "A brown dog."}, "CAPTURE")
    assert score["CAPTURE"].value == pytest.approx(1.0)


def test_a_fact_is_covered_as_well_as_its_worst_word() -> None:
    measure = FactRecall(facts={"1": ["The dog is on the piano."], "2": []})
    [fact] = measure.coverage(load(GOOD))[0]
    assert (fact.worst, fact.is_covered) == ("piano", False)


def test_pronouns_stand_for_the_noun_before_them() -> None:
    captions = Captions.of([["A man walks a dog. He smiles. The image shows a cat. It sleeps."]])
    sentences = list(resolved_sentences(captions, get_parser()).texts)
    assert sentences == ["A man walks a dog.", "the man smiles.", "The image shows a cat.", "the cat sleeps."]


def test_facts_of_a_description() -> None:
    facts = atomic_facts("The image features a brown dog lying on a couch. It has two toys.")
    texts = [fact.text for fact in facts]
    assert "The dog is brown." in texts and "The dog lies on the couch." in texts
    assert "The dog has the toy." in texts and "There is a toy." in texts
    assert not any("image" in text for text in texts)
    assert {fact.sentence for fact in facts} == {0, 1}
    assert atomic_facts("") == []


def test_facts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    rows = [
        {
            "image_name": "1",
            "oracle_facts": ["There is a dog.", "The dog is on a couch.", "There is a pizza."],
        },
        {"image_name": "2", "oracle_facts": ["There is a horse."]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    bare = Corpus.build(["1", "2"], [[GOOD["1"]], [GOOD["2"]]])
    measure = FactRecall(facts=path)
    score = captious.score(bare, measure)["FactRecall"]
    assert score.per_caption.tolist() == pytest.approx([2 / 3, 1.0])
    missed = [row for row in measure.coverage(bare)[0] if not row.is_covered]
    assert [(row.fact, row.worst) for row in missed] == [("There is a pizza.", "pizza")]
    assert measure.coverage(bare)[0][0].by == 0
    with pytest.raises(captious.InputError, match="no entry for image 2"):
        captious.score(bare, FactRecall(facts={"1": []}))
    path.write_text('[{"image_id": 1, "facts": "a dog"}]', encoding="utf-8")
    with pytest.raises(captious.InputError, match="row 1: expected an image_id and a list of facts"):
        FactRecall(facts=path)


def test_explanations_name_objects_tuples_facts_and_sentences() -> None:
    text = {"1": "A brown dog lies on a couch. There is a pizza. Possibly a lamp.", "2": "a man on a horse"}
    [one] = explain(REFERENCES, text, "ALOHa", images=["1"])
    assert one.details["blamed"] == "pizza"
    assert [row["status"] for row in one.details["sentences"]] == ["supported", "unsupported", "ambiguous"]
    assert one.parts[0]["object"] == "pizza"
    [facts] = explain(REFERENCES, text, "FactPrecision", images=["1"])
    assert {"There is a pizza."} == {part["fact"] for part in facts.parts if part["status"] == "extra"}
    assert [row["status"] for row in facts.details["sentences"]][:2] == ["supported", "unsupported"]
    [tuples] = explain(REFERENCES, text, "CAPTURE", images=["1"])
    assert {"tuple": "pizza", "status": "extra"}.items() <= next(
        part for part in tuples.parts if part["tuple"] == "pizza"
    ).items()
    assert json.dumps([one.to_json(), facts.to_json(), tuples.to_json()])


def test_the_nearest_tuple_is_of_the_references_together() -> None:
    own, theirs = list(Capture().matches(load(GOOD)))[1]
    assert ("horse",) in [match.nearest for match in own if match.items == ("horse",)]
    assert {match.items for match in theirs if match.similarity < 1} >= {("horse", "white")}
    assert FactPrecision().coverage(load(GOOD))[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There is no dog in the room.", {"room"}),
        ("A man without a hat.", {"man"}),
        ("There are no people or cars on the street.", {"street"}),
        ("A street with no cars and a tree.", {"street", "tree"}),
        ("The man is not wearing a hat.", {"man"}),
        ("There isn't a dog.", set()),
        ("Neither dogs nor cats are on the couch.", {"couch"}),
        ("A dog sleeps. There is no cat.", {"dog"}),
        ("A cup on a table with no other cup.", {"cup", "table"}),
        ("The man does not stand near a horse.", {"man", "horse"}),
    ],
)
def test_negated_objects_are_not_present(text: str, expected: set[str]) -> None:
    captions, parser = Captions.of([[text]]), get_parser()
    words = caption_words(captions, parser)
    assert {noun.lemma for s in words.sentences(0) for noun in words.nouns[s]} == expected
    present = {word for s in words.sentences(0) for word in words.words[s]}
    assert not present & ({"dog", "hat", "people", "car", "cars", "cat", "cats"} - expected)
    objects = {item.items[0] for item in paragraph_tuples(captions, parser)[0] if len(item.items) == 1}
    assert objects == expected
    names = {item.items[k] for item in paragraph_tuples(captions, parser)[0] for k in (0, -1)}
    assert not names & ({"dog", "hat", "people", "car", "cat"} - expected)


def test_references_that_deny_an_object_do_not_support_it() -> None:
    references = {"1": ["A street with no cars."]}
    for name in ("ALOHa", "CAPTURE", "FactPrecision"):
        denied, absent, named = (
            captious.score(refs, {"1": "A street with a car."}, name)[name].value
            for refs in (references, {"1": ["A street."]}, {"1": ["A street with cars."]})
        )
        assert denied == pytest.approx(absent) and denied < named


def test_capture_matches_one_to_one() -> None:
    """One "red" of the reference cannot match two of the description."""

    def attributes(text: str) -> float:
        score = captious.score({"1": ["A red ball and a green bike."]}, {"1": text}, "CAPTURE")
        return score["CAPTURE"].value

    assert attributes("A red ball and a green bike.") == pytest.approx(1.0)
    # Attributes are compared without their objects, as published.
    assert attributes("A green ball and a red bike.") == pytest.approx(1.0)
    assert attributes("A red ball and a red bike.") < 0.95


def test_capture_matches_exactly_before_synonyms() -> None:
    """ "couch" takes "couch", so that "sofa" is left for the synonym."""
    score = captious.score({"1": ["a couch, a sofa"]}, {"1": "a sofa, a couch"}, "CAPTURE")
    assert score["CAPTURE"].value == pytest.approx(1.0)
    more = captious.score({"1": ["a couch and a dog"]}, {"1": "a sofa and a couch and a dog"}, "CAPTURE")
    assert more["CAPTURE"].value < 0.99
    # Two synonyms for one couch: precision 2/3, recall 1.
    twice = captious.score({"1": ["a couch and a dog"]}, {"1": "a sofa and a lounge and a dog"}, "CAPTURE")
    assert 0.75 < twice["CAPTURE"].value < 0.9


def test_facts_without_content_words_do_not_count() -> None:
    facts = {"1": ["There it is.", "There is a dog."], "2": ["There is a horse."]}
    score = captious.score(REFERENCES, {"1": "", "2": "a horse"}, "FactRecall", facts=facts)["FactRecall"]
    assert [score.per_image[image] for image in ("1", "2")] == [0.0, 1.0]
