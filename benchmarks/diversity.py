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
from captious.results.scores import Scores

CAPTIONS, REFERENCES = 10, 5


def made_up(images: int, seed: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """Samples and references: per image some 25 words of its own, and common words, drawn with Zipf's frequencies."""
    generator = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(8000)])
    common = 1.0 / np.arange(1, 61)

    def caption(topic: list[str]) -> str:
        length = int(generator.integers(8, 14))
        frequent = words[generator.choice(60, size=length, p=common / common.sum())]
        return " ".join(
            np.where(generator.random(length) < 0.5, frequent, generator.choice(topic, size=length))
        )

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
    # The first call loads modules and the library of kernels.
    loading = Watch()
    captious.diversity(corpus_of(samples[:400], references[:400]))
    loading.stop()
    quick, found = best_of(3, samples, references)

    split = [[caption.split() for caption in captions] for captions in samples]
    split_references = [[caption.split() for caption in captions] for captions in references]
    counting = Watch()
    df = plain.document_frequencies(split_references)
    counting.stop()
    slow = Watch()
    expected = [plain.measure(split[i], split_references[i], df, images) for i in range(plain_images)]
    slow.stop()
    whole = [c + s / plain_images * images for c, s in zip(counting.times, slow.times)]
    worst = max(
        abs(row[name] - found[name].per_image[str(i)]) for i, row in enumerate(expected) for name in row
    )
    ratios = [a / b for a, b in zip(whole, quick)]
    print(f"{images:,} images × {CAPTIONS} captions, {len(expected[0])} measures, from tokens")
    print(f"{'':18}{'wall clock':>12}{'processor':>12}")
    print(f"{'straightforward':18}{whole[0]:10.1f} s{whole[1]:10.1f} s   (from {plain_images} images)")
    print(f"{'captious':18}{quick[0]:10.2f} s{quick[1]:10.2f} s   (best of 3)")
    print(f"{'ratio':18}{ratios[0]:10.0f} ×{ratios[1]:10.0f} ×   largest difference {worst:.1e}")
    print(f"{'loading':18}{loading.times[0]:10.2f} s{loading.times[1]:10.2f} s   (once per process)")
    return ratios[0]


class Watch:
    """Wall clock and processor time since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()
        self.times = (0.0, 0.0)

    def stop(self) -> tuple[float, float]:
        self.times = time.perf_counter() - self._start[0], time.process_time() - self._start[1]
        return self.times


def best_of(
    times: int, samples: list[list[str]], references: list[list[str]]
) -> tuple[tuple[float, float], Scores]:
    """The shortest of several runs (wall clock, processor), each on a corpus from which nothing is derived yet."""
    runs = []
    for _ in range(times):
        corpus = corpus_of(samples, references)
        watch = Watch()
        found = captious.diversity(corpus)
        for score in found.values():
            _ = score.value
        runs.append(watch.stop())
    return (min(wall for wall, _ in runs), min(processor for _, processor in runs)), found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*(int(argument) for argument in sys.argv[1:3]))
