"""Corpora of captions that are encoded already, put together anew: held-out references, the best m, pairs for a kernel.

What a measure prepared from the references of the original corpus (document frequencies, say) goes on being used with them.
"""

from __future__ import annotations

import numpy as np

from captious.corpus import Captions, Corpus
from captious.ragged import IntArray, offsets_of, runs


def of_pairs(captions: Captions, first: IntArray, second: IntArray, *, name: str) -> Corpus:
    """Caption ``first[p]`` as the candidate, and ``second[p]`` as the only reference, of an image p of its own."""
    offsets = np.arange(len(first) + 1, dtype=np.int64)
    return Corpus(captions.take(first, offsets), captions.take(second, offsets), name=name)


def leave_one_out(references: Captions, *, name: str = "human") -> Corpus:
    """Each reference as the candidate, against the other references of its image: how well people do.

    Images with one reference have nothing to compare it with and are left out. Every reference becomes an image of its
    own, whose id is the image's with the number of the reference.
    """
    several = np.flatnonzero(references.per_image > 1)
    counts = references.per_image[several]
    candidate, _ = runs(references.image_offsets, several)
    image = np.repeat(several, counts)
    place = candidate - references.image_offsets[image]
    others = references.per_image[image] - 1
    offsets = offsets_of(others)
    # The k-th of the others is the k-th reference, or the one after it from the held-out one on.
    step = np.arange(offsets[-1], dtype=np.int64) - np.repeat(offsets[:-1], others)
    step += step >= np.repeat(place, others)
    held_out = np.repeat(references.image_offsets[image], others) + step
    ids = [f"{references.ids[i]}#{k}" for i, k in zip(image.tolist(), place.tolist())]
    alone = np.arange(len(candidate) + 1, dtype=np.int64)
    return Corpus(references.take(candidate, alone, ids), references.take(held_out, offsets, ids), name=name)


def references_as_candidates(corpus: Corpus, *, name: str = "human") -> Corpus:
    """The reference sets in the place of a system's."""
    people = corpus.references.take_images(corpus.images)
    return Corpus(people, corpus.references, name=name, left_out=corpus.left_out, images=corpus.images)


def with_selected(corpus: Corpus, index: IntArray, counts: IntArray, *, name: str | None = None) -> Corpus:
    """The same images with some of their candidates: ``counts[i]`` of them for image i."""
    return corpus.with_captions(corpus.candidates.take(index, offsets_of(counts), corpus.ids), name=name)


def of_images(corpus: Corpus, images: IntArray) -> Corpus:
    """Some of the images, against the references of all."""
    return Corpus(
        corpus.candidates.take_images(images), corpus.references,
        name=corpus.name, left_out=corpus.left_out, images=corpus.images[images],
    )  # fmt: skip
