"""Growth of time and memory with the number of images: fresh processes, from COCO JSON files to scores.

``python -m benchmarks.speed --only growth [--sizes 10000,100000] [--sets NAMES] [--plot OUT.svg]`` prints the
table.

Captions are recombined from real ones (:class:`benchmarks.captions.Recombiner`). Memory per image is the peak
of the process beyond that of a process that scores 1,000 images with the same metrics.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from benchmarks.captions import Recombiner
from benchmarks.steps import Steps, Target
from benchmarks.timing import Run, captious_score

SETS = {
    "BLEU, ROUGE-L, CIDEr-D": "lexical",
    "and METEOR": "lexical,METEOR",
    "and SPICE": "lexical,METEOR,SPICE",
}
#: Baseline. With fewer images, modules and tables take most of the memory.
BASELINE = 1_000
SIZES = (10_000, 100_000)
#: From this size on, the constant cost of a process hardly counts, and time per image should not grow.
LARGE = 100_000
#: Most kilobytes per image at ``LARGE`` images, without and with scene graphs.
KILOBYTES = {False: 5.0, True: 12.0}

Row = dict[str, float]


def measure(steps: Steps, sets: list[str], sizes: list[int]) -> None:
    """Measure each set of metrics on each size. All sets of one size share their files."""
    recombiner = cache(Recombiner)

    def write(folder: str, images: int) -> tuple[Path, Path]:
        return recombiner().write(Path(folder), images)

    for images in sorted({BASELINE, *sizes}):
        with tempfile.TemporaryDirectory() as folder:
            files = cache(partial(write, folder, images))
            for name in sets:
                steps.measure("growth", f"{name}; {images}", {}, partial(_score, images, files, SETS[name]))


def _score(images: int, files: Callable[[], tuple[Path, Path]], metrics: str) -> Row:
    """Return seconds, processor seconds and peak megabytes of one command."""
    command = captious_score(*files(), metrics)
    if images == BASELINE:
        Run(command)  # fills captious's cache
    run = Run(command)
    return {"images": images, "seconds": run.wall, "processor": run.processor, "megabytes": run.megabytes}


def by_set(results: dict[str, Row]) -> dict[str, list[Row]]:
    """Return the rows of each set by size, with kilobytes per image beyond the smallest size."""
    rows: dict[str, list[Row]] = {}
    for name in SETS:
        own = sorted(
            (row for step, row in results.items() if step.rpartition(";")[0] == name),
            key=lambda row: row["images"],
        )
        if len(own) > 1:
            for row in own:
                megabytes, images = (row[key] - own[0][key] for key in ("megabytes", "images"))
                rows.setdefault(name, []).append({**row, "kilobytes": 1024 * megabytes / max(images, 1)})
    return rows


def table(results: dict[str, Row]) -> str:
    lines = ["| | images | time | per image | memory | per image |", "|---|---:|---:|---:|---:|---:|"]
    for name, rows in by_set(results).items():
        for row in rows[1:]:
            time = f"{row['seconds']:.1f} s | {1e6 * row['seconds'] / row['images']:.0f} µs"
            memory = f"{row['megabytes']:,.0f} MB | {row['kilobytes']:.1f} KB"
            lines.append(f"| {name} | {row['images']:,} | {time} | {memory} |")
    return "\n".join(lines)


def targets(results: dict[str, Row]) -> list[Target]:
    """Kilobytes per image at 100,000 images, and from there on growth at most in proportion."""
    checks: list[Target] = []
    for name, rows in by_set(results).items():
        large = [row for row in rows if row["images"] >= LARGE]
        for row in (row for row in rows if row["images"] == LARGE):
            most, used = KILOBYTES["SPICE" in name], row["kilobytes"]
            subject = f"{name}, memory at {row['images']:,.0f} images"
            checks.append(Target(subject, f"at most {most:g} KB an image", f"{used:.1f} KB", used <= most))
        for row in large[1:]:
            ratio = row["images"] / large[0]["images"]
            text = f"at most {ratio:g} × that at {large[0]['images']:,.0f}"
            for key, subject in (("seconds", "time"), ("megabytes", "memory")):
                growth = row[key] / large[0][key]
                # Equal runs differ by up to 10 %.
                checks.append(
                    Target(
                        f"{name}, {subject} at {row['images']:,.0f} images",
                        text,
                        f"{growth:.1f} ×",
                        growth <= 1.1 * ratio,
                    )
                )
    return checks


def plot(results: dict[str, Row], path: Path) -> None:
    """Draw seconds and memory against images on logarithmic axes. Growth in proportion is a line at 45°."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # Equal numbers give equal files.
    matplotlib.rcParams["svg.hashsalt"] = "captious"
    figure, both = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axes, key, label in zip(both, ("seconds", "megabytes"), ("seconds", "peak memory, MB")):
        for name, rows in by_set(results).items():
            axes.loglog([row["images"] for row in rows], [row[key] for row in rows], "o-", label=name)
        axes.set(xlabel="images", ylabel=label)
        axes.grid(alpha=0.3)
    both[0].legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)
