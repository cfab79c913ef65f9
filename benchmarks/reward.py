"""Rewards of a training step: 64 images with 5 samples each, beside the usual CIDEr-D reward in Python.

``python -m benchmarks.reward [--images N] [--steps N] [--spice]``: the peer is the algorithm that training code for
captioning commonly carries, written plainly here: n-grams in dictionaries, document frequencies counted beforehand, the references of
the batch counted again at every step. A kinder form of it, whose references were counted once, is timed too. Both sides get the
same captions and must give the same rewards. The samples of an image are what five published systems say of it; where the data
are not there, captions are made up.
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
from benchmarks.common import coco

BATCH, SAMPLES, N, SIGMA = 64, 5, 4, 6.0
#: Whose captions are the samples.
SYSTEMS = ("Dai-et-al-2017", "Liu-et-al-2017", "Mun-et-al-2017", "Shetty-et-al-2016", "Tavakoli-et-al-2017")
Counts = dict[tuple[str, ...], int]


def counted(text: str) -> Counts:
    """The n-grams of a caption."""
    words = text.split()
    return Counter(tuple(words[i : i + n]) for n in range(1, N + 1) for i in range(len(words) - n + 1))


class PlainCiderD:
    """CIDEr-D as training code has it: one caption after the other, in dictionaries."""

    def __init__(self, references: dict[str, list[str]], *, keep: bool) -> None:
        self.references = references
        self.df: dict[tuple[str, ...], float] = defaultdict(float)
        for captions in references.values():
            for gram in {gram for caption in captions for gram in counted(caption)}:
                self.df[gram] += 1
        self.log_images = math.log(len(references))
        self.kept = (
            {image: [counted(c) for c in captions] for image, captions in references.items()}
            if keep
            else None
        )

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
        found = np.zeros((len(images), len(samples[0])))
        for i, (image, captions) in enumerate(zip(images, samples)):
            for k, caption in enumerate(captions):
                counts = (
                    self.kept[image]
                    if self.kept is not None
                    else [counted(c) for c in self.references[image]]
                )
                references = [self.vector(c) for c in counts]
                own = self.vector(counted(caption))
                found[i, k] = 10 * sum(self.similarity(own, r) for r in references) / len(references)
        return found


def milliseconds(work: Callable[[int], Any], steps: int) -> float:
    """The median time of a step."""
    times = []
    for step in range(steps):
        start = time.perf_counter()
        work(step)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=5_000, help="images that have references")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument(
        "--spice", action="store_true", help="SPICE as reward, too (its references are parsed first)"
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    raw = coco(images=given.images)[0]
    prepared = captious.prepare(raw, "CIDEr-D")
    captions = prepared.captions
    sentences, bounds = captions.sentences, captions.image_offsets.tolist()
    tokenised = {image: sentences[a:b] for image, a, b in zip(captions.ids, bounds, bounds[1:])}
    rng = random.Random(0)
    said = [coco(system, given.images)[1] for system in SYSTEMS]
    drawn = captious.Captions.of([[system[image] for system in said] for image in captions.ids])
    words = list(dict.fromkeys(["<end>", *captions.vocabulary.words, *drawn.vocabulary.words]))
    number = {word: i for i, word in enumerate(words)}
    picked = [rng.sample(range(len(captions.ids)), BATCH) for _ in range(given.steps)]
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
    plain, kind = (PlainCiderD(tokenised, keep=keep) for keep in (False, True))
    for step in range(3):  # compiled code is loaded, and the values are compared
        image_ids, texts = batches[step]
        expected = plain(image_ids, texts)
        for values in (ours(image_ids, as_numbers[step]), ours(image_ids, texts), kind(image_ids, texts)):
            assert np.allclose(values, expected, rtol=1e-5, atol=1e-5), float(np.abs(values - expected).max())
    few = min(given.steps, 8)
    peer = milliseconds(lambda i: plain(*batches[i]), few)
    kinder = milliseconds(lambda i: kind(*batches[i]), few)
    ids = milliseconds(lambda i: ours(batches[i][0], as_numbers[i]), given.steps)
    text = milliseconds(lambda i: ours(*batches[i]), given.steps)
    print(
        f"a reward of {BATCH} images x {SAMPLES} samples against {len(captions.ids):,} images, median of {given.steps} steps:"
    )
    print(f"  plain Python CIDEr-D  {peer:8.1f} ms")
    print(f"  references kept       {kinder:8.1f} ms")
    print(f"  captious, words as ids{ids:8.2f} ms   {peer / ids:6.1f} x ({kinder / ids:.1f} x)")
    print(f"  captious, text        {text:8.2f} ms   {peer / text:6.1f} x ({kinder / text:.1f} x)")
    if given.spice:
        spice = captious.reward(prepared, {"SPICE": 1}, vocabulary=words, end=0)
        spice(batches[0][0], as_numbers[0])
        human = [
            [[rng.choice(sentences) for _ in range(SAMPLES)] for _ in range(BATCH)]
            for _ in range(given.steps)
        ]
        took = milliseconds(lambda i: spice(batches[i][0], as_numbers[i]), given.steps)
        took_human = milliseconds(lambda i: spice(batches[i][0], human[i]), given.steps)
        print(f"  SPICE, words as ids   {took:8.1f} ms")
        print(f"  SPICE, as many different human captions {took_human:8.1f} ms")


if __name__ == "__main__":
    main()
