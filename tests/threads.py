"""Eight systems scored in eight threads with shared references, compared with the serial run.

``python -m tests.threads [--times 100] [--metrics NAMES]`` repeats this many times, the tests a few times.
"""

from __future__ import annotations

import argparse
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
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from captious.metrics.statistics import Rows, pack
from tests.dual import vectors_for

T = TypeVar("T")
THREADS = 8
#: Training captions for the measure that needs them.
TRAIN = ["a dog is playing with a frisbee", "a man riding a wave on a surfboard", "something else"]
#: Ratings of words for the measure that needs them.
NORMS = {"dog": 4.9, "man": 4.8, "idea": 1.6}

#: Signature and bytes of the statistics of each measure.
Bits = dict[str, tuple[str, bytes]]


def systems() -> list[Corpus]:
    """Return eight systems with new shared references, and one or three captions per image."""
    references = References.read(demo_path("references"))
    sources: list[dict[str, list[str]]] = []
    generator = random.Random(7)
    for name in ("good", "generic", "poor", "sampling"):
        file = read(demo_path(name), "predictions")
        groups = [group[:3] for group in file.captions]
        sources.append(dict(zip(file.ids, groups)))
        generator.shuffle(groups)
        sources.append(
            {
                image: [f"{text} odd{generator.random()}" for text in group]
                for image, group in zip(file.ids, groups)
            }
        )
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


def together(names: list[str]) -> list[Bits]:
    """Score all systems at once. Each thread starts with another measure, so that threads meet in all of them."""

    def work(i: int, corpus: Corpus) -> Callable[[], Bits]:
        rotated = names[i * len(names) // THREADS :] + names[: i * len(names) // THREADS]
        return lambda: bits(corpus, rotated)

    with eager_switching():
        return at_once([work(i, corpus) for i, corpus in enumerate(systems())])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--metrics", default="all,sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [str(name) for name in registry.resolve(options.metrics)]
    serial = [bits(corpus, names) for corpus in systems()]
    different = 0
    for i in range(options.times):
        unlike = {name for a, b in zip(serial, together(names)) for name in names if a[name] != b[name]}
        different += bool(unlike)
        print(f"{i + 1}/{options.times}: {', '.join(sorted(unlike)) or 'equal to the last bit'}", flush=True)
    print(
        f"{options.times - different} of {options.times} runs of {THREADS} systems and {len(names)} measures equal the serial run"
    )
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
