"""Word mover's distance beside gensim's ``wmdistance``: same vectors, same pairs, same values.

python -m benchmarks.wmd [--pairs 10000] [--vectors default|glove-6b-50d]
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np

from benchmarks.captions import public_data, read_jsonl
from benchmarks.timing import timed
from captious.corpus import Corpus
from captious.metrics.base import in_signature
from captious.metrics.captions.wmd import WMD, nearest_distances
from captious.results.scores import Score
from captious.text.stopwords import ENGLISH
from captious.vectors import get

Groups = list[list[str]]


class Comparison(NamedTuple):
    """Seconds of both sides and their distances."""

    our_seconds: float
    gensim_seconds: float
    ours: np.ndarray
    theirs: np.ndarray


def build(candidates: Groups, references: Groups) -> Corpus:
    return Corpus.build([str(i) for i in range(len(candidates))], candidates, references)


def compare(candidates: Groups, references: Groups, vectors: Any) -> Comparison:
    """Compute the distance of each candidate from its only reference, with captious and with gensim."""
    from gensim.models import KeyedVectors

    nearest_distances(build(candidates[:5], references[:5]), vectors)  # loads kernels
    corpus = build(candidates, references)
    ours, our_seconds = timed(lambda: nearest_distances(corpus, vectors))
    words = corpus.candidates.vocabulary.words
    rows, has_vector = vectors.lookup(words)
    table = KeyedVectors(vector_size=rows.shape[1])
    table.add_vectors([word for word, known in zip(words, has_vector) if known], rows[has_vector])
    pairs = [
        tuple(
            [word for word in side.words(i) if word not in ENGLISH]
            for side in (corpus.candidates, corpus.references)
        )
        for i in range(len(corpus.candidates))
    ]
    theirs, their_seconds = timed(lambda: np.array([table.wmdistance(a, b, norm=False) for a, b in pairs]))
    return Comparison(our_seconds.wall, their_seconds.wall, ours, theirs)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--pairs", type=int, default=10_000)
    arguments.add_argument("--vectors", default="glove-6b-50d")
    options = arguments.parse_args()
    vectors = get(options.vectors)
    groups = [row["captions"] for row in read_jsonl(public_data() / "flickr30k" / "captions.jsonl.gz")]

    # Half of the pairs are captions of the same image, half of different images.
    half = (options.pairs + 1) // 2
    others = groups[1 : options.pairs] + groups[:1]
    first = [[group[0]] for group in groups[:half] + groups[: options.pairs - half]]
    second = [[group[1]] for group in groups[:half]] + [
        [group[2]] for group in others[: options.pairs - half]
    ]
    ours_time, gensim_time, ours, theirs = compare(first, second, vectors)
    finite = np.isfinite(theirs)
    print(f"{len(ours):,} pairs, {in_signature(vectors)}")
    print(
        f"captious {ours_time:.3f} s, gensim {gensim_time:.3f} s: {gensim_time / ours_time:.0f} times faster"
    )
    difference = np.abs(ours - theirs)[finite].max()
    print(f"largest difference {difference:.2e}; infinite alike: {(finite == np.isfinite(ours)).all()}")

    # The metric in use: one candidate and four references, of which only the nearest counts.
    groups = groups[:5000]
    Score.of(WMD(vectors), build([g[:1] for g in groups[:100]], [g[1:] for g in groups[:100]]))
    corpus = build([group[:1] for group in groups], [group[1:] for group in groups])
    _, seconds = timed(lambda: Score.of(WMD(vectors), corpus))
    print(f"as a metric: {len(corpus.pairs[0]):,} pairs of {len(groups):,} images in {seconds.wall:.3f} s")


if __name__ == "__main__":
    main()
