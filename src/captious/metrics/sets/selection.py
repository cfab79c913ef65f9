"""Corpora rearranged from encoded captions: held-out references, the best m captions, pairs for kernels.

The state that a measure prepared from the original references (document frequencies, for example) remains in
use.
"""

from __future__ import annotations

import numpy as np

from captious.core.ragged import IntArray, offsets_of, positions_of, runs
from captious.corpus import Captions, Corpus


def of_pairs(captions: Captions, first: IntArray, second: IntArray, *, name: str) -> Corpus:
    """Return a corpus of one image per pair with candidate ``first[p]`` and reference ``second[p]``."""
    offsets = np.arange(len(first) + 1, dtype=np.int64)
    return Corpus(captions.take(first, offsets), captions.take(second, offsets), name=name)


def leave_one_out(references: Captions, *, name: str = "human") -> Corpus:
    """Return each reference as a candidate against the other references of its image, a human baseline.

    Images with one reference are left out. Every reference becomes an image of its own, whose id is that of
    the image with the number of the reference.
    """
    several = np.flatnonzero(references.per_image > 1)
    counts = references.per_image[several]
    candidate, _ = runs(references.image_offsets, several)
    image = np.repeat(several, counts)
    place = candidate - references.image_offsets[image]
    others = references.per_image[image] - 1
    # The k-th of the others is the k-th reference before the held-out one, and the (k+1)-th after it.
    step, offsets = positions_of(np.zeros_like(others), others)
    step += step >= np.repeat(place, others)
    held_out = np.repeat(references.image_offsets[image], others) + step
    ids = [f"{references.ids[i]}#{k}" for i, k in zip(image.tolist(), place.tolist())]
    alone = np.arange(len(candidate) + 1, dtype=np.int64)
    return Corpus(references.take(candidate, alone, ids), references.take(held_out, offsets, ids), name=name)


def references_as_candidates(corpus: Corpus) -> Corpus:
    """Return the corpus with the reference sets as candidates, under the name 'human'."""
    people = corpus.references.take_images(corpus.images)
    return Corpus(people, corpus.references, name="human", left_out=corpus.left_out, images=corpus.images)


def with_selected(corpus: Corpus, index: IntArray, counts: IntArray) -> Corpus:
    """Return the same images with some of their candidates, ``counts[i]`` for image i."""
    return corpus.with_captions(corpus.candidates.take(index, offsets_of(counts), corpus.ids))


def of_images(corpus: Corpus, images: IntArray) -> Corpus:
    """Return some of the images, against the references of all."""
    return Corpus(
        corpus.candidates.take_images(images),
        corpus.references,
        name=corpus.name,
        left_out=corpus.left_out,
        images=corpus.images[images],
    )
