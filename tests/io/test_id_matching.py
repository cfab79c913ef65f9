"""References and predictions with matching ids, and with ids that do not match."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.core.errors import InputError
from captious.io import CaptionWarning, align, read

REFERENCES = {image: [f"a dog {image}", f"one dog {image}"] for image in range(10)}


def predictions(images: range) -> dict[int, str]:
    return {image: f"dog {image}" for image in images}


def both(references: object, predicted: object, subset: bool = False):
    return align(read(references, "references"), read(predicted, "predictions"), subset)


def test_order_is_that_of_the_references() -> None:
    ids, references, candidates, left_out = both(
        REFERENCES, {str(i): f"dog {i}" for i in reversed(range(10))}
    )
    assert ids == [str(i) for i in range(10)]
    assert references == list(REFERENCES.values())
    assert candidates == [[f"dog {i}"] for i in range(10)]
    assert left_out == 0


def test_missing_predictions() -> None:
    with pytest.raises(InputError) as caught:
        both(REFERENCES, predictions(range(3)))
    message = str(caught.value)
    assert "no prediction for 7 of the 10 images" in message
    assert "'3', '4', '5', '6', '7', … (7 in all)" in message
    assert "--subset" in message
    ids, references, candidates, left_out = both(REFERENCES, predictions(range(3)), subset=True)
    assert (ids, left_out) == (["0", "1", "2"], 7)
    assert references == [REFERENCES[i] for i in range(3)] and candidates == [[f"dog {i}"] for i in range(3)]


def test_unknown_ids() -> None:
    with pytest.raises(
        InputError, match=r"3 of the 13 images of <dict> are unknown to the references.*'10', '11', '12'\."
    ):
        both(REFERENCES, predictions(range(13)))
    with pytest.warns(CaptionWarning, match="3 predicted images are not among the references"):
        aligned = both(REFERENCES, predictions(range(13)), subset=True)
    assert len(aligned.ids) == 10 and aligned.left_out == 0


def test_missing_and_unknown() -> None:
    with pytest.raises(
        InputError, match=r"no prediction for 5 of the 10.*5 of the 10 images .* unknown.*5 common images"
    ):
        both(REFERENCES, predictions(range(5, 15)))


@pytest.mark.parametrize("subset", [False, True])
def test_nothing_in_common(subset: bool) -> None:
    named = {f"scene-{image}-day": "a dog" for image in range(10)}
    with pytest.raises(
        InputError,
        match=r"no image in common.*'0', '1', '2'.*scene-0-day.*write the ids the same way",
    ):
        both(REFERENCES, named, subset)
    with pytest.raises(InputError, match="no image in common") as caught:
        both(REFERENCES, {"cat": "a cat"}, subset)
    assert "same way" not in str(caught.value)


def test_swapped_files() -> None:
    samples = {image: [f"dog {image}", f"a dog {image}"] for image in range(10)}
    with pytest.raises(InputError, match="look swapped"):
        both(predictions(range(10)), samples)
    # One reference and several samples per image exist, but need an option.
    aligned = align(read(predictions(range(10)), "references"), read(samples, "predictions", several=True))
    assert aligned.candidates == list(samples.values())


def test_same_file_twice(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(predictions(range(10))))
    copy = tmp_path / "copy.json"
    copy.write_text(path.read_text())
    for other in (path, copy):
        with pytest.raises(InputError, match="hold the same captions"):
            both(path, other)
    # In Python, a perfect prediction is a fair experiment.
    assert both(predictions(range(10)), predictions(range(10))).left_out == 0


def results(*pairs: tuple[int, str]) -> list[dict[str, object]]:
    return [{"image_id": image, "caption": text} for image, text in pairs]


def test_several_rows_per_image_are_several_captions() -> None:
    sampled = results(*((image, f"{text} dog") for text in ("a", "one", "a") for image in range(5)))
    found = read(sampled, "predictions")
    assert found.several
    assert found.captions == [["a dog", "one dog", "a dog"]] * 5  # equal samples stay: diversity counts them


def test_few_repeated_ids_are_a_mistake() -> None:
    rows = results((1, "a"), (2, "b"), (3, "c"), (2, "d"), (4, "e"), (4, "e"))
    with pytest.raises(
        InputError, match=r"1 of 4 images have more than one row.*'2'.*row 2 'b', row 4 'd'.*several=True"
    ):
        read(rows, "predictions")
    assert read(rows, "predictions", several=True).captions == [["a"], ["b", "d"], ["c"], ["e", "e"]]
    assert read(rows, "references").captions == [["a"], ["b", "d"], ["c"], ["e", "e"]]


def test_repeated_rows_that_agree_count_once() -> None:
    rows = results((1, "a"), (2, "b"), (3, "c"), (2, "b"))
    with pytest.warns(CaptionWarning, match=r"1 images? ha(s|ve) the same caption in several rows.*'2'"):
        found = read(rows, "predictions")
    assert found.captions == [["a"], ["b"], ["c"]] and not found.several


def test_several_can_be_ruled_out() -> None:
    rows = results((1, "a"), (1, "b"), (2, "c"), (2, "d"))
    assert read(rows, "predictions").captions == [["a", "b"], ["c", "d"]]
    with pytest.raises(InputError, match="2 of 2 images"):
        read(rows, "predictions", several=False)
