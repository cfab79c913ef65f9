"""Word mover's distance beside gensim's ``wmdistance``: same vectors, same pairs, same values, both timed in one run.

python -m benchmarks.wmd [--pairs 10000] [--vectors default|glove-6b-50d]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from pathlib import Path

import numpy as np

from captious.corpus import Corpus
from captious.metrics.base import in_signature
from captious.metrics.captions.wmd import WMD, nearest_distances
from captious.results.scores import Score
from captious.text.stopwords import ENGLISH
from captious.vectors import get


def main() -> None:
    """Time both, compare values, print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--vectors", default="glove-6b-50d")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CAPTIOUS_DATA", "../shared/data")))
    given = parser.parse_args()
    vectors = get(given.vectors)
    first, second = pairs(given.data, given.pairs)
    ids = [str(i) for i in range(len(first))]

    def corpus() -> Corpus:
        return Corpus.build(ids, [[text] for text in first], [[text] for text in second])

    nearest_distances(
        Corpus.build(["0"], [["a dog on grass"]], [["a cat in the snow"]]), vectors
    )  # warm both up
    Score.of(WMD(vectors), Corpus.build(ids[:500], [[t] for t in first[:500]], [[t] for t in second[:500]]))
    built = corpus()
    start = time.perf_counter()
    ours = nearest_distances(built, vectors)
    own_time = time.perf_counter() - start

    theirs, their_time = gensim_distances(built, vectors)
    defined = np.isfinite(theirs)
    print(f"{len(ours):,} pairs, {in_signature(vectors)}")
    print(f"captious {own_time:.3f} s, gensim {their_time:.3f} s: {their_time / own_time:.0f} times faster")
    print(
        f"largest difference {np.abs(ours - theirs)[defined].max():.2e}; infinite alike: {(defined == np.isfinite(ours)).all()}"
    )
    image_benchmark(given.data, vectors)


def pairs(data: Path, count: int) -> tuple[list[str], list[str]]:
    """Captions of the same image, and of different images, half and half."""
    with gzip.open(data / "flickr30k" / "captions.jsonl.gz", "rt", encoding="utf-8") as lines:
        groups = [json.loads(line)["captions"] for line, _ in zip(lines, range(count))]
    first = [group[0] for group in groups] * 2
    second = [group[1] for group in groups] + [group[2] for group in groups[1:] + groups[:1]]
    half = (count + 1) // 2
    return (
        first[:half] + first[len(groups) :][: count - half],
        second[:half] + second[len(groups) :][: count - half],
    )


def gensim_distances(built: Corpus, vectors: object) -> tuple[np.ndarray, float]:
    """What gensim gives for the same words, and the time of its distances alone."""
    from gensim.models import KeyedVectors

    words = built.candidates.vocabulary.words
    rows, found = vectors.lookup(words)  # type: ignore[attr-defined]
    table = KeyedVectors(vector_size=rows.shape[1])
    table.add_vectors([word for word, known in zip(words, found) if known], rows[found])
    texts = [
        (
            [w for w in built.candidates.words(i) if w not in ENGLISH],
            [w for w in built.references.words(i) if w not in ENGLISH],
        )
        for i in range(len(built.candidates))
    ]
    start = time.perf_counter()
    values = np.array([table.wmdistance(a, b, norm=False) for a, b in texts])
    return values, time.perf_counter() - start


def image_benchmark(data: Path, vectors: object) -> None:
    """The metric as it is used: one candidate, four references, only the nearest wanted."""
    with gzip.open(data / "flickr30k" / "captions.jsonl.gz", "rt", encoding="utf-8") as lines:
        groups = [json.loads(line)["captions"] for line, _ in zip(lines, range(5000))]
    built = Corpus.build(
        [str(i) for i in range(len(groups))], [g[:1] for g in groups], [g[1:] for g in groups]
    )
    start = time.perf_counter()
    Score.of(WMD(vectors), built)
    seconds = time.perf_counter() - start
    print(f"as a metric: {len(built.pairs[0]):,} pairs of {len(groups):,} images in {seconds:.3f} s")


if __name__ == "__main__":
    main()
