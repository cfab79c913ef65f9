"""CHAIR: objects that captions name, objects of images, and the difference."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Captions, Corpus
from captious.io.object_files import read_objects
from captious.metrics.captions.chair import ChairI, ChairS, ImageObjects
from captious.metrics.captions.chair_table import default_table, read_table, singulars, table_from
from tests.conftest import read_jsonl


def words(caption: str) -> list[str]:
    return caption.split()


# Caption, and the objects that our own table finds in it.
NAMED = [
    ("a man eats a hot dog", ["person", "hot dog"]),
    ("two hot dogs and a dog", ["hot dog", "dog"]),
    ("a baby bear with its mother bear", ["bear", "bear"]),
    ("a baby beside a bear", ["person", "bear"]),
    ("a teddy bear on a bed", ["teddy bear", "bed"]),
    ("a toilet seat", ["toilet"]),
    ("a toilet with its seat up", ["toilet"]),
    ("a seat in a plane", ["chair", "airplane"]),
    ("men and women with children and mice", ["person", "person", "person", "mouse"]),
    ("knives forks and wine glasses", ["knife", "fork", "wine glass"]),
    ("a woman with glasses", ["person"]),
    ("buses in front of a bus stop", ["bus"]),
    ("a passenger train on train tracks", ["train"]),
    ("a batter at home plate", ["person"]),
    ("a cell phone and a phone booth", ["cell phone"]),
    ("an orange cat on a couch", ["cat", "couch"]),
    ("an orange on a table", ["orange", "dining table"]),
    ("slices of oranges", ["orange"]),
    ("kites in cloudy skies", ["kite"]),
    ("ponies puppies and calves", ["horse", "dog", "cow"]),
    ("a pair of skis and scissors", ["skis", "scissors"]),
    ("birds in a birds nest", ["bird"]),
    ("two birds and farmers at the farmers market", ["bird", "person"]),
    ("a bus stop sign beside a stop sign", ["stop sign"]),
    ("", []),
    ("quiet evening", []),
]


@pytest.mark.parametrize(("caption", "objects"), NAMED)
def test_our_own_table(caption: str, objects: list[str]) -> None:
    assert [mention.object for mention in default_table().mentions(caption.split())] == objects


def test_mentions_say_which_words() -> None:
    assert default_table().mentions(words("two hot dogs"))[0].text == "hot dogs"


def test_our_own_table_has_the_80_classes() -> None:
    assert len(default_table().objects) == 80


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("dogs", "dog"),
        ("buses", "bus"),
        ("couches", "couch"),
        ("women", "woman"),
        ("knives", "knife"),
        ("loaves", "loaf"),
        ("ponies", "pony"),
        ("ties", "tie"),
        ("geese", "goose"),
        ("children", "child"),
        ("tomatoes", "tomato"),
    ],
)
def test_singulars(plural: str, singular: str) -> None:
    assert singular in singulars(plural)


@pytest.mark.parametrize("word", ["", "s", "as", "glass", "ski", "dog"])
def test_no_singular_of_a_singular(word: str) -> None:
    assert singulars(word) == []


REFERENCES = [["a dog on a couch"], ["a man rides a horse"], ["the sea"]]
CANDIDATES = [["a cat and a dog on a couch"], ["a man rides a horse"], ["waves"]]
OBJECTS = {"a": ["dog"], "b": ["person", "horse", "cat"], "c": []}


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.build(["a", "b", "c"], CANDIDATES, REFERENCES)


def test_chair(corpus: Corpus) -> None:
    scores = captious.score(corpus, ["CHAIRs", "CHAIRi"], objects=OBJECTS)
    assert scores["CHAIRs"].value == pytest.approx(1 / 3)
    assert scores["CHAIRi"].value == pytest.approx(1 / 5)
    assert not scores["CHAIRi"].metric.higher_is_better
    assert scores["CHAIRi"].per_image["a"] == pytest.approx(1 / 3)
    # The couch is in a reference, not in a list of objects.
    assert [m.object for m in ChairI(OBJECTS).mentions(corpus)[0].hallucinated] == ["cat"]


def test_signatures_name_objects_and_table(corpus: Corpus) -> None:
    alone, given = (
        captious.score(corpus, "CHAIRs", objects=o)["CHAIRs"].signature.fields for o in (None, OBJECTS)
    )
    assert alone["objects"] == "references"
    assert alone["synonyms"] == given["synonyms"] == f"captious@{ChairI().table.digest}"
    assert given["objects"] == f"objects@{ChairI(OBJECTS).objects.digest}"
    # References count in addition to the passed objects.
    assert alone["refs"] == given["refs"] == f"3x1@{corpus.references.digest}"


def test_no_objects_named_is_no_division() -> None:
    corpus = Corpus.build(["a"], [["waves"]], [["the sea"]])
    assert captious.score(corpus, "CHAIRs")["CHAIRs"].value == 0.0


def _write(path: Path, value: Any, lines: bool = False) -> Path:
    text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_formats_of_objects(tmp_path: Path, corpus: Corpus) -> None:
    rows = [{"image_id": image, "objects": names} for image, names in OBJECTS.items()]
    instances = {
        "images": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
        "categories": [
            {"id": 1, "name": "dog"},
            {"id": 2, "name": "person"},
            {"id": 3, "name": "horse"},
            {"id": 4, "name": "cat"},
        ],
        "annotations": [
            {"image_id": i, "category_id": c} for i, c in [("a", 1), ("b", 2), ("b", 3), ("b", 4), ("b", 4)]
        ],
    }
    files = [
        _write(tmp_path / "rows.jsonl.gz", rows, lines=True),
        _write(tmp_path / "rows.json", rows),
        _write(tmp_path / "map.json", OBJECTS),
        _write(tmp_path / "instances.json", instances),
    ]
    values = [captious.score(corpus, "CHAIRi", objects=file)["CHAIRi"] for file in files]
    assert {score.value for score in values} == {0.2}
    assert len({score.signature for score in values}) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello", "line 1: not JSON"),
        ("3", "objects per image are"),
        ('{"image_id": 1}', "row 1: expected an image_id"),
        ('[{"image_id": 1, "objects": "dog"}]', "row 1: expected an image_id"),
        ('{"annotations": [{"image_id": 1}], "categories": []}', "COCO instances need"),
    ],
)
def test_bad_objects(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "objects.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as error:
        read_objects(path)
    assert str(path) in str(error.value)


def test_missing_images_and_unknown_objects(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="no entry for image c"):
        captious.score(corpus, "CHAIRs", objects={"a": ["dog"], "b": []})
    with pytest.raises(InputError, match="'hors' is not in the synonym table; did you mean 'horse'"):
        captious.score(corpus, "CHAIRs", objects={**OBJECTS, "a": ["hors"]})


def test_a_table_of_ones_own() -> None:
    table = table_from({"pet": ["dog", "cat"], "guide dog": ["seeing eye dog"]})
    assert [m.object for m in table.mentions(words("a seeing eye dog and two cats"))] == ["guide dog", "pet"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "a synonym table is"),
        ({}, "a synonym table is"),
        ({"dog": "hound"}, "a synonym table is"),
        ({"dog": ["pet"], "cat": ["pet"]}, "listed for 'dog' and for 'cat'"),
        ({"format": "captious-chair", "version": 7, "objects": {"dog": []}}, "version 7"),
        ({"format": "captious-chair", "version": 1, "objects": {"dog": []}, "none": "x"}, "lists of words"),
        ({"inverse_synonym_dict": [1]}, "map words to words"),
    ],
)
def test_bad_tables(value: Any, message: str, tmp_path: Path) -> None:
    path = _write(tmp_path / "table.json", value)
    with pytest.raises(InputError, match=message) as error:
        read_table(path)
    assert str(path) in str(error.value)


def test_a_table_in_the_published_shape() -> None:
    table = table_from(
        {
            "inverse_synonym_dict": {
                "": "",
                "dog": "dog",
                "plate": "plate",
                "train": "train",
                "toilet": "toilet",
                "seat": "chair",
                "tie": "tie",
            },
            "double_word_dict": {
                "home plate": "home plate",
                "baby dog": "dog",
                "toilet seat": "toilet",
                "bow tie": "tie",
                "a b c": "x",
            },
        }
    )
    assert [m.object for m in table.mentions(words("baby dogs at home plate with plates"))] == [
        "dog",
        "plate",
    ]
    assert [m.object for m in table.mentions(words("the seat of a toilet"))] == ["toilet"]


@pytest.mark.shared
def test_published_table_and_objects(shared_data: Path) -> None:
    """Our reading of the references adds nothing to the published objects.

    The values for a published system are of the size that Rohrbach et al. report.
    """
    table = read_table(shared_data / "coco" / "chair_synonyms.json")
    objects = ImageObjects(read_objects(shared_data / "coco" / "objects.jsonl.gz"))
    rows = {
        str(row["image_id"]): row["captions"]
        for row in read_jsonl(shared_data / "coco" / "references.jsonl.gz")
    }
    ids = list(rows)[:2500]
    references = Captions.of([rows[image] for image in ids])
    offsets, kinds = objects.kinds(ids, table)
    truth = [{table.kinds[kind] for kind in kinds[a:b].tolist()} for a, b in pairwise(offsets.tolist())]
    added = [
        (references.texts[i], mention)
        for i in range(len(references))
        for mention in table.mentions(references.words(i))
        if mention.object not in truth[references.image_of[i]]
    ]
    assert added == []
    system = {
        str(row["image_id"]): row["caption"]
        for row in read_jsonl(shared_data / "coco" / "systems" / "Vinyals-et-al-2017.jsonl.gz")
    }
    corpus = Corpus.build(ids, [[system[image]] for image in ids], [rows[image] for image in ids])
    by_object, by_caption = ChairI(objects, table), ChairS(objects, table)
    assert 0.08 < float(by_object.value(by_object.statistics(corpus, None).sum(0))) < 0.15
    assert 0.10 < float(by_caption.value(by_caption.statistics(corpus, None).sum(0))) < 0.20
