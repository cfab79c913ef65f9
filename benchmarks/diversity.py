"""Measures of sets of captions: captious beside a straightforward implementation, image by image, in one run.

    python -m benchmarks.diversity [IMAGES] [PLAIN_IMAGES]

Both sides start from tokens. The plain side is timed on PLAIN_IMAGES images (default 50) and its time per image
multiplied; the numbers of both sides must agree on those images. Captions are drawn at random from a vocabulary whose
words have frequencies like those of captions.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

import captious
from benchmarks import plain_diversity as plain
from captious.corpus import Corpus
from captious.scores import Scores

CAPTIONS, REFERENCES = 10, 5


def made_up(images: int, seed: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """Samples and references: per image some 25 words of its own, and common words, drawn with Zipf's frequencies."""
    generator = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(8000)])
    common = 1.0 / np.arange(1, 61)

    def caption(topic: list[str]) -> str:
        length = int(generator.integers(8, 14))
        frequent = words[generator.choice(60, size=length, p=common / common.sum())]
        return " ".join(np.where(generator.random(length) < 0.5, frequent, generator.choice(topic, size=length)))

    samples, references = [], []
    for _ in range(images):
        topic = list(words[generator.integers(60, 8000, size=25)])
        samples.append([caption(topic[:10]) for _ in range(CAPTIONS)])
        references.append([caption(topic) for _ in range(REFERENCES)])
    return samples, references


def corpus_of(samples: list[list[str]], references: list[list[str]]) -> Corpus:
    """Tokens: what both sides start from."""
    return Corpus.build([str(i) for i in range(len(samples))], samples, references, tokenizer="none")


def main(images: int = 5000, plain_images: int = 50) -> float:
    """Print both times and their ratio."""
    samples, references = made_up(images)
    # The first call loads Numba and the compiled kernels (and compiles them, once on a machine).
    start = time.perf_counter()
    captious.diversity(corpus_of(samples[:400], references[:400]))
    loading = time.perf_counter() - start
    quick, processor, found = best_of(3, samples, references)

    split = [[caption.split() for caption in captions] for captions in samples]
    split_references = [[caption.split() for caption in captions] for captions in references]
    start = time.perf_counter()
    df = plain.document_frequencies(split_references)
    counting = time.perf_counter() - start
    start = time.perf_counter()
    expected = [plain.measure(split[i], split_references[i], df, images) for i in range(plain_images)]
    slow = counting + (time.perf_counter() - start) / plain_images * images
    worst = max(
        abs(row[name] - found[name].per_image[str(i)]) for i, row in enumerate(expected) for name in row
    )
    ratio = slow / quick
    print(f"{images:,} images × {CAPTIONS} captions, {len(expected[0])} measures, from tokens")
    print(f"  straightforward   {slow:8.1f} s   (from {plain_images} images)")
    print(f"  captious          {quick:8.2f} s   ({processor:.2f} s of processor time; best of 3)")
    print(f"  loading           {loading:8.2f} s   (first call of a process: compiled code is loaded, or compiled once)")
    print(f"  ratio             {ratio:8.0f} ×   largest difference {worst:.1e}")
    return ratio


def best_of(times: int, samples: list[list[str]], references: list[list[str]]) -> tuple[float, float, Scores]:
    """The shortest of several runs (wall clock, processor), each on a corpus from which nothing is derived yet."""
    shortest = processor = float("inf")
    for _ in range(times):
        corpus = corpus_of(samples, references)
        start, start_processor = time.perf_counter(), time.process_time()
        found = captious.diversity(corpus)
        for score in found.values():
            _ = score.value
        shortest = min(shortest, time.perf_counter() - start)
        processor = min(processor, time.process_time() - start_processor)
    return shortest, processor, found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*(int(argument) for argument in sys.argv[1:3]))
