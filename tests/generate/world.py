"""A small world: images with a few objects, and captions that name them."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

THINGS = ["dog", "cat", "sofa", "ball", "man", "boat"]


def world(images: int = 60, seed: int = 0) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Objects and captions by image."""
    rng = random.Random(seed)
    pairs = list(itertools.combinations(THINGS, 2))
    objects = {str(i): list(pairs[rng.randrange(len(pairs))]) for i in range(images)}
    captions = {}
    for image, (a, b) in objects.items():
        captions[image] = [f"A {a} next to a {b}.", f"a {b} and a {a}", f"there is a {a} near the {b}"]
    return objects, captions


def write(folder: Path, images: int = 60) -> tuple[Path, Path]:
    """The same in files."""
    objects, captions = world(images)
    paths = folder / "objects.jsonl", folder / "captions.jsonl"
    paths[0].write_text(
        "".join(json.dumps({"image_id": i, "objects": names}) + "\n" for i, names in objects.items())
    )
    paths[1].write_text(
        "".join(json.dumps({"image_id": i, "captions": texts}) + "\n" for i, texts in captions.items())
    )
    return paths
