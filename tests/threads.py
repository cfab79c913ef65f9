"""Eight systems on shared references in eight threads, compared with one thread, bit for bit.

``python -m tests.threads [--rounds 50] [--copies 60] [--metrics NAMES]`` repeats this on corpora that are large enough
for the inner threads of metrics. The tests do a few rounds.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from captious import References, load_systems, score
from captious.corpus import Corpus
from captious.data import demo_path
from captious.io import read
from captious.metrics import registry
from captious.metrics.base import Rows, pack
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from tests.dual import vectors_for

T = TypeVar("T")
THREADS = 8
#: Training captions for the measure that needs them.
TRAIN = ["a dog is playing with a frisbee", "a man riding a wave on a surfboard", "something else"]
#: Ratings of words for the measure that needs them.
NORMS = {"dog": 4.9, "man": 4.8, "idea": 1.6}

#: Signature and bytes of the statistics of each measure.
Bits = dict[str, tuple[str, bytes]]


def systems(copies: int = 1, images: int = 60) -> list[Corpus]:
    """Return eight systems on one fresh object of references, with sets of one and of three captions.

    Every one of the first images of the demo is there ``copies`` times, with other words at the end of the captions.
    """
    file = read(demo_path("references"), "references")
    vocabulary = sorted({word for group in file.captions for text in group for word in text.lower().split()})

    def multiplied(groups: dict[str, list[str]]) -> dict[str, list[str]]:
        generator = random.Random(copies)
        return {
            f"{image}-{copy}" if copy else image: [
                f"{text} near the {generator.choice(vocabulary)}" if copy else text for text in group
            ]
            for copy in range(copies)
            for image, group in groups.items()
        }

    ids = file.ids[:images]
    groups = {image: list(group) for image, group in zip(ids, file.captions)}
    references = References.read(
        demo_path("references") if copies == 1 and len(ids) == len(file) else multiplied(groups)
    )
    sources: list[dict[str, list[str]]] = []
    generator = random.Random(7)
    for name in ("good", "generic", "poor", "sampling"):
        file = read(demo_path(name), "predictions")
        own = dict(zip(file.ids, file.captions))
        listed = [list(own[image][:3]) for image in ids]
        sources.append(multiplied(dict(zip(ids, listed))))
        generator.shuffle(listed)
        odd = {
            image: [f"{text} odd{generator.random()}" for text in group] for image, group in zip(ids, listed)
        }
        sources.append(multiplied(odd))
    return load_systems(references, sources, several=True)


def bits(corpus: Corpus, names: Iterable[str]) -> Bits:
    """Return the scores of a corpus as bytes."""
    names = list(names)
    values = {
        "train": TRAIN,
        "norms": NORMS,
        "weights": str(WEIGHTS_FOLDER / "captious_score_lite.safetensors"),
        **vectors_for(corpus),
    }
    used = {option.name for name in names for option in registry.measure_class(name).options}
    scores = score(corpus, names, **{name: value for name, value in values.items() if name in used})
    return {name: (one.signature, rows(one.statistics)) for name, one in scores.items()}


def rows(statistics: Rows) -> bytes:
    """Return statistics of any kind as bytes."""
    return b"".join(array.tobytes() for array in pack(statistics).values())


def at_once(works: list[Callable[[], T]]) -> list[T]:
    """Run functions in threads that start together, and return their results."""
    barrier = threading.Barrier(len(works))
    results: list[T | BaseException] = [RuntimeError("not done")] * len(works)

    def run(i: int, work: Callable[[], T]) -> None:
        barrier.wait()
        try:
            results[i] = work()
        except BaseException as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=(i, work)) for i, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results  # type: ignore[return-value]


@contextmanager
def eager_switching() -> Iterator[None]:
    """Switch between threads much more often than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(names: list[str], copies: int = 1, images: int = 60) -> list[Bits]:
    """Score all systems at once. Each thread starts with another metric, so that threads meet in all of them."""

    def work(i: int, corpus: Corpus) -> Callable[[], Bits]:
        rotated = names[i * len(names) // THREADS :] + names[: i * len(names) // THREADS]
        return lambda: bits(corpus, rotated)

    with eager_switching():
        return at_once([work(i, corpus) for i, corpus in enumerate(systems(copies, images))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--copies", type=int, default=60, help="60 for inner threads, 1 for a quick run")
    parser.add_argument("--metrics", default="lexical,METEOR,SPICE,CHAIRi,Recall-1,Div-1,mBLEU-4,Self-CIDEr")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [str(name) for name in registry.resolve(arguments.metrics)]
    os.environ["CAPTIOUS_JOBS"] = "1"
    corpora = systems(arguments.copies)
    serial = [bits(corpus, names) for corpus in corpora]
    words = f"{len(corpora[0].references.tokens):,} words of references"
    del corpora
    os.environ["CAPTIOUS_JOBS"] = "4"
    different = 0
    for i in range(arguments.rounds):
        threaded = together(names, arguments.copies)
        unlike = {name for a, b in zip(serial, threaded) for name in names if a[name] != b[name]}
        different += bool(unlike)
        print(
            f"{i + 1}/{arguments.rounds}: {', '.join(sorted(unlike)) or 'equal to the last bit'}", flush=True
        )
    print(
        f"{arguments.rounds - different} of {arguments.rounds} rounds of {THREADS} systems, {len(names)} metrics "
        f"and {words} equal one thread"
    )
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
