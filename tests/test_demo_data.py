"""The demo that ships with the package: its shape, and the intended differences of its systems."""

from __future__ import annotations

import json

import pytest

import captious
from captious.core.errors import InputError
from captious.data import demo_names, demo_path
from captious.io import CaptionFile, align, read

CLASSES = """
person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign,
parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella, handbag,
tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, surfboard,
tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, broccoli, carrot,
hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv, laptop, mouse, remote,
keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, scissors, teddy bear,
hair drier, toothbrush
"""
COCO_CLASSES = {name.strip() for name in CLASSES.split(",")}


@pytest.fixture(scope="module")
def references() -> CaptionFile:
    return read(demo_path("references"), "references")


def test_the_list_of_classes_is_complete() -> None:
    assert len(COCO_CLASSES) == 80


def test_names() -> None:
    assert demo_names() == ["descriptions", "generic", "good", "objects", "poor", "references", "sampling"]
    with pytest.raises(InputError, match="did you mean 'good'"):
        demo_path("goood")


def test_references(references: CaptionFile) -> None:
    assert references.format == "coco-annotations"
    assert len(references) == 60
    assert all(len(captions) == 5 for captions in references.captions)
    everything = [text.casefold() for captions in references.captions for text in captions]
    assert len(set(everything)) == 300
    assert all(6 <= len(text.split()) <= 18 for text in everything)


@pytest.mark.parametrize("system", ["good", "generic", "poor"])
def test_systems(system: str, references: CaptionFile) -> None:
    aligned = align(references, read(demo_path(system), "predictions"))
    assert aligned.left_out == 0
    for references_of_image, captions in zip(aligned.references, aligned.candidates):
        assert len(captions) == 1
        assert captions[0].casefold() not in {text.casefold().rstrip(".") for text in references_of_image}


def test_sampling(references: CaptionFile) -> None:
    aligned = align(references, read(demo_path("sampling"), "predictions"))
    assert all(len(set(captions)) == 10 for captions in aligned.candidates)


def test_objects(references: CaptionFile) -> None:
    rows = [json.loads(line) for line in demo_path("objects").read_text(encoding="utf-8").splitlines()]
    assert [str(row["image_id"]) for row in rows] == references.ids
    for row in rows:
        assert row["objects"] and len(set(row["objects"])) == len(row["objects"])
        assert set(row["objects"]) <= COCO_CLASSES


def test_the_systems_differ_in_quality_and_vocabulary(references: CaptionFile) -> None:
    """Count words shared with the references, without the metrics that the demo shows."""

    def words(text: str) -> set[str]:
        return set(text.lower().replace(".", "").replace(",", "").split()) - {
            "a",
            "an",
            "the",
            "of",
            "on",
            "in",
            "and",
        }

    reference_words = {
        image: set().union(*map(words, captions))
        for image, captions in zip(references.ids, references.captions)
    }
    precision, vocabulary = {}, {}
    for system in ("good", "generic", "poor"):
        file = read(demo_path(system), "predictions")
        hits = [
            len(words(captions[0]) & reference_words[image]) / len(words(captions[0]))
            for image, captions in zip(file.ids, file.captions)
        ]
        precision[system] = sum(hits) / len(hits)
        vocabulary[system] = len(set().union(*(words(captions[0]) for captions in file.captions)))
    assert min(precision["good"], precision["generic"]) > precision["poor"] + 0.3
    assert vocabulary["good"] > 1.5 * vocabulary["generic"]


def test_descriptions_have_several_sentences_and_invented_objects() -> None:
    corpus = captious.load(demo_path("references"), demo_path("descriptions"), subset=True)
    assert len(corpus) == 12 and corpus.candidates.lengths.mean() > 35
    statuses = [status for one in captious.explain(corpus, metric="ALOHa") for _, status in one.sentences]
    assert {"supported", "unsupported", "ambiguous"} <= set(statuses)
