"""Score thousands of small batches in one process and check that memory stays flat.

    python -m tests.leak --steps 2000 [--metrics METEOR SPICE] [--seed 1]

Every step scores new captions with words that never occurred before against references that were prepared once,
as a service or a training loop does. The metrics of a family (captions, sets, corpora) are scored together, those
of ``--metrics`` one by one. Caches with a fixed bound are full, or their bound is small, before the first step.
The first quarter of the steps warms up. After it, the bytes of live objects (:mod:`tracemalloc`) may grow by at
most 64 bytes per step, and the memory of the process by 16 MB.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import string
import sys
import tempfile
import tracemalloc
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import captious
from captious.metrics.registry import measure_class, names
from captious.results.references import References
from captious.text.stemmer import stem
from tests.memory import traced_bytes
from tools.freeze.inputs import OPTIONS, write_demo
from tools.freeze.items import ENCODED

#: Growth after the warm-up that is accepted: bytes of live objects per step, and bytes of the process.
OBJECTS, PROCESS = 64.0, 16 * 2**20
#: Metrics that read the vectors of captions from a file, so that captions cannot be new.
_STORED_VECTORS = ("CLIP-S", "RefCLIP-S")


@dataclass(frozen=True)
class Growth:
    """Growth after the warm-up: bytes of live objects per step, and bytes of the process."""

    metrics: tuple[str, ...]
    steps: int
    per_step: float
    process: int

    @property
    def is_flat(self) -> bool:
        return self.per_step <= OBJECTS and self.process <= PROCESS


def new_words(generator: random.Random) -> Iterator[str]:
    """Yield words of twelve letters."""
    while True:
        yield "".join(generator.choices(string.ascii_lowercase, k=12))


def batches(seed: int, captions: int, known: Sequence[str] | None = None) -> Iterator[list[list[str]]]:
    """Yield captions of two images: common words, and words that never occurred before, or known captions."""
    words = new_words(random.Random(seed))
    for step in itertools.count():
        if known is not None:
            yield [[known[(step * captions + k) % len(known)] for k in range(captions)] for _ in range(2)]
            continue
        rows = [
            f"a {next(words)} dog with two {next(words)}s is {next(words)}ing on the red grass"
            for _ in range(2 * captions)
        ]
        yield [rows[:captions], rows[captions:]]


@contextmanager
def traced(full_caches: bool = True) -> Iterator[None]:
    """Trace memory, with full caches.

    Tracing starts before the caches are filled: a traced entry that replaces an untraced one would count as
    growth. The cache of stems is filled.
    """
    tracemalloc.start()
    stem.cache_clear()
    words = new_words(random.Random(0))
    for k in range(stem.cache_info().maxsize or 0 if full_caches else 0):
        stem(next(words) + ("", "s", "ing")[k % 3])
    try:
        yield
    finally:
        tracemalloc.stop()


def measure(metrics: Sequence[str], folder: Path, steps: int, seed: int = 1) -> Growth:
    """Score batches with metrics of one family and return the growth after the warm-up."""
    taken = {option.name for metric in metrics for option in measure_class(metric).options}
    options = {name: str(folder / file) for name, file in OPTIONS.items() if name in taken}
    references: References = captious.prepare(folder / "references.json", metrics, **options)
    images = references.captions.ids[:2]
    unit = measure_class(metrics[0]).rows
    known = references.captions.texts if set(metrics) <= set(_STORED_VECTORS) else None
    captions = batches(seed, 3 if unit == "image" else 1, known)

    def step() -> None:
        predictions = dict(zip(images, next(captions)))
        corpus = captious.load(references, predictions, part=True, several=unit == "image")
        scores = captious.score(corpus, metrics=metrics, **options)
        assert len(scores) == len(metrics)

    warm = max(steps // 4, 1)
    for _ in range(warm):
        step()
    objects, process = traced_bytes(), _process_bytes()
    for _ in range(steps - warm):
        step()
    per_step = (traced_bytes() - objects) / (steps - warm)
    return Growth(tuple(metrics), steps, per_step, _process_bytes() - process)


def _process_bytes() -> int:
    """Return the resident memory of this process, or 0 on systems that do not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def run(
    steps: int, metrics: Sequence[str] = (), seed: int = 1, *, full_caches: bool = True
) -> Iterator[Growth]:
    """Yield the growth of each metric, or of the families of metrics."""
    groups = [[name] for name in metrics] or families()
    with (
        tempfile.TemporaryDirectory(prefix="captious-leak-") as folder,
        warnings.catch_warnings(),
        traced(full_caches),
    ):
        warnings.simplefilter("ignore")
        write_demo(Path(folder) / "demo", Path(folder), images=60)
        for group in groups:
            yield measure(group, Path(folder) / "demo", steps, seed)


def families() -> list[list[str]]:
    """Return all metrics by family. Those with stored vectors and those with a sentence encoder are apart."""
    apart = [list(_STORED_VECTORS), list(ENCODED)]
    listed = [name for name in names() if not any(name in group for group in apart)]
    units = dict.fromkeys(measure_class(name).rows for name in listed)
    return [*([name for name in listed if measure_class(name).rows == unit] for unit in units), *apart]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the harness and print a table for docs/results/reliability.md."""
    parser = argparse.ArgumentParser(prog="python -m tests.leak", description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--metrics", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    print("| metrics | steps | bytes of objects per step | MB of the process |\n|---|---:|---:|---:|")
    growing = []
    for growth in run(options.steps, options.metrics, options.seed):
        listed = ", ".join(growth.metrics) if len(growth.metrics) < 3 else f"{len(growth.metrics)} metrics"
        print(
            f"| {listed} | {growth.steps:,} | {growth.per_step:.1f} | {growth.process / 2**20:.1f} |",
            flush=True,
        )
        growing += [] if growth.is_flat else [listed]
    print("\n" + (f"growing: {', '.join(growing)}" if growing else "all flat"))
    return 1 if growing else 0


if __name__ == "__main__":
    sys.exit(main())
