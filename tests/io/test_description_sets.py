"""HAT, nocaps-FOIL, ImageInWords and FAITHSCORE, in files that the tests make, and messages for bad ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from captious.core.errors import InputError
from captious.io.judgements import CaptionPairs, RatedCaptions, load_judgements

HAT_ROW: dict[str, Any] = {
    "caption": "A dog with a red hat.",
    "grounding": [["A", False], ["dog", False], ["with", False], ["a", False], ["red", True], ["hat.", True]],
    "contains_hallucination": True,
    "image_path": "COCO_val2014_000000000042.jpg",
    "references": ["a dog runs", "a brown dog"],
}
FOIL_ROW: dict[str, Any] = {
    "image_path": "00a.jpg",
    "references": ["a man beside a car"],
    "baseline": "a man and a car",
    "foil": "a man and a traffic light",
    "replacement": ["car", "traffic light"],
    "domain": "near-domain",
}
AXES = ["Comprehensiveness", "Specificity", "Hallucination", "First few line(s) as tldr", "Human Like"]
IIW_ROW: dict[str, Any] = {
    "IIW": "A dog sleeps on a long green sofa.",
    "IIW-P5B": "A cat sleeps.",
    "iiw-human-sxs-iiw-p5b": {
        f"metrics/{axis}": verdict
        for axis, verdict in zip(
            AXES,
            [
                "IIW-Human is substantially better",
                "IIW-Human is marginally better",
                "Neutral",
                "IIW-P5B is marginally better",
                "IIW-P5B is substantially better",
            ],
        )
    },
    "image/key": "aar_1",
    "objects": [{"label": "dog", "description": "A brown dog."}, {"label": "sofa", "description": "Green."}],
}
FAITH_ROW: dict[str, Any] = {
    "id": "000000000042",
    "answer": "A dog and a cat.",
    "stage 2": {"There is a dog.": 1, " There is a cat.": 0},
}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_hat(tmp_path: Path) -> None:
    right = {**HAT_ROW, "caption": "A dog.", "grounding": [["A", False]], "contains_hallucination": False}
    write(tmp_path / "hat" / "hat.jsonl", HAT_ROW, right)
    judged = load_judgements("hat", tmp_path)
    assert isinstance(judged, RatedCaptions)
    assert judged.images == ["42", "42"] and judged.ratings == [[0.0], [1.0]]
    assert judged.wrong_words == [["red", "hat."], []] and judged.protocol.coefficient == "ap"


def test_hat_takes_references_of_coco(tmp_path: Path) -> None:
    bare = {key: value for key, value in HAT_ROW.items() if key != "references"}
    write(tmp_path / "hat" / "hat.jsonl", bare, {**bare, "image_path": "COCO_val2014_000000000043.jpg"})
    write(tmp_path / "coco" / "references.jsonl", {"image_id": 42, "captions": ["a dog"]})
    judged = load_judgements("hat", tmp_path)
    assert isinstance(judged, RatedCaptions)
    assert judged.references == [["a dog"]] and judged.left_out == 1


def test_foil_and_its_pairs(tmp_path: Path) -> None:
    write(tmp_path / "nocaps_foil" / "pairs.jsonl", FOIL_ROW, {**FOIL_ROW, "domain": "in-domain"})
    judged = load_judgements("nocaps-foil", tmp_path)
    assert isinstance(judged, RatedCaptions) and judged.ratings == [[1.0], [0.0]] * 2
    assert judged.wrong_words is not None
    assert judged.wrong_words[:2] == [[], ["traffic light", "traffic", "light"]]
    assert judged.categories == ["near-domain"] * 2 + ["in-domain"] * 2
    pairs = load_judgements("nocaps-foil-pairs", tmp_path)
    assert isinstance(pairs, CaptionPairs) and pairs.margins.tolist() == [1, 1]
    assert pairs.first[0] == FOIL_ROW["baseline"] and pairs.second[0] == FOIL_ROW["foil"]


def test_side_by_sides(tmp_path: Path) -> None:
    without_text = {key: value for key, value in IIW_ROW.items() if key != "IIW-P5B"}
    write(tmp_path / "imageinwords" / "IIW-400.jsonl", IIW_ROW, without_text)
    judged = load_judgements("imageinwords", tmp_path)
    assert isinstance(judged, CaptionPairs) and len(judged) == 5
    assert judged.margins.tolist() == [1.0, 0.5, 0.0, -0.5, -1.0]
    assert judged.references[0] == ["A brown dog.", "Green."]
    assert set(judged.categories) == {"comprehensive", "specific", "hallucination", "summary", "human-like"}
    docci = {"IIW": "A dog.", "DOCCI": "A cat.", "image": "t1"} | {f"metrics/{a}": "Neutral" for a in AXES}
    write(tmp_path / "imageinwords" / "DOCCI_Test.jsonl", docci)
    plain = load_judgements("imageinwords-docci", tmp_path)
    assert isinstance(plain, CaptionPairs) and not any(plain.references) and not plain.margins.any()


def test_faithscore(tmp_path: Path) -> None:
    write(tmp_path / "faithscore" / "annotation.jsonl", FAITH_ROW, {**FAITH_ROW, "id": "000000000043"})
    write(tmp_path / "coco" / "references.jsonl", {"image_id": 42, "captions": ["a dog"]})
    judged = load_judgements("faithscore", tmp_path)
    assert isinstance(judged, RatedCaptions) and judged.left_out == 2
    assert judged.captions == ["There is a dog.", "There is a cat."] and judged.ratings == [[1.0], [0.0]]


@pytest.mark.parametrize(
    ("name", "file", "row", "message"),
    [
        ("hat", "hat/hat.jsonl", {**HAT_ROW, "grounding": ["A"]}, "a list of \\[word, true if wrong\\]"),
        ("hat", "hat/hat.jsonl", {**HAT_ROW, "contains_hallucination": 7}, "must be true or false"),
        ("hat", "hat/hat.jsonl", {**HAT_ROW, "caption": 3}, "'caption' must be text"),
        ("nocaps-foil", "nocaps_foil/pairs.jsonl", {**FOIL_ROW, "replacement": ["car"]}, "its foil"),
        ("nocaps-foil", "nocaps_foil/pairs.jsonl", {**FOIL_ROW, "foil": None}, "no field 'foil'"),
        ("imageinwords", "imageinwords/IIW-400.jsonl", {**IIW_ROW, "objects": []}, "'description'"),
        (
            "imageinwords",
            "imageinwords/IIW-400.jsonl",
            {**IIW_ROW, "iiw-human-sxs-iiw-p5b": {f"metrics/{AXES[0]}": "IIW wins"}},
            "unknown verdict 'IIW wins' on 'Comprehensiveness'",
        ),
        ("imageinwords", "imageinwords/IIW-400.jsonl", {**IIW_ROW, "iiw-human-sxs-iiw-p5b": 3}, "an object"),
        ("faithscore", "faithscore/annotation.jsonl", {**FAITH_ROW, "stage 2": {"a": "yes"}}, "1 \\(true\\)"),
    ],
)
def test_gone_wrong(tmp_path: Path, name: str, file: str, row: dict[str, Any], message: str) -> None:
    write(tmp_path / "coco" / "references.jsonl", {"image_id": 42, "captions": ["a dog"]})
    write(tmp_path / file, row)
    with pytest.raises(InputError, match=message) as problem:
        load_judgements(name, tmp_path)
    assert "line 1" in str(problem.value)


@pytest.mark.parametrize("name", ["hat", "nocaps-foil", "imageinwords", "imageinwords-docci", "faithscore"])
def test_missing_files_say_where_to_get_them(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="get it from"):
        load_judgements(name, tmp_path)
