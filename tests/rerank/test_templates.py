"""Captions from objects by a template."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from captious.core.errors import InputError
from captious.metrics.registry import make_measures
from captious.rerank.templates import (
    captions,
    curve,
    read_detected,
    template,
    template_captions,
    template_curves,
    vocabulary,
)
from captious.results.references import References

DETECTED = {
    "1": {"tennis ball": 0.9, "court": 0.9, "person": 0.4},
    "2": {"person": 0.8, "apple": 0.3},
    "3": {"person": 0.2, "court": 0.1},
    "4": {},
}


def test_the_sentence() -> None:
    assert template(["tennis ball", "court", "person"]) == "there is a tennis ball, court and person"
    assert (
        template(["apple"]) == "there is an apple"
        and template(["a", "b"]) == "there is an a and b"
        and template([]) == ""
    )


def test_vocabulary_threshold_and_number() -> None:
    assert vocabulary(DETECTED, 2) == ["person", "court"] and len(vocabulary(DETECTED, 99)) == 4
    assert (
        captions(DETECTED, 99)["1"] == "there is a court, tennis ball and person"
    )  # the surest first, and of these the commonest
    assert captions(DETECTED, 1) == {
        "1": "there is a person",
        "2": "there is a person",
        "3": "there is a person",
        "4": "",
    }
    assert captions(DETECTED, 99, threshold=0.5) == {
        "1": "there is a court and tennis ball",
        "2": "there is a person",
        "3": "",
        "4": "",
    }
    assert captions(DETECTED, 99, most=1)["2"] == "there is a person"
    for bad in ({"size": 0}, {"size": 3, "most": 0}):
        with pytest.raises(InputError):
            captions(DETECTED, **bad)  # type: ignore[arg-type]


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "o.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {"image_id": image, "objects": [*own, *own], "scores": [*own.values(), *(0.05 for _ in own)]}
            )
            + "\n"
            for image, own in DETECTED.items()
        )
    )
    assert read_detected(path) == DETECTED
    path.write_text(
        json.dumps(
            [
                {"image_id": image, "objects": list(own), "scores": list(own.values())}
                for image, own in DETECTED.items()
            ]
        )
    )
    assert read_detected(path) == DETECTED
    path.write_text('{"image_id": 1, "objects": ["dog", "cat"]}\n{"image_id": 2, "objects": []}\n')
    assert read_detected(path) == {"1": {"cat": 1.0, "dog": 1.0}, "2": {}}
    for text, said in (
        ('{"image_id": 1, "objects": ["dog"], "scores": []}', "1 captions but 0 scores"),
        (
            '{"image_id": 1, "objects": ["dog"], "scores": [1]}\n'
            '{"image_id": 1, "objects": [], "scores": []}',
            "more than once",
        ),
        ('{"image_id": 1, "objects": "dog", "scores": [1]}', "objects are lines"),
        ('{"image_id": 1, "objects": ["dog"], "scores": [NaN]}', "finite"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=said):
            read_detected(path)


def test_curves_are_scores_of_the_captions(tmp_path: Path) -> None:
    import captious

    references = {
        "1": ["a person on a tennis court"],
        "2": ["a person with an apple", "somebody eats"],
        "3": ["a court"],
    }
    detected = {image: DETECTED[image] for image in references}
    points = curve(
        detected, References.read(references), make_measures("BLEU-1,ROUGE-L", {}), (1, 4), most=(1, None)
    )
    assert [(p.vocabulary, p.most) for p in points] == [(1, 1), (1, None), (4, 1), (4, None)]
    made = captions(detected, 4)
    assert points[-1].values["BLEU-1"] == pytest.approx(
        captious.score(references, made, "BLEU-1")["BLEU-1"].value
    )
    assert points[0].length == 4 and points[-1].length == pytest.approx((8 + 6 + 6) / 3)
    system = tmp_path / "ours.json"
    system.write_text(json.dumps(template_captions(detected, 4)))
    result = template_curves(
        detected, references, [system], sizes=(1, 4), most=(1, None), metrics="BLEU-1,ROUGE-L"
    )
    assert result.points == points and result.systems["ours"].values == points[-1].values
    assert [row.get("system") for row in result.to_json()] == [None] * 4 + ["ours"]
    (tmp_path / "b").mkdir()
    other = shutil.copy(system, tmp_path / "b")
    both = template_curves(detected, references, [system, other], metrics="BLEU-1").systems
    assert list(both) == [f"{tmp_path.name}/ours", "b/ours"]
    with pytest.raises(InputError, match="1 of 1 images of the references have no objects"):
        curve(detected, References.read({"9": ["a"]}), make_measures("BLEU-1", {}))
    pytest.importorskip("matplotlib")
    from captious.figures import rerank_plots

    assert rerank_plots.write_curves(points, {"a <system> $x$": points[0]}, tmp_path)[0].stat().st_size > 1000
