"""A small set of judgements of our own, in the layout of the public data."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest


def write_rows(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder in the layout of the public data, with captions of our own."""
    images = {
        "1": ["a dog runs over the grass", "a brown dog is running"],
        "2": ["two women drink coffee", "women sit in a café"],
        "3": ["a boy kicks a ball", "a child plays football"],
    }
    rated = [
        ("1", "a dog is running on grass", [4, 4, 3], 1.0, False),
        ("1", "two women talk", [1, 1, 2], 0.0, False),
        ("2", "women drink coffee in a café", [4, 3, 4], 0.67, False),
        ("2", "two women drink coffee", [4, 4, 4], 1.0, True),
        ("3", "a dog kicks a ball", [2, 2, 1], 0.33, False),
    ]
    folder = tmp_path / "flickr8k"
    write_rows(folder / "captions.jsonl.gz", [{"image": i, "captions": c} for i, c in images.items()])
    write_rows(folder / "expert.jsonl.gz", [{"image": i, "caption": c, "scores": s, "own_reference": o} for i, c, s, _, o in rated])
    write_rows(
        folder / "crowdflower.jsonl.gz",
        [{"image": i, "caption": c, "frac_yes": f, "own_reference": o} for i, c, _, f, o in rated],
    )
    return tmp_path
