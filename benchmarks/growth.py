"""How time and memory grow with the number of images: fresh processes, from COCO JSON files to numbers.

    python -m benchmarks.growth [--sizes 10000,100000] [--sets "BLEU, ROUGE-L, CIDEr-D;and METEOR"] [--json OUT] [--plot OUT.svg]

Captions are recombined from real ones: the beginning of one and the end of another (made up where there are no data). Memory
is the peak of the process beyond that of a process that scores 1,000 images with the same metrics. Each size and set is kept in
OUT as soon as it is known (:mod:`benchmarks.kept`), so that a million images can be measured by themselves, or a stopped run go on.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.bars import Bar, show
from benchmarks.common import coco
from benchmarks.kept import Kept
from benchmarks.process import Run, score

REFERENCES = 5
SETS = {
    "BLEU, ROUGE-L, CIDEr-D": "lexical",
    "and METEOR": "lexical,METEOR",
    "and SPICE": "lexical,METEOR,SPICE",
}
#: With fewer images, modules and tables take most of the memory.
LEAST = 1_000
SIZES = (10_000, 100_000)
#: Sizes from which on what a process does once hardly counts: there, time per image should stay as it is.
MANY = 100_000
#: The most kilobytes an image may take at ``MANY`` images, by whether scenes are kept.
BAR = {False: 5.0, True: 12.0}


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
        rows = (
            f'{{"image_id": {k // REFERENCES}, "id": {k}, "caption": {text}}}'
            for k, text in enumerate(_made(self.references, images * REFERENCES, draw))
        )
        _write(
            files[0],
            '{"info": {}, "licenses": [], "type": "captions", "images": ['
            + ", ".join(f'{{"id": {i}}}' for i in range(images))
            + '], "annotations": [',
            rows,
            "]}",
        )
        rows = (
            f'{{"image_id": {i}, "caption": {text}}}'
            for i, text in enumerate(_made(self.predictions, images, draw))
        )
        _write(files[1], "[", rows, "]")
        return files


def _halves(texts: list[str]) -> tuple[list[str], list[str]]:
    """Beginnings and ends, as the inside of JSON strings."""
    words = [text.split() for text in texts]
    quoted = [
        (json.dumps(" ".join(own[: len(own) // 2]))[1:-1], json.dumps(" ".join(own[len(own) // 2 :]))[1:-1])
        for own in words
        if len(own) > 1
    ]
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


class Files:
    """COCO's files for some number of images, written when they are first asked for; all sets of metrics share them."""

    def __init__(self, folder: Path, images: int, made: list[Recombined]) -> None:
        self.folder, self.images, self.made = folder, images, made
        self.paths: tuple[Path, Path] | None = None

    def scored(self, metrics: str) -> dict[str, float]:
        if self.paths is None:
            if not self.made:
                self.made.append(Recombined())
            self.paths = self.made[0].write(self.folder, self.images)
        if self.images == LEAST:
            Run(score(*self.paths, metrics))  # fills the cache, once on a machine
        run = Run(score(*self.paths, metrics))
        return {
            "images": self.images,
            "seconds": run.wall,
            "processor": run.processor,
            "megabytes": run.megabytes,
        }


def grow(kept: Kept, sets: list[str], sizes: list[int]) -> None:
    """For each set of metrics and size: images, seconds, processor seconds and peak megabytes."""
    made: list[Recombined] = []
    for images in sorted({LEAST, *sizes}):
        with tempfile.TemporaryDirectory() as name:
            files = Files(Path(name), images, made)
            for row in sets:
                kept.step("growth", f"{row}; {images}", {}, partial(files.scored, SETS[row]))


def by_set(found: dict[str, dict[str, float]]) -> dict[str, list[dict[str, float]]]:
    """The rows of each set of metrics, from few images to many, with kilobytes per image beyond the fewest."""
    rows: dict[str, list[dict[str, float]]] = {}
    for name in SETS:
        own = sorted(
            (row for step, row in found.items() if step.rpartition(";")[0] == name),
            key=lambda row: row["images"],
        )
        if len(own) > 1:
            rows[name] = [
                {
                    **row,
                    "kilobytes": 1024
                    * (row["megabytes"] - own[0]["megabytes"])
                    / max(row["images"] - own[0]["images"], 1),
                }
                for row in own
            ]
    return rows


def table(found: dict[str, dict[str, float]]) -> str:
    lines = ["| | images | time | per image | memory | per image |", "|---|---:|---:|---:|---:|---:|"]
    for name, rows in by_set(found).items():
        for row in rows[1:]:
            images = row["images"]
            lines.append(
                f"| {name} | {images:,} | {row['seconds']:.1f} s | {1e6 * row['seconds'] / images:.0f} µs | {row['megabytes']:,.0f} MB | {row['kilobytes']:.1f} KB |"
            )
    return "\n".join(lines)


def bars(found: dict[str, dict[str, float]]) -> list[Bar]:
    """What was promised: kilobytes per image at 100,000 images, and from there on growth no faster than in proportion."""
    told: list[Bar] = []
    for name, rows in by_set(found).items():
        large = [row for row in rows if row["images"] >= MANY]
        for row in (row for row in rows if row["images"] == MANY):
            most = BAR["SPICE" in name]
            told.append(
                Bar(
                    f"{name}, memory at {row['images']:,.0f} images",
                    f"at most {most:g} KB an image",
                    f"{row['kilobytes']:.1f} KB",
                    row["kilobytes"] <= most,
                )
            )
        for row in large[1:]:
            times = row["images"] / large[0]["images"]
            for key, what in (("seconds", "time"), ("megabytes", "memory")):
                grown = row[key] / large[0][key]
                # A tenth more is what the same run differs by from one time to the next.
                told.append(
                    Bar(
                        f"{name}, {what} at {row['images']:,.0f} images",
                        f"at most {times:g} × that at {large[0]['images']:,.0f}",
                        f"{grown:.1f} ×",
                        grown <= 1.1 * times,
                    )
                )
    return told


def plot(found: dict[str, dict[str, float]], path: Path) -> None:
    """Seconds and memory against images, both on logarithmic axes: a straight line at 45° is growth in proportion."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # So that a figure of the same numbers is the same file.
    matplotlib.rcParams["svg.hashsalt"] = "captious"
    figure, both = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axes, key, label in zip(both, ("seconds", "megabytes"), ("seconds", "peak memory, MB")):
        for name, rows in by_set(found).items():
            axes.loglog([row["images"] for row in rows], [row[key] for row in rows], "o-", label=name)
        axes.set(xlabel="images", ylabel=label)
        axes.grid(alpha=0.3)
    both[0].legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--sets", default=";".join(SETS))
    parser.add_argument("--json", type=Path, help="where results are kept")
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    kept = Kept(given.json)
    grow(
        kept, [name for name in given.sets.split(";") if name], [int(size) for size in given.sizes.split(",")]
    )
    found = kept.found("growth")
    print(show(table(found), bars(found)))
    if given.plot is not None:
        plot(found, given.plot)


if __name__ == "__main__":
    main()
