"""A small world for critics. People describe two things in many ways; a machine in one way, and often wrongly."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import NamedTuple

THINGS = ["dog", "cat", "sofa", "ball", "man", "boat"]
PEOPLE = [
    "a {a} lies next to the {b}",
    "the {b} and a {a} in bright light",
    "some {a} close to one {b}",
    "one {b} behind the {a} outside",
    "an old {a} with that {b}",
]
#: Words that the machine uses for every image.
MACHINE = "there is a picture of a {a} on a {b}"


class World(NamedTuple):
    objects: dict[str, list[str]]
    captions: dict[str, list[str]]
    machine: dict[str, str]
    samples: dict[str, list[str]]


def world(images: int = 60, seed: int = 0) -> World:
    rng = random.Random(seed)
    pairs = list(itertools.combinations(THINGS, 2))
    objects = {str(100 + i): list(pairs[rng.randrange(len(pairs))]) for i in range(images)}
    captions = {
        image: [text.format(a=a, b=b) for text in rng.sample(PEOPLE, 3)] for image, (a, b) in objects.items()
    }
    machine, samples = {}, {}
    for image in objects:
        a, b = rng.sample(THINGS, 2)
        machine[image] = MACHINE.format(a=a, b=b)
        samples[image] = [f"a {a} a {b} a the"]
    return World(objects, captions, machine, samples)


class Files(NamedTuple):
    references: Path
    machine: Path
    objects: Path
    samples: Path


def write(folder: Path, images: int = 60) -> Files:
    made = world(images)
    files = Files(*(folder / f"{name}.jsonl" for name in ("references", "machine", "objects", "samples")))
    _lines(files.references, ({"image_id": i, "captions": texts} for i, texts in made.captions.items()))
    _lines(files.machine, ({"image_id": i, "caption": text} for i, text in made.machine.items()))
    _lines(files.objects, ({"image_id": i, "objects": names} for i, names in made.objects.items()))
    _lines(files.samples, ({"image_id": i, "captions": texts} for i, texts in made.samples.items()))
    return files


def _lines(path: Path, rows: object) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))  # type: ignore[attr-defined]
