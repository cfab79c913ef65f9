"""How time and memory grow with the number of images: fresh processes, from COCO JSON files to numbers.

    python -m benchmarks.growth [--most 1000000] [--most-spice 100000] [--json OUT] [--plot OUT.svg]

Captions are recombined from real ones: the beginning of one and the end of another (made up where there are no data). Memory
is the peak of the process beyond that of a process that scores 50 images with the same metrics.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import coco
from benchmarks.process import Run, score

REFERENCES = 5
#: Metrics to measure, and which are measured up to how many images.
SETS = {"without SPICE": "lexical,METEOR", "with SPICE": "lexical,METEOR,SPICE"}
SIZES = (1_000, 10_000, 100_000, 1_000_000)


class Recombined:
    """Any number of captions, each the beginning of a real one and the end of another: as many as are asked for, quickly."""

    def __init__(self, seed: int = 0) -> None:
        references, predictions = coco()
        self.seed = seed
        self.references = _halves([text for own in references.values() for text in own])
        self.predictions = _halves(list(predictions.values()))

    def write(self, folder: Path, images: int) -> tuple[Path, Path]:
        """COCO's annotations and results, written as they are made."""
        files = folder / "references.json", folder / "results.json"
        draw = random.Random(self.seed)
        rows = (f'{{"image_id": {k // REFERENCES}, "id": {k}, "caption": {text}}}' for k, text in enumerate(_made(self.references, images * REFERENCES, draw)))
        _write(files[0], '{"info": {}, "licenses": [], "type": "captions", "images": [' + ", ".join(f'{{"id": {i}}}' for i in range(images)) + '], "annotations": [', rows, "]}")
        rows = (f'{{"image_id": {i}, "caption": {text}}}' for i, text in enumerate(_made(self.predictions, images, draw)))
        _write(files[1], "[", rows, "]")
        return files


def _halves(texts: list[str]) -> tuple[list[str], list[str]]:
    """Beginnings and ends, as the inside of JSON strings."""
    words = [text.split() for text in texts]
    quoted = [(json.dumps(" ".join(own[: len(own) // 2]))[1:-1], json.dumps(" ".join(own[len(own) // 2 :]))[1:-1]) for own in words if len(own) > 1]
    return [begin for begin, _ in quoted], [end for _, end in quoted]


def _made(halves: tuple[list[str], list[str]], count: int, draw: random.Random) -> Iterator[str]:
    begins, ends = halves
    size, step = len(begins), 100_000
    for start in range(0, count, step):
        here = min(step, count - start)
        for a, b in zip(draw.choices(range(size), k=here), draw.choices(range(size), k=here)):
            yield f'"{begins[a]} {ends[b]}"'


def _write(path: Path, head: str, rows: Iterator[str], tail: str) -> None:
    with path.open("w", encoding="utf-8", buffering=1 << 20) as out:
        out.write(head)
        out.write(next(rows))
        for row in rows:
            out.write(", ")
            out.write(row)
        out.write(tail)
