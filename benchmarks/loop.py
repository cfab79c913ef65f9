"""A training loop: thousands of small batches of new captions against references that were prepared once.

    python -m benchmarks.loop [--steps N] [--images N] [--metrics NAMES]

Each step scores 64 images with 5 captions each, which contain new words. The benchmark prints the time of a
step at the beginning and at the end, and resident memory. The last hundred steps should take at most 1.2
times as long as the first hundred, and memory should not grow. Other programs may slow down one end.
Therefore a constant piece of work is timed beside each step. At the end, the same batches are scored in turn
against the references of the loop and against newly prepared ones.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
import warnings
from collections.abc import Callable

import psutil

from benchmarks.captions import coco
from captious import References
from captious.corpus import Captions, Corpus
from captious.metrics.registry import make_measures
from captious.results.scores import Score

BATCH, CAPTIONS = 64, 5
#: Steps that are averaged, and untimed steps before them, which load kernels.
WINDOW, WARM_UP = 100, 20

Batch = tuple[list[str], list[list[str]]]


def pace() -> float:
    """Return the current processor seconds of a constant piece of work."""
    start = time.process_time()
    counts: dict[str, int] = {}
    for number in range(3_000):
        word = str(number % 700)
        counts[word] = counts.get(word, 0) + len(word.split("1"))
    return time.process_time() - start


def prepared(captions: dict[str, list[str]], metrics: str) -> tuple[Captions, Callable[[Batch], float]]:
    """Prepare references. Return them and a function that scores a batch and returns its processor time."""
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
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--steps", type=int, default=5_000)
    arguments.add_argument("--images", type=int, default=5_000, help="images with references")
    arguments.add_argument("--metrics", default="lexical")
    options = arguments.parse_args()
    warnings.simplefilter("ignore")
    captions = coco(images=options.images)[0]
    references, used = prepared(captions, options.metrics)
    rng = random.Random(0)
    vocabulary = references.vocabulary.words
    process = psutil.Process()
    seconds: list[float] = []
    paces: list[float] = []
    megabytes: list[float] = []

    def caption(step: int) -> str:
        return " ".join([*rng.choices(vocabulary, k=9), f"new{step}x{rng.randrange(10**6)}"])

    def batch(step: int) -> Batch:
        ids = rng.sample(references.ids, BATCH)
        return ids, [[caption(step) for _ in range(CAPTIONS)] for _ in ids]

    for step in range(WARM_UP + options.steps):
        seconds.append(used(batch(step)))
        paces.append(pace())
        if (step - WARM_UP) % WINDOW == 0:
            gc.collect()
            megabytes.append(process.memory_info().rss / 2**20)
    seconds, paces = seconds[WARM_UP:], paces[WARM_UP:]
    window = min(WINDOW, len(seconds))
    first, last = (1000 * sum(part) / window for part in (seconds[:window], seconds[-window:]))
    slower = sum(paces[-window:]) / sum(paces[:window])
    _, fresh = prepared(captions, options.metrics)
    pairs = [(used(new_batch), fresh(new_batch)) for new_batch in map(batch, range(-window, 0))][WARM_UP:]
    after_loop, new = (1000 * sum(side) / len(side) for side in zip(*pairs))
    size = f"{BATCH} x {CAPTIONS} captions against {len(references.ids):,} images, {options.metrics}"
    print(f"{options.steps:,} steps of {size}, processor time:")
    print(f"  first {window} steps {first:.2f} ms, last {window} {last:.2f} ms: ratio {last / first:.2f}")
    corrected = last / first / slower
    print(f"  constant work took {slower:.2f} times as long at the end: corrected ratio {corrected:.2f}")
    both = f"{after_loop:.2f} ms with the references of the loop, {new:.2f} ms with new ones"
    print(f"  in turn: {both}: ratio {after_loop / new:.2f}")
    print(
        f"  memory: {megabytes[0]:.0f} MB first, {megabytes[-1]:.0f} MB last, {max(megabytes):.0f} MB at most"
    )


if __name__ == "__main__":
    main()
