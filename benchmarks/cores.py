"""Two threads beside one, for METEOR and SPICE. ``python -m benchmarks.speed --only cores`` prints the table.

*Own work* is measured in one process with open tables and loaded kernels: the preparation of tokenized
references, then the statistics of the candidates. *Command* is ``captious score`` with ``--jobs 1`` and
``--jobs 2`` in fresh processes, from files and from prepared references. One and two threads run in turn, and
the quickest run of each counts. The statistics must be equal to the last bit.
"""

from __future__ import annotations

import json
import sys
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.captions import coco, write_coco
from benchmarks.steps import Steps, Target, at_least
from benchmarks.timing import Run, captious_score, in_turn, python, quickest, timed

METRICS = ("METEOR", "SPICE")
#: Least speedup of two threads.
SPEEDUP = 1.7


def own_work(references: str, results: str, metric: str, times: int) -> dict[str, list[float]]:
    """Return the seconds with one and with two threads, for references, for candidates, and for both."""
    import numpy as np

    import captious
    from captious.core.threads import working
    from captious.metrics.registry import make_measures

    [measure] = make_measures(metric, {})
    expected: Any = None
    runs: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for jobs in (2, *(1, 2) * times):
        corpus = captious.load(references, results)
        with working(jobs):
            state, preparing = timed(partial(measure.prepare, corpus.references))
            rows, counting = timed(partial(measure.statistics, corpus, state))
        if expected is None:  # the first run loads tables and kernels
            expected = np.asarray(rows)
            continue
        assert np.array_equal(expected, np.asarray(rows), equal_nan=True), (
            "the number of threads changes values"
        )
        runs[jobs].append((preparing.wall, counting.wall))
    parts = {"references": slice(0, 1), "candidates": slice(1, 2), "both": slice(2)}
    return {
        name: [min(sum(run[part]) for run in several) for several in runs.values()]
        for name, part in parts.items()
    }


def command_seconds(references: Path, results: Path, metric: str, times: int) -> list[float]:
    """Return the seconds of the whole command with one and with two threads."""
    commands = {jobs: captious_score(references, results, metric, "--jobs", jobs) for jobs in ("1", "2")}
    in_turn(1, commands)
    return [quickest(runs).wall for runs in in_turn(times, commands).values()]


def measure(steps: Steps, folder: Path, images: int | None, times: int) -> None:
    """Measure all steps of the section ``cores``."""

    @cache
    def files() -> tuple[Path, Path]:
        return write_coco(folder, *coco(images=images))

    def own(metric: str) -> dict[str, Any]:
        result: dict[str, Any] = Run(python("benchmarks.cores", *map(str, files()), metric, str(times))).json
        return result

    def command(metric: str) -> dict[str, Any]:
        prepared = folder / f"{metric}.prepared"
        Run(python("captious", "prepare", str(files()[0]), "-m", metric, "-o", str(prepared)))
        return {
            "cold": command_seconds(*files(), metric, times),
            "prepared": command_seconds(prepared, files()[1], metric, times),
        }

    settings = {"images": images, "times": times}
    for metric in METRICS:
        steps.measure("cores", f"{metric}, own work", settings, partial(own, metric))
        steps.measure("cores", f"{metric}, command", settings, partial(command, metric))


def _rows(results: dict[str, Any]) -> list[tuple[str, list[float], bool]]:
    """Return subject, seconds with one and with two threads, and whether there is a target."""
    parts = {"own work": ("references", "candidates", "both"), "command": ("cold", "prepared")}
    return [
        (f"{step}: {part}", results[step][part], part in ("both", "cold"))
        for metric in METRICS
        for kind, names in parts.items()
        if (step := f"{metric}, {kind}") in results
        for part in names
    ]


def table(results: dict[str, Any]) -> str:
    rows = [
        f"| {subject} | {one:.2f} s | {two:.2f} s | {one / two:.2f}× |"
        for subject, (one, two), _ in _rows(results)
    ]
    return "\n".join(["| | one thread | two threads | |", "|---|---:|---:|---:|", *rows])


def targets(results: dict[str, Any]) -> list[Target]:
    return [
        at_least(f"two threads, {subject}", one / two, SPEEDUP)
        for subject, (one, two), has_target in _rows(results)
        if has_target
    ]


if __name__ == "__main__":
    print(json.dumps(own_work(*sys.argv[1:4], int(sys.argv[4]))))
