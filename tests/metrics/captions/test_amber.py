"""AMBER's measures: its files, matching, and the four formulas."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.core.errors import InputError, MissingInputError
from captious.io.amber_files import read_amber
from captious.metrics.captions.amber import Cover

ANNOTATION = [
    {"id": 1, "type": "generative", "truth": ["sky", "man", "ship", "ship"], "hallu": ["plane", "bird"]},
    {"id": 2, "type": "generative", "truth": ["grass", "sofa"], "hallu": ["dog", "ship"]},
    {"id": 3, "type": "discriminative-hallucination", "truth": "no"},
]
WORDS = {"ship": ["boat"], "grass": ["ground"], "sky": [], "orange": []}
#: 1: man, boat (a ship), plane (invented), no bird. 2: couch (a synonym), dog (invented), man (invented), orange (safe).
ANSWERS = [
    {
        "id": 1,
        "response": "A man stands on a boat. There is a plane in the distance, but there are no birds.",
    },
    {"id": 2, "response": "A dog lies on a couch with an orange. A man watches the dog."},
]
NAMES = "AMBER-CHAIR,Cover,Hal,Cog"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "annotations.json").write_text(json.dumps(ANNOTATION))
    (tmp_path / "relation.json").write_text(json.dumps(WORDS))
    (tmp_path / "safe_words.txt").write_text("orange\nline\n")
    return tmp_path


def rows_of(folder: Path, answers: list[dict[str, Any]] = ANSWERS) -> list[list[tuple[str, str, str]]]:
    corpus = captious.load(None, {row["id"]: row["response"] for row in answers})
    return [
        [(item.word, item.object, item.status) for item in rows] for rows in Cover(folder).objects(corpus)
    ]


def test_nouns_stand_for_objects(folder: Path) -> None:
    first, second = rows_of(folder)
    assert first == [
        ("man", "man", "matched"),
        ("boat", "ship", "matched"),
        ("plane", "plane", "hallucinated"),
        ("", "sky", "missed"),
    ]
    assert ("dog", "dog", "hallucinated") in second and ("orange", "", "unjudged") in second
    assert ("man", "", "hallucinated") in second and ("", "grass", "missed") in second


def test_the_formulas(folder: Path) -> None:
    predictions = folder / "answers.json"
    predictions.write_text(json.dumps(ANSWERS))
    scores = captious.score(None, predictions, NAMES, amber=folder)
    # Mentions: man, boat, plane; dog, orange, man, dog. "Couch" is not in the annotation's vocabulary.
    assert scores["AMBER-CHAIR"].value == pytest.approx(4 / 7)
    assert scores["Cover"].value == pytest.approx(2 / 5)
    assert scores["Hal"].value == 1.0
    assert scores["Cog"].value == pytest.approx(2 / 4)
    assert "amber:amber@" in scores["Cog"].signature


def test_synonyms_are_near_enough() -> None:
    near = {"1": {"truth": ["sofa"], "hallu": ["couch"]}, "2": {"truth": ["couch"], "hallu": []}}
    scores = captious.score(None, {"2": "A sofa."}, "Cover,Hal", amber=near)
    assert (scores["Cover"].value, scores["Hal"].value) == (1.0, 0.0)
    # An exact name of an invention is one, however near a true object is.
    assert captious.score(None, {"1": "A couch."}, "Hal", amber=near)["Hal"].value == 1.0


def test_compressed_folders_and_single_files(folder: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in ANNOTATION)
    (packed / "generative.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (packed / "relation.jsonl.gz").write_bytes(gzip.compress(json.dumps(WORDS).encode()))
    (packed / "safe_words.txt").write_text("orange\nline\n")
    assert read_amber(packed) == read_amber(folder)
    alone = read_amber(folder / "annotations.json")
    assert alone.images["1"] == (("sky", "man", "ship"), ("plane", "bird")) and alone.words == {}


def test_images_by_file_name(folder: Path) -> None:
    answers = [{"id": "AMBER_2.jpg", "response": "A dog."}]
    assert rows_of(folder, answers)[0][0] == ("dog", "dog", "hallucinated")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "no such row"),
        ('[{"id": 1}]', "row 1: AMBER's annotation is"),
        ('[{"id": 1, "truth": ["a"], "hallu": "b"}]', "row 1"),
        ('[{"id": 1, "truth": []}, {"id": 1, "truth": []}]', "image 1 has two rows"),
        ("7", "row 1"),
    ],
)
def test_bad_annotations_are_one_message(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "annotations.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_amber(path)


def test_what_is_missing_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="--amber"):
        captious.score(None, {"1": "a dog"}, "Cover")
    with pytest.raises(InputError, match="no row for image"):
        captious.score(None, {"9": "a dog"}, "Cover", amber=folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="needs the file annotations"):
        read_amber(tmp_path / "empty")
    (folder / "relation.json").write_text('{"ship": "boat"}')
    with pytest.raises(InputError, match="words per object"):
        read_amber(folder)


def test_coverage_of_chair_s_own_objects() -> None:
    """Distinct classes, pooled over images. Objects that the references name count as in the image."""
    references = {"1": ["a dog and a cat"], "2": ["a bus"]}
    predictions = {"1": "two dogs and another dog near a car", "2": "a street"}
    score = captious.score(references, predictions, "CHAIR-Cover", objects={"1": ["chair"], "2": []})
    assert score["CHAIR-Cover"].value == pytest.approx(1 / 4)
