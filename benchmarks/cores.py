"""Two threads beside one, for METEOR and SPICE. ``python -m benchmarks.speed --only cores`` prints it.

*Own work* is in one process that has opened its tables and loaded compiled code: what the metric makes of references that were just tokenized, and then
the statistics of the candidates. *Command* is ``captious score`` with ``--jobs 1`` and ``--jobs 2`` in fresh processes, from files and from prepared references, the start
and the reading included. One and two threads run in turn, and of each the quickest run counts. That the statistics are equal to the bit is looked at, too.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.bars import Bar, check
from benchmarks.common import coco, write_coco
from benchmarks.kept import Kept
from benchmarks.process import Run, in_turn, quickest, score

METRICS = ("METEOR", "SPICE")
#: What was promised of two processors.
BAR = 1.7
#: The columns of what is told of a run of own work: threads, seconds for references, seconds for candidates.
PARTS = {"references": (1,), "candidates": (2,), "both": (1, 2)}

_OWN = """
import json, sys, time
import numpy as np
import captious
from captious.measures.making import make_measures
from captious.threads import working
references, results, metric, times = *sys.argv[1:4], int(sys.argv[4])
[measure] = make_measures(metric, {})
told, kept = [], []
for jobs in (2, *(1, 2) * times):
    corpus = captious.load(references, results)
    with working(jobs):
        start = time.perf_counter()
        state = measure.prepare(corpus.references)
        middle = time.perf_counter()
        kept.append(np.asarray(measure.statistics(corpus, state)))
        told.append((jobs, middle - start, time.perf_counter() - middle))
    if len(kept) > 1:
        assert np.array_equal(kept[0], kept.pop(), equal_nan=True), "other values with other threads"
# The first one loaded tables and machine code.
print(json.dumps(told[1:]))
"""


def own(files: tuple[Path, Path], metric: str, times: int) -> dict[str, Any]:
    """Seconds with one and with two threads: for references, for candidates, and both."""
    runs = json.loads(
        Run([sys.executable, "-c", _OWN, *map(str, files), metric, str(times)]).output.splitlines()[-1]
    )
    return {
        part: [
            min(sum(run[column] for column in columns) for run in runs if run[0] == jobs) for jobs in (1, 2)
        ]
        for part, columns in PARTS.items()
    }


def command(references: Path, results: Path, metric: str, times: int) -> list[float]:
    """Seconds of the whole command with one and with two threads."""
    commands = {jobs: score(references, results, metric, "--jobs", jobs) for jobs in ("1", "2")}
    in_turn(1, commands)
    runs = in_turn(times, commands)
    return [quickest(runs[jobs]).wall for jobs in commands]


def measure(kept: Kept, folder: Path, images: int | None, times: int) -> None:
    """All steps of the section ``cores``."""
    made: list[tuple[Path, Path]] = []

    def files() -> tuple[Path, Path]:
        made[:] = made or [write_coco(folder, *coco(images=images))]
        return made[0]

    def alone(metric: str) -> dict[str, Any]:
        return own(files(), metric, times)

    def whole(metric: str) -> dict[str, Any]:
        prepared = folder / f"{metric}.prepared"
        Run([sys.executable, "-m", "captious", "prepare", str(files()[0]), "-m", metric, "-o", str(prepared)])
        return {
            "cold": command(*files(), metric, times),
            "prepared": command(prepared, files()[1], metric, times),
        }

    for metric in METRICS:
        kept.step("cores", f"{metric}, own work", {"images": images, "times": times}, partial(alone, metric))
        kept.step("cores", f"{metric}, command", {"images": images, "times": times}, partial(whole, metric))


def _rows(found: dict[str, Any]) -> list[tuple[str, list[float], bool]]:
    """What, seconds with one and two threads, and whether it was promised anything."""
    told = []
    for metric in METRICS:
        for step, parts in (
            (f"{metric}, own work", ("references", "candidates", "both")),
            (f"{metric}, command", ("cold", "prepared")),
        ):
            if step in found:
                told += [(f"{step}: {part}", found[step][part], part in ("both", "cold")) for part in parts]
    return told


def table(found: dict[str, Any]) -> str:
    lines = ["| | one thread | two threads | |", "|---|---:|---:|---:|"]
    return "\n".join(
        lines
        + [
            f"| {what} | {one:.2f} s | {two:.2f} s | {one / two:.2f}× |"
            for what, (one, two), _ in _rows(found)
        ]
    )


def bars(found: dict[str, Any]) -> list[Bar]:
    return [
        check(f"two threads, {what}", one / two, BAR)
        for what, (one, two), promised in _rows(found)
        if promised
    ]
