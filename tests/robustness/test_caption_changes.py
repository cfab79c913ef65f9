"""How metrics react to changes of one caption."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from captious.cli.app import app
from captious.core.errors import InputError
from captious.robustness import caption_changes

#: The captions of Table 1 of Wang & Chan (2019).
PRINTED = {
    "reference": "a group of people are playing football on a grass covered field",
    "same": {
        "word": "a couple of boys are playing soccer on a grass covered field",
        "phrase": "some guys are playing football on a grassy ground",
        "sentence": "on a grass covered field a group of people are playing football",
        "redundancy": "a group of people in red soccer suits are playing football on a grass covered field",
        "conciseness": "a group of people are playing football",
    },
    "different": {"semantic": "a group of people are watching TV"},
}
#: BLEU-1 to BLEU-4, METEOR and ROUGE-L as printed there.
TABLE = {
    "word": (0.750, 0.584, 0.468, 0.388, 0.387, 0.750),
    "phrase": (0.417, 0.389, 0.357, 0.317, 0.310, 0.489),
    "sentence": (1.000, 0.953, 0.899, 0.834, 0.581, 0.583),
    "redundancy": (0.716, 0.683, 0.644, 0.598, 0.429, 0.836),
    "conciseness": (0.583, 0.564, 0.542, 0.516, 0.526, 0.774),
    "semantic": (0.417, 0.389, 0.357, 0.317, 0.270, 0.553),
}
LEXICAL = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L")


def test_the_printed_table_comes_out_with_the_sides_swapped() -> None:
    result = caption_changes(PRINTED, LEXICAL, preset="as-published")
    for name, printed in TABLE.items():
        assert [result.rows[name][metric] for metric in LEXICAL] == pytest.approx(printed, abs=0.0012), name
    # The printed average of ROUGE, .693, is that of BLEU-1: the five rows above it have .686.
    printed_average = (0.693, 0.635, 0.582, 0.531, 0.447, 0.686)
    assert [result.average[metric] for metric in LEXICAL] == pytest.approx(printed_average, abs=0.0015)
    assert result.rows["reference"]["BLEU-4"] == pytest.approx(1.0)
    plain = caption_changes(PRINTED, LEXICAL)
    assert abs(plain.rows["conciseness"]["METEOR"] - 0.526) > 0.1
    assert plain.rows["word"]["BLEU-4"] == pytest.approx(0.388, abs=0.001)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "expected"),
        ({"reference": "a dog", "same": []}, "'same' holds something else"),
        ({"reference": "a dog", "different": {"x": "a cat"}}, "no change in 'same'"),
        ({"reference": "a dog", "same": {"x": "a dog"}, "different": {"x": "a cat"}}, "called 'x'"),
    ],
)
def test_mistakes(source: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        caption_changes(source, "BLEU-1")


def test_cider_needs_document_frequencies() -> None:
    with pytest.raises(InputError, match="--df"):
        caption_changes(PRINTED, "CIDEr-D")
    with pytest.raises(InputError, match="unknown preset"):
        caption_changes(PRINTED, "BLEU-1", preset="mine")


def test_command(tmp_path: Path) -> None:
    path, out = tmp_path / "changes.json", tmp_path / "out.json"
    path.write_text(json.dumps(PRINTED), encoding="utf-8")
    arguments = ["changes", str(path), "-m", "BLEU-1,ROUGE-L", "--preset", "as-published"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0 and "0.836" in done.output and "average" in done.output
    assert CliRunner().invoke(app, [*arguments, "--json", str(out)]).exit_code == 0
    loaded = json.loads(out.read_text(encoding="utf-8"))
    assert loaded["swapped"] and loaded["scores"]["sentence"]["BLEU-1"] == pytest.approx(1.0)
