"""The likelihood test, and captions with the probability of each word as colour."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from captious.cli.app import app
from captious.core.errors import InputError
from captious.figures import word_colours
from captious.io import CaptionWarning
from captious.metrics.captions.chair import ChairS
from captious.rerank import GenericCaptions
from captious.rerank.likelihood import commonest, distractors, likelihood_test, p_of_difference, to_score
from captious.rerank.nbest import NBest
from captious.results.references import References

REFERENCES = {
    "1": ["A dog runs on the grass.", "a dog", "a dog with a ball"],
    "2": ["a man rides a horse", "a man on a horse"],
    "3": ["a cat and a dog", "two pets"],
}
GENERIC = ["a dog runs", "a man rides a horse"]


def test_the_commonest_captions() -> None:
    texts = ["A dog.", "a dog", "a cat", "A cat!", "the cat", "", "a dog"]
    assert commonest(texts, 2) == [("a dog", 3), ("a cat", 2)]
    with pytest.raises(InputError, match="at least 1"):
        commonest(texts, 0)


def test_a_distractor_names_what_is_not_there() -> None:
    known = References.read(REFERENCES)
    wrong = distractors(known, GENERIC, ChairS())
    assert wrong == {"1": ["a man rides a horse"], "2": ["a dog runs"], "3": ["a man rides a horse"]}
    # Objects that are in the image are no hallucinations.
    objects = {"1": ["person", "horse", "dog", "sports ball"], "2": [], "3": []}
    assert distractors(known, GENERIC, ChairS(objects))["1"] == []


def test_a_caption_that_occurs_once_is_no_distractor(tmp_path: Path) -> None:
    """Unrepeated captions are refused, also from the command line; too few repeated ones give a warning."""
    references, training = tmp_path / "refs.json", tmp_path / "training.json"
    references.write_text(json.dumps(REFERENCES))
    with pytest.raises(InputError, match=r"no caption that occurs more than once.*--training CAPTIONS"):
        GenericCaptions.find(references)
    out = tmp_path / "need.jsonl"
    done = CliRunner().invoke(app, ["likelihood", str(references), "--write", str(out)])
    assert isinstance(done.exception, InputError) and not out.exists()
    texts = ["a man rides a horse", "A man rides a horse.", "a dog runs", "a dog runs", "a zebra"]
    training.write_text(json.dumps({"7": texts}))
    assert GenericCaptions.find(references, training, common=2).commonest == [
        ("a dog runs", 2),
        ("a man rides a horse", 2),
    ]
    with pytest.warns(
        CaptionWarning, match="only 2 of the 3 most frequent captions of .*training.json occur"
    ):
        generic = GenericCaptions.find(references, training, common=3)
    assert [text for text, _ in generic.commonest] == ["a dog runs", "a man rides a horse"]
    training.write_text(json.dumps({"7": ["a zebra"]}))
    with pytest.raises(InputError, match="pass more training captions"):
        GenericCaptions.find(references, training)


def scored(values: dict[str, dict[str, float]]) -> NBest:
    return NBest.of(
        [
            {"image_id": image, "captions": list(own), "logprobs": list(own.values())}
            for image, own in values.items()
        ]
    )


def values(one: float, two: float, three: float) -> dict[str, dict[str, float]]:
    """log P of the distractors; human captions have −10, −12, −14."""
    found = {}
    for image, wrong, value in (("1", GENERIC[1], one), ("2", GENERIC[0], two), ("3", GENERIC[1], three)):
        found[image] = {**{text: -10.0 - 2 * k for k, text in enumerate(REFERENCES[image])}, wrong: value}
    return found


def test_shares() -> None:
    known = References.read(REFERENCES)
    wrong = distractors(known, GENERIC, ChairS())
    assert [row["image_id"] for row in to_score(known, wrong)] == ["1", "2", "3"]
    lists = scored(values(-13.0, -20.0, -9.0))
    found = likelihood_test(lists, lists.log_p(), known, wrong)
    # Image 1: likelier than the third of three; 2: than none; 3: than all.
    assert found.fooled.tolist() == [True, False, True] and found.fooled_by_all.tolist() == [
        False,
        False,
        True,
    ]
    assert found.pairs == pytest.approx([1 / 3, 0, 1])
    share, low, high = found.shares()["some"]
    assert share == pytest.approx(2 / 3) and low <= share <= high
    assert found.to_json()["images"] == 3
    # An equal likelihood is not a higher one.
    even = scored(values(-14.0, -20.0, -9.0))
    assert likelihood_test(even, even.log_p(), known, wrong).fooled.tolist() == [False, False, True]
    assert p_of_difference(found, found) == 1.0


def test_images_without_a_wrong_caption_are_left_out() -> None:
    known = References.read(REFERENCES)
    lists = scored(values(-13.0, -20.0, -9.0))
    found = likelihood_test(lists, lists.log_p(), known, {"1": [GENERIC[1]], "2": [], "3": []})
    assert found.ids == ("1",) and found.left_out == 2
    with pytest.raises(InputError, match="no image has a certainly wrong distractor"):
        likelihood_test(lists, lists.log_p(), known, {})


def test_a_missing_caption_is_named() -> None:
    known = References.read(REFERENCES)
    lists = scored({image: dict.fromkeys(texts, -1.0) for image, texts in REFERENCES.items()})
    with pytest.raises(InputError, match="no log P of 'a zebra'"):
        likelihood_test(lists, lists.log_p(), known, {"2": ["a zebra"]})
    with pytest.raises(InputError, match="no captions of image '3'"):
        part = scored({"1": {"a": -1.0}})
        likelihood_test(part, part.log_p(), known, {"3": ["a zebra"]})


# Colours

HOSTILE = "<script>alert('&')</script>\x1b[31m\u202e"
LINES = [
    word_colours.WordLine("a dog", ["a", "dog"], [math.log(0.5), math.log(1e-6), -0.01]),
    word_colours.WordLine(HOSTILE, [HOSTILE, "]]>"], [-1.0, -2.0]),
]


def test_colours_go_from_white_to_full() -> None:
    assert word_colours.colour(0.0) == (255, 255, 255) and word_colours.colour(-1e9) == (
        213,
        94,
        0,
    ) == word_colours.colour(math.log(1e-4))
    greens = [word_colours.colour(value)[1] for value in np.linspace(0, math.log(1e-4), 20)]
    assert greens == sorted(greens, reverse=True) and len(set(greens)) == 20
    assert word_colours.shown(math.log(0.5)) == "0.50" and word_colours.shown(math.log(2e-5)) == "2e-5"


def test_text_of_others_is_escaped_everywhere() -> None:
    html, svg = word_colours.as_html(LINES, HOSTILE), word_colours.as_svg(LINES)
    assert (
        "<script>" not in html
        and "<script>" not in svg
        and "\x1b" not in html + svg
        and "\u202e" not in html + svg
    )
    root = ET.fromstring(svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert (
        "dog" in texts
        and "1e-6" in texts
        and word_colours.END in texts
        and any("<script>" in (text or "") for text in texts)
    )
    assert html.count('class="w"') == 5 and "rgb(213, 94, 0)" in html and 'fill="rgb(213, 94, 0)"' in svg
    shown = word_colours.terminal(LINES)
    assert (
        "\x1b" not in shown.plain
        and "dog" in shown.plain
        and any("rgb(213,94,0)" in str(span.style) for span in shown.spans)
    )
    with pytest.raises(ValueError, match="2 words and 4 values"):
        word_colours.WordLine("x", ["a", "b"], [0.0] * 4).cells()
