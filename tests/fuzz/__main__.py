"""``python -m tests.fuzz``: damage a file of every format, read it, and print a table of results.

Each reader runs in a process of its own, with a limit on memory. A process that dies or stays silent for
`PATIENCE` seconds is a failure of the mutation that it was reading. The next process goes on after it.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.damage import mutated
from tests.fuzz.formats import FORMATS
from tests.fuzz.run_reader import (
    CHANGED,
    FAILED,
    REFUSED,
    SAME,
    Outcome,
    limit_memory,
    outcomes,
    peak_megabytes,
    prepared,
)

MUTATIONS, SEED = 2_000, 1
#: Seconds of silence after which a process counts as hung.
PATIENCE = 60.0


@dataclass
class Summary:
    """Results of one format."""

    name: str
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    peak: float = 0.0
    failures: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.kinds[outcome.kind] += 1
        self.slowest = max(self.slowest, outcome.seconds)
        if outcome.kind == FAILED:
            self.failures.append(outcome)

    def row(self) -> list[str]:
        counts = [f"{self.kinds[kind]:,}" for kind in (REFUSED, SAME, CHANGED, FAILED)]
        return [self.name, f"{self.kinds.total():,}", *counts, f"{self.slowest:.2f}", f"{self.peak:,.0f}"]


HEADER = [
    "reader",
    "mutations",
    "refused",
    "read, same",
    "read, changed",
    "failed",
    "slowest, s",
    "memory, MB",
]


def work(name: str, folder: Path, seed: int, first: int, last: int) -> None:
    """Read mutations in this process, and print one line of JSON for each."""
    form = FORMATS[name]
    prepared(form, folder)  # imports and first allocations do not count
    limit_memory()
    for outcome in outcomes(form, folder, seed, first, last):
        print(json.dumps([*outcome, peak_megabytes()]), flush=True)


def run(name: str, seed: int, mutations: int) -> Summary:
    """Read all mutations of a format in separate processes."""
    summary, first = Summary(name), 0
    while first < mutations:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            ended = ""
            for line in _worker(name, Path(folder), seed, first, mutations):
                if line.startswith("["):
                    *fields, peak = json.loads(line)
                    summary.add(Outcome(*fields))
                    summary.peak = max(summary.peak, peak)
                    first += 1
                else:
                    ended = line
        if first < mutations:
            summary.add(Outcome(first, FAILED, 0.0, ended))
            first += 1
    return summary


def _worker(name: str, folder: Path, seed: int, first: int, last: int) -> Iterator[str]:
    """Yield the lines of a worker process, and how it ended if it did not finish."""
    arguments = ["--worker", name, str(folder), str(first), "--seed", str(seed), "--mutations", str(last)]
    environment = {**os.environ, "CAPTIOUS_CACHE": str(folder / "cache"), "CAPTIOUS_CACHE_LIMIT": "50M"}
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz", *arguments],
            stdout=subprocess.PIPE, stderr=errors, env=environment,
        )  # fmt: skip
        assert process.stdout is not None
        waiting, buffer = selectors.DefaultSelector(), b""
        waiting.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not waiting.select(PATIENCE):
                process.kill()
                process.wait()
                yield f"no result for {PATIENCE:g} seconds"
                return
            block = os.read(process.stdout.fileno(), 1 << 16)
            if not block:
                break
            *lines, buffer = (buffer + block).split(b"\n")
            yield from (line.decode() for line in lines)
        if process.wait() != 0:
            errors.seek(0)
            yield f"the process ended with {process.returncode}: {errors.read()[-2_000:]}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"default: all ({', '.join(FORMATS)})")
    parser.add_argument("--mutations", type=int, default=MUTATIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write the files that failed to a folder")
    parser.add_argument("--worker", nargs=3, metavar=("READER", "FOLDER", "FIRST"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        name, folder, first = options.worker
        work(name, Path(folder), options.seed, int(first), options.mutations)
        return 0
    unknown = set(options.readers) - set(FORMATS)
    if unknown:
        parser.error(f"no reader {', '.join(sorted(unknown))}; there are {', '.join(FORMATS)}")
    print("| " + " | ".join(HEADER) + " |\n|---" + "|---:" * (len(HEADER) - 1) + "|", flush=True)
    summaries = []
    for name in options.readers or FORMATS:
        summaries.append(run(name, options.seed, options.mutations))
        print("| " + " | ".join(summaries[-1].row()) + " |", flush=True)
    for summary in summaries:
        reasons = Counter(failure.detail.strip().splitlines()[-1][:200] for failure in summary.failures)
        for reason, count in reasons.most_common():
            example = next(f for f in summary.failures if f.detail.strip().splitlines()[-1][:200] == reason)
            print(
                f"\n{summary.name}: {count} × (such as mutation {example.number})\n{example.detail.strip()}"
            )
        if options.save and summary.failures:
            _save(summary, options.seed, options.save)
    return 1 if any(summary.failures for summary in summaries) else 0


def _save(summary: Summary, seed: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        path, content, _ = prepared(FORMATS[summary.name], Path(scratch))
        for failure in summary.failures:
            target = folder / f"{summary.name}-{failure.number}{path.suffix}"
            target.write_bytes(mutated(content, seed, failure.number))
        for other in Path(scratch).iterdir():
            if other != path and other.is_file():
                shutil.copy(other, folder)


if __name__ == "__main__":
    sys.exit(main())
