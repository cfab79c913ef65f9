"""Rewards of a training step: 64 images with 5 samples each, beside the usual CIDEr-D reward in Python.

    python -m benchmarks.reward [--images N] [--steps N] [--spice]

The peer is the algorithm of common training code for captioning, in plain Python: n-grams in dictionaries,
document frequencies counted beforehand, and the references of the batch counted again at every step. A
variant that counts references once is timed, too. All sides score the same captions and must return the same
rewards. The samples of an image are the captions of five published systems. Without the public data, captions
are random.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import captious
from benchmarks.captions import coco

BATCH, SAMPLES, N, SIGMA = 64, 5, 4, 6.0
#: Systems whose captions are the samples.
SYSTEMS = ("Dai-et-al-2017", "Liu-et-al-2017", "Mun-et-al-2017", "Shetty-et-al-2016", "Tavakoli-et-al-2017")
Counts = dict[tuple[str, ...], int]


def count_ngrams(text: str) -> Counts:
    """Count the n-grams of a caption."""
    words = text.split()
    return Counter(tuple(words[i : i + n]) for n in range(1, N + 1) for i in range(len(words) - n + 1))


class PlainCiderD:
    """CIDEr-D in plain Python: one caption after the other, in dictionaries.

    ``count_once`` counts the n-grams of references beforehand instead of at every step.
    """

    def __init__(self, references: dict[str, list[str]], *, count_once: bool) -> None:
        self.references = references
        self.df: dict[tuple[str, ...], float] = defaultdict(float)
        for captions in references.values():
            for gram in {gram for caption in captions for gram in count_ngrams(caption)}:
                self.df[gram] += 1
        self.log_images = math.log(len(references))
        self.counts: dict[str, list[Counts]] = {}
        if count_once:
            self.counts = {image: list(map(count_ngrams, captions)) for image, captions in references.items()}

    def vector(self, counts: Counts) -> tuple[list[dict[tuple[str, ...], float]], list[float], int]:
        vectors: list[dict[tuple[str, ...], float]] = [{} for _ in range(N)]
        norms, length = [0.0] * N, 0
        for gram, count in counts.items():
            n = len(gram) - 1
            value = count * (self.log_images - math.log(max(1.0, self.df.get(gram, 0.0))))
            vectors[n][gram] = value
            norms[n] += value * value
            if n == 1:
                length += count
        return vectors, [math.sqrt(norm) for norm in norms], length

    def similarity(self, candidate: Any, reference: Any) -> float:
        ours, norms, length = candidate
        theirs, their_norms, their_length = reference
        total = 0.0
        for n in range(N):
            value = 0.0
            for gram, weight in ours[n].items():
                other = theirs[n].get(gram, 0.0)
                value += min(weight, other) * other
            if norms[n] and their_norms[n]:
                value /= norms[n] * their_norms[n]
            total += value * math.exp(-((length - their_length) ** 2) / (2 * SIGMA**2))
        return total / N

    def __call__(self, images: list[str], samples: list[list[str]]) -> np.ndarray[Any, Any]:
        rewards = np.zeros((len(images), len(samples[0])))
        for i, (image, captions) in enumerate(zip(images, samples)):
            for k, caption in enumerate(captions):
                counts = self.counts.get(image) or list(map(count_ngrams, self.references[image]))
                references = [self.vector(c) for c in counts]
                own = self.vector(count_ngrams(caption))
                rewards[i, k] = 10 * sum(self.similarity(own, r) for r in references) / len(references)
        return rewards


def milliseconds(work: Callable[[int], Any], steps: int) -> float:
    """Return the median time of a step."""
    times = []
    for step in range(steps):
        start = time.perf_counter()
        work(step)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--images", type=int, default=5_000, help="images with references")
    arguments.add_argument("--steps", type=int, default=20)
    arguments.add_argument(
        "--spice", action="store_true", help="time SPICE, too, after parsing its references"
    )
    options = arguments.parse_args()
    warnings.simplefilter("ignore")
    raw = coco(images=options.images)[0]
    prepared = captious.prepare(raw, "CIDEr-D")
    captions = prepared.captions
    sentences, bounds = captions.sentences, captions.image_offsets.tolist()
    tokenised = {image: sentences[a:b] for image, a, b in zip(captions.ids, bounds, bounds[1:])}
    rng = random.Random(0)
    systems = [coco(system, options.images)[1] for system in SYSTEMS]
    drawn = captious.Captions.of([[system[image] for system in systems] for image in captions.ids])
    words = list(dict.fromkeys(["<end>", *captions.vocabulary.words, *drawn.vocabulary.words]))
    number = {word: i for i, word in enumerate(words)}
    picked = [rng.sample(range(len(captions.ids)), BATCH) for _ in range(options.steps)]
    batches = [
        ([captions.ids[i] for i in rows], [drawn.sentences[SAMPLES * i : SAMPLES * (i + 1)] for i in rows])
        for rows in picked
    ]
    as_numbers = []
    for _, texts in batches:
        rows = np.zeros((BATCH, SAMPLES, 40), np.int64)
        for i, group in enumerate(texts):
            for k, text in enumerate(group):
                ids = [number[word] for word in text.split()][:40]
                rows[i, k, : len(ids)] = ids
        as_numbers.append(rows)

    ours = captious.reward(prepared, "CIDEr-D", vocabulary=words, end=0)
    plain, cached = (PlainCiderD(tokenised, count_once=once) for once in (False, True))
    for step in range(3):  # loads kernels and compares values
        image_ids, texts = batches[step]
        expected = plain(image_ids, texts)
        for values in (ours(image_ids, as_numbers[step]), ours(image_ids, texts), cached(image_ids, texts)):
            assert np.allclose(values, expected, rtol=1e-5, atol=1e-5), float(np.abs(values - expected).max())
    few = min(options.steps, 8)
    peer = milliseconds(lambda i: plain(*batches[i]), few)
    cached_peer = milliseconds(lambda i: cached(*batches[i]), few)
    ids = milliseconds(lambda i: ours(batches[i][0], as_numbers[i]), options.steps)
    text = milliseconds(lambda i: ours(*batches[i]), options.steps)
    size = f"{BATCH} images x {SAMPLES} samples against {len(captions.ids):,} images"
    print(f"reward of {size}, median of {options.steps} steps:")
    print(f"  plain Python CIDEr-D  {peer:8.1f} ms")
    print(f"  references cached     {cached_peer:8.1f} ms")
    print(f"  captious, words as ids{ids:8.2f} ms   {peer / ids:6.1f} x ({cached_peer / ids:.1f} x)")
    print(f"  captious, text        {text:8.2f} ms   {peer / text:6.1f} x ({cached_peer / text:.1f} x)")
    if options.spice:
        spice = captious.reward(prepared, {"SPICE": 1}, vocabulary=words, end=0)
        spice(batches[0][0], as_numbers[0])
        human = [
            [[rng.choice(sentences) for _ in range(SAMPLES)] for _ in range(BATCH)]
            for _ in range(options.steps)
        ]
        systems_time = milliseconds(lambda i: spice(batches[i][0], as_numbers[i]), options.steps)
        human_time = milliseconds(lambda i: spice(batches[i][0], human[i]), options.steps)
        print(f"  SPICE, words as ids   {systems_time:8.1f} ms")
        print(f"  SPICE, human captions {human_time:8.1f} ms")


if __name__ == "__main__":
    main()
