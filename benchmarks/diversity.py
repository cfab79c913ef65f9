"""Measures of sets of captions: captious beside a straightforward implementation that goes image by image.

    python -m benchmarks.diversity [--images 5000] [--plain-images 50]

Both sides start from tokens. The plain side is timed on a few images, and its time is multiplied. The values
of both sides are compared on these images. Captions are drawn from a vocabulary with the word frequencies of
captions.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import captious
from benchmarks import plain_diversity as plain
from benchmarks.timing import best_of, timed
from captious.corpus import Corpus
from captious.results.scores import Scores

CAPTIONS, REFERENCES = 10, 5


def random_sets(images: int, seed: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """Draw samples and references from 25 words per image and common words with Zipf's frequencies."""
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


def measure(samples: list[list[str]], references: list[list[str]]) -> Scores:
    """Compute all measures of a new corpus, which has no cached results."""
    ids = [str(i) for i in range(len(samples))]
    scores = captious.diversity(Corpus.build(ids, samples, references, tokenizer="none"))
    for score in scores.values():
        _ = score.value
    return scores


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--images", type=int, default=5000)
    arguments.add_argument("--plain-images", type=int, default=50)
    options = arguments.parse_args()
    warnings.simplefilter("ignore")
    samples, references = random_sets(options.images)
    _, loading = timed(lambda: measure(samples[:400], references[:400]))
    scores, ours = best_of(3, lambda: measure(samples, references))

    tokens, reference_tokens = (
        [[caption.split() for caption in captions] for captions in groups] for groups in (samples, references)
    )
    df, counting = timed(lambda: plain.document_frequencies(reference_tokens))
    expected, some = timed(
        lambda: [
            plain.measure(tokens[i], reference_tokens[i], df, options.images)
            for i in range(options.plain_images)
        ]
    )
    total = [c + s / options.plain_images * options.images for c, s in zip(counting, some)]
    worst = max(
        abs(row[name] - scores[name].per_image[str(i)]) for i, row in enumerate(expected) for name in row
    )
    print(f"{options.images:,} images × {CAPTIONS} captions, {len(expected[0])} measures, from tokens")
    print(f"{'':18}{'wall clock':>12}{'processor':>12}")
    for label, seconds, unit, note in (
        ("straightforward", total, "s", f"from {options.plain_images} images"),
        ("captious", ours, "s", "best of 3"),
        ("ratio", [a / b for a, b in zip(total, ours)], "×", f"largest difference {worst:.1e}"),
        ("first run", loading, "s", "400 images, loads modules and kernels"),
    ):
        print(f"{label:18}{seconds[0]:10.2f} {unit}{seconds[1]:10.2f} {unit}   ({note})")


if __name__ == "__main__":
    main()
