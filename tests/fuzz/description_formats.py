"""Judgements of descriptions: nocaps-FOIL, ImageInWords and FAITHSCORE."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from captious.io.judgements import load_judgements
from captious.io.judgements.description_sets import AXES
from tests.fuzz.formats import Format, captions

Row = dict[str, Any]


def _foils() -> list[Row]:
    texts = captions(1_500)
    return [
        {
            "image_path": f"{i}.jpg",
            "references": texts[5 * i : 5 * i + 3],
            "baseline": f"{texts[5 * i + 3]} dog",
            "foil": f"{texts[5 * i + 3]} traffic light",
            "replacement": ["dog", "traffic light"],
            "domain": "near-domain",
        }
        for i in range(300)
    ]


def _side_by_sides() -> list[Row]:
    texts = captions(1_500)
    verdicts = ("IIW-Human is substantially better", "Neutral", "IIW-P5B is marginally better")
    return [
        {
            "image/key": f"aar_{i}",
            "IIW": texts[5 * i],
            "IIW-P5B": texts[5 * i + 1],
            "objects": [{"label": "dog", "description": text} for text in texts[5 * i + 2 : 5 * i + 5]],
            "iiw-human-sxs-iiw-p5b": {
                f"metrics/{axis}": verdicts[(i + k) % 3] for k, axis in enumerate(AXES)
            },
        }
        for i in range(300)
    ]


def _facts() -> list[Row]:
    texts = captions(1_500)
    return [
        {
            "id": f"{i + 1:012}",
            "answer": texts[5 * i],
            "references": texts[5 * i + 1 : 5 * i + 3],
            "stage 2": {texts[5 * i + 3]: 1, f"{texts[5 * i + 4]} {i}": 0},
        }
        for i in range(300)
    ]


def _write(name: str, rows: Callable[[], list[Row]], folder: Path) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    return path


def _read(name: str, path: Path) -> object:
    judged = load_judgements(f"{name}={path.parent}")
    return vars(judged) | {"protocol": str(judged.protocol)}


DESCRIPTIONS = {
    f"judgements, {title}": Format(partial(_write, file, rows), partial(_read, name))
    for title, name, file, rows in (
        ("nocaps-FOIL", "nocaps-foil", "foil.jsonl", _foils),
        ("ImageInWords", "imageinwords", "IIW-400.jsonl", _side_by_sides),
        ("FAITHSCORE", "faithscore", "faithscore.jsonl", _facts),
    )
}
