"""Small sets of judgements of our own, in every published layout."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

#: image → references; image → (rated caption, its author's image, three experts, share of yes).
IMAGES = {
    "1": ["a dog runs over the grass", "a brown dog is running"],
    "2": ["two women drink coffee", "women sit in a café"],
    "3": ["a boy kicks a ball", "a child plays football"],
}
RATED = [
    ("1", "a dog is running on grass", [4, 4, 3], 1.0, False),
    ("1", "two women talk", [1, 1, 2], 0.0, False),
    ("2", "women drink coffee in a café", [4, 3, 4], 0.67, False),
    ("2", "two women drink coffee", [4, 4, 4], 1.0, True),
    ("3", "a dog kicks a ball", [2, 2, 1], 0.33, False),
]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder in the layout of the public data, with captions of our own."""
    folder = tmp_path / "flickr8k"
    write_rows(folder / "captions.jsonl.gz", [{"image": i, "captions": c} for i, c in IMAGES.items()])
    write_rows(
        folder / "expert.jsonl.gz",
        [{"image": i, "caption": c, "scores": s, "own_reference": o} for i, c, s, _, o in RATED],
    )
    write_rows(
        folder / "crowdflower.jsonl.gz",
        [{"image": i, "caption": c, "frac_yes": f, "own_reference": o} for i, c, _, f, o in RATED],
    )
    return tmp_path


NOUNS = ["dog", "cat", "man", "woman", "boy", "girl", "horse", "bird"]
VERBS = ["runs", "sits", "sleeps", "jumps", "eats", "stands"]
PLACES = ["on the grass", "in a street", "on a beach", "in the kitchen", "near a tree", "by the water"]


def sentence(generator: np.random.Generator) -> str:
    return f"a {generator.choice(NOUNS)} {generator.choice(VERBS)} {generator.choice(PLACES)}"


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Own judgements as JSON lines: 60 images, captions by three systems that mix two of an image's words
    with others, rated by two judges after how much they share with the first reference.
    """
    generator = np.random.default_rng(3)
    rows = []
    for image in range(60):
        references = [sentence(generator) for _ in range(4)]
        for system, keep in (("careful", 0.8), ("sloppy", 0.4), ("random", 0.0)):
            words = [
                w if generator.random() < keep else v
                for w, v in zip(references[0].split(), sentence(generator).split())
            ]
            shared = len(set(words) & set(references[0].split()))
            ratings = [int(np.clip(shared - 1 + generator.integers(-1, 2), 1, 5)) for _ in range(2)]
            rows.append(
                {
                    "image": f"img{image}",
                    "system": system,
                    "caption": " ".join(words),
                    "references": references,
                    "ratings": ratings,
                }
            )
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
