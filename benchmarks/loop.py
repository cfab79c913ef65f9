"""A training loop: thousands of small batches of new captions against references that were prepared once.

``python -m benchmarks.loop [--steps N] [--images N] [--metrics NAMES]``: each step scores 64 images with 5 captions each, some of whose
words were never seen before. Printed are the time of a step at the beginning and at the end, and resident memory. The
last hundred steps should take no more than 1.2 times the first hundred, and memory should stay where it is. Since other
work on the machine weighs on one end more than on the other, a piece of work that is always the same is timed beside each step, and
the same batches are also scored, in turn, against the references that have been through the loop and against references
prepared a moment ago.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
import warnings
from collections.abc import Callable

import psutil

from benchmarks.common import coco
from captious import References
from captious.corpus import Captions, Corpus
from captious.metrics.registry import make_measures
from captious.results.scores import Score

BATCH, CAPTIONS = 64, 5
#: Steps that are averaged, and steps before the first of them are timed (the library of kernels is loaded there).
WINDOW, WARM_UP = 100, 20


Batch = tuple[list[str], list[list[str]]]


def pace() -> float:
    """How long the machine takes now for work that is always the same."""
    start = time.process_time()
    counts: dict[str, int] = {}
    for number in range(3_000):
        word = str(number % 700)
        counts[word] = counts.get(word, 0) + len(word.split("1"))
    return time.process_time() - start


def prepared(captions: dict[str, list[str]], metrics: str) -> tuple[Captions, Callable[[Batch], float]]:
    """References, and what scores a batch against them and says how long that took."""
    references = References.read(captions).captions
    measures = make_measures(metrics, {})
    states = [measure.prepare(references) for measure in measures]

    def run(batch: Batch) -> float:
        start = time.process_time()
        corpus = Corpus.build(*batch, references)
        for measure, state in zip(measures, states):
            _ = Score.of(measure, corpus, state).value
        return time.process_time() - start

    return references, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--images", type=int, default=5_000, help="images that have references")
    parser.add_argument("--metrics", default="lexical")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    captions = coco(images=given.images)[0]
    references, used = prepared(captions, given.metrics)
    rng = random.Random(0)
    known = references.vocabulary.words
    process = psutil.Process()
    seconds: list[float] = []
    paces: list[float] = []
    megabytes: list[float] = []

    def caption(step: int) -> str:
        return " ".join([*rng.choices(known, k=9), f"new{step}x{rng.randrange(10**6)}"])

    def batch(step: int) -> Batch:
        ids = rng.sample(references.ids, BATCH)
        return ids, [[caption(step) for _ in range(CAPTIONS)] for _ in ids]

    for step in range(WARM_UP + given.steps):
        seconds.append(used(batch(step)))
        paces.append(pace())
        if (step - WARM_UP) % WINDOW == 0:
            gc.collect()
            megabytes.append(process.memory_info().rss / 2**20)
    seconds, paces = seconds[WARM_UP:], paces[WARM_UP:]
    window = min(WINDOW, len(seconds))
    first, last = (1000 * sum(part) / window for part in (seconds[:window], seconds[-window:]))
    slower = sum(paces[-window:]) / sum(paces[:window])
    _, fresh = prepared(captions, given.metrics)
    pairs = [(used(given_batch), fresh(given_batch)) for given_batch in map(batch, range(-window, 0))][
        WARM_UP:
    ]
    worn, new = (1000 * sum(side) / len(side) for side in zip(*pairs))
    print(
        f"{given.steps:,} steps of {BATCH} x {CAPTIONS} captions against {len(references.ids):,} images, {given.metrics}:"
    )
    print(
        f"  a step: {first:.2f} ms of processor time in the first {window}, {last:.2f} ms in the last: ratio {last / first:.2f}"
    )
    print(
        f"  the machine itself took {slower:.2f} times as long for the same work at the end: ratio {last / first / slower:.2f} without that"
    )
    print(
        f"  in turn: {worn:.2f} ms against the references of the loop, {new:.2f} ms against fresh ones: ratio {worn / new:.2f}"
    )
    print(
        f"  memory: {megabytes[0]:.0f} MB at the beginning, {megabytes[-1]:.0f} MB at the end, most {max(megabytes):.0f} MB"
    )


if __name__ == "__main__":
    main()
