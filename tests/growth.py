"""Time and memory of every measure for captions of growing length.

    python -m tests.growth [--lengths 1000,10000] [--metrics NAMES] [--kinds random,one,sentences]

prints processor time and the peak of allocated memory for captions of each length, against references of the
same length, and their ratios. An analysis that several measures share, such as a parse, is charged to the first of
them. Tests do the same for shorter captions.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from captious.core.errors import InputError
from captious.core.threads import working
from captious.corpus import Corpus
from captious.metrics import registry
from captious.metrics.base import Measure
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from captious.results.scores import Score
from captious.vectors import get
from tests.dual import vectors_for
from tests.threads import NORMS, TRAIN

_WORDS = [
    "a",
    "man",
    "riding",
    "a",
    "wave",
    "on",
    "top",
    "of",
    "a",
    "surfboard",
    "in",
    "the",
    "ocean",
    "while",
    "two",
    "dogs",
    "and",
    "a",
    "big",
    "cat",
    "watch",
    "from",
    "a",
    "sandy",
    "beach",
    "next",
    "to",
    "some",
    "old",
    "boats",
]


def _varied(words: int, rng: np.random.Generator) -> str:
    """Return words of a large dictionary: those of the default word vectors."""
    listed = get()._words
    rows = (listed.word(int(row)) for row in rng.permutation(len(listed)).repeat(2))
    return " ".join(word for word, _ in zip((word for word in rows if word.isalpha()), range(words)))


#: Texts of a number of words: of few words, of a large dictionary, of one word, of sentences, of unknown words.
KINDS: dict[str, Callable[[int, np.random.Generator], str]] = {
    "random": lambda words, rng: " ".join(rng.choice(_WORDS, words)),
    "varied": _varied,
    "one": lambda words, rng: " ".join(["dog"] * words),
    "sentences": lambda words, rng: " ".join(rng.choice([*_WORDS, ".", ","], words)),
    "new": lambda words, rng: " ".join(f"w{number}" for number in rng.permutation(words)),
}


class Cost(NamedTuple):
    """Processor time in seconds and the peak of allocated memory in bytes."""

    seconds: float
    memory: int


def corpus_of(kind: str, words: int) -> Corpus:
    """Build a corpus of two images with two candidates and two references of this many words each."""
    rng = np.random.default_rng(words)
    ids = ["1", "2"]
    ours, theirs = ([[KINDS[kind](words, rng) for _ in range(2)] for _ in ids] for _ in range(2))
    return Corpus.build(ids, ours, theirs, tokenizer="none")


def create(name: str, corpus: Corpus) -> Measure:
    """Create a measure with all that it needs for a corpus."""
    options = {
        "train": TRAIN,
        "norms": NORMS,
        "weights": str(WEIGHTS_FOLDER / "captious_score_lite.safetensors"),
        "objects": {"1": ["dog"], "2": ["boat"]},
        **vectors_for(corpus),
    }
    return registry.create(
        name, {key: value for key, value in options.items() if key in registry.option_table()}
    )


def costs(names: Iterable[str], kind: str, words: int) -> dict[str, Cost]:
    """Score a corpus by each measure with one thread: once for the time, and once more for the memory."""
    with working(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = {name: _run(name, corpus)[0] for corpus in [corpus_of(kind, words)] for name in names}
        tracemalloc.start()
        try:
            memory = {name: _run(name, corpus)[1] for corpus in [corpus_of(kind, words)] for name in names}
        finally:
            tracemalloc.stop()
    return {name: Cost(seconds[name], memory[name]) for name in seconds}


def _run(name: str, corpus: Corpus) -> Cost:
    measure = create(name, corpus)
    if tracemalloc.is_tracing():
        tracemalloc.reset_peak()
    before, begin = tracemalloc.get_traced_memory()[0], time.process_time()
    Score.of(measure, corpus)
    return Cost(time.process_time() - begin, tracemalloc.get_traced_memory()[1] - before)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.growth", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--lengths", default="1000,10000")
    parser.add_argument("--metrics", default=",".join(registry.names()))
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args(arguments)
    lengths = [int(length) for length in options.lengths.split(",")]
    titles = [f"{unit} at {length:,}" for unit in ("s", "MB") for length in lengths]
    print("metric", "captions", *titles, "time ×", "memory ×", sep="\t")
    for kind in options.kinds.split(","):
        for name in options.metrics.split(","):
            try:
                costs([name], kind, 20)
                seconds, memory = zip(*(costs([name], kind, length)[name] for length in lengths))
            except InputError as error:
                print(name, kind, error, sep="\t", flush=True)
                continue
            print(
                name,
                kind,
                *(f"{value:.3f}" for value in seconds),
                *(f"{value / 1e6:.1f}" for value in memory),
                f"{seconds[-1] / max(seconds[0], 1e-3):.1f}",
                f"{memory[-1] / max(memory[0], 1e4):.1f}",
                sep="\t",
                flush=True,
            )


if __name__ == "__main__":
    main()
