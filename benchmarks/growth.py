"""How time and memory grow with the number of images: fresh processes, from COCO JSON files to numbers.

    python -m benchmarks.growth [--most 100000] [--sets "BLEU, ROUGE-L, CIDEr-D;and METEOR"] [--json OUT] [--plot OUT.svg]

Captions are recombined from real ones: the beginning of one and the end of another (made up where there are no data). Memory
is the peak of the process beyond that of a process that scores 1,000 images with the same metrics.
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
SETS = {"BLEU, ROUGE-L, CIDEr-D": "lexical", "and METEOR": "lexical,METEOR", "and SPICE": "lexical,METEOR,SPICE"}
#: With fewer images, compiled code is not loaded, which takes tens of megabytes however many there are.
LEAST = 1_000
SIZES = (10_000, 100_000, 500_000, 1_000_000)


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


def grow(metrics: str, sizes: list[int], made: Recombined) -> list[dict[str, float]]:
    """For each size: images, seconds, processor seconds, peak megabytes, and kilobytes per image beyond the smallest."""
    rows: list[dict[str, float]] = []
    for images in [LEAST, *sizes]:
        with tempfile.TemporaryDirectory() as name:
            files = made.write(Path(name), images)
            if not rows:
                Run(score(*files, metrics))  # compiles kernels, once on a machine
            run = Run(score(*files, metrics))
        least = rows[0] if rows else {"images": images, "megabytes": run.megabytes}
        beyond = 1024 * (run.megabytes - least["megabytes"]) / max(images - least["images"], 1)
        rows.append({"images": images, "seconds": run.wall, "processor": run.processor, "megabytes": run.megabytes, "kilobytes an image": beyond})
        told = f"{images:10,} images  {run.wall:8.2f} s  {1e6 * run.wall / images:8.1f} µs an image  {run.megabytes:8.0f} MB"
        print(told + (f"  {beyond:6.2f} KB an image" if len(rows) > 1 else ""), flush=True)
    return rows


def plot(found: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Seconds and memory against images, both on logarithmic axes: a straight line at 45° is growth in proportion."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, both = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axes, key, label in zip(both, ("seconds", "megabytes"), ("seconds", "peak memory, MB")):
        for name, rows in found.items():
            axes.loglog([row["images"] for row in rows], [row[key] for row in rows], "o-", label=name)
        axes.set(xlabel="images", ylabel=label)
        axes.grid(alpha=0.3)
    both[0].legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--sets", default=";".join(SETS))
    parser.add_argument("--json", type=Path, help="where results are kept; those of other sets that are there stay")
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    found: dict[str, Any] = json.loads(given.json.read_text()) if given.json is not None and given.json.exists() else {}
    made = Recombined()
    for name in filter(None, given.sets.split(";")):
        print(name)
        found[name] = grow(SETS[name], [size for size in SIZES if size <= given.most], made)
        if given.json is not None:
            given.json.write_text(json.dumps(found, indent=1))
    if given.plot is not None:
        plot(found, given.plot)


if __name__ == "__main__":
    main()
