"""The cells of docs/tutorials/example.ipynb run unchanged, with the results stated in its text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import captious
from captious.data import demo_path

NOTEBOOK = Path(__file__).parent.parent / "docs" / "tutorials" / "example.ipynb"


def _cells() -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_the_notebook_has_no_output() -> None:
    assert _cells() and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in _cells())


def test_the_example_runs() -> None:
    names: dict[str, Any] = {}
    for cell in _cells():
        exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), names)
    assert list(names["scores"]) == ["BLEU-4", "ROUGE-L", "CIDEr-D", "SPICE"]
    assert (
        names["low"]
        < captious.score(demo_path("references"), demo_path("good"), "CIDEr-D")["CIDEr-D"].value
        < names["high"]
    )
    values = names["scores"]["CIDEr-D"].per_image
    assert [values[image] for image in names["worst"]] == sorted(values.values())[:3]
    assert [row.ahead for row in names["comparisons"]] == ["good"] * 3
    assert ("girl", "sit at", "table") in {tuple(item) for item in names["graph"].tuples}
