"""Captions chosen from captions that are tokenised already: held-out references, the best m, pairs for a kernel."""

from __future__ import annotations

import numpy as np

from captious.corpus import Captions, Corpus, IntArray, offsets_of
from captious.metrics.document_frequency import ReferenceFrequencies
from captious.text.ngrams import NgramTable


class Selection(Captions):
    """The captions ``index`` of ``source``, grouped anew; nothing is tokenised or numbered a second time."""

    def __init__(self, source: Captions, index: IntArray, image_offsets: IntArray) -> None:
        self.source = source
        self.index = np.asarray(index, dtype=np.int64)
        texts = source.texts
        self.texts = [texts[i] for i in self.index.tolist()]
        self.image_offsets = np.asarray(image_offsets, dtype=np.int64)
        self.lexicon = source.lexicon
        self.tokenizer = source.tokenizer
        rows, self.token_offsets = gather(source.token_offsets, self.index)
        self.tokens = source.tokens[rows]
        self._memo = {}

    def ngrams(self, n: int) -> NgramTable:
        """The rows of the source's table."""
        table = self.source.ngrams(n)

        def pick() -> NgramTable:
            rows, offsets = gather(table.offsets, self.index)
            return NgramTable(table.number[rows], table.count[rows], offsets, table.totals[self.index])

        return self.cached(("ngrams", n, id(table)), pick)


def gather(offsets: IntArray, index: IntArray) -> tuple[IntArray, IntArray]:
    """Positions of the runs ``index`` of a ragged array, end to end, and the offsets of those runs."""
    lengths = np.diff(offsets)[index]
    new = offsets_of(lengths)
    return np.arange(new[-1], dtype=np.int64) + np.repeat(offsets[index] - new[:-1], lengths), new


def without_references(ids: tuple[str, ...], candidates: Captions, name: str) -> Corpus:
    """A corpus of candidates alone."""
    nothing = Captions([[] for _ in ids], candidates.tokenizer, candidates.lexicon)
    return Corpus(ids, candidates, nothing, name=name)


def of_pairs(corpus: Corpus, captions: Captions, first: IntArray, second: IntArray) -> Corpus:
    """Caption ``first[p]`` as the candidate, and ``second[p]`` as the only reference, of an image p of its own.

    n-grams go on being weighed by the references of the whole corpus.
    """
    offsets = np.arange(len(first) + 1, dtype=np.int64)
    pairs = Corpus(
        tuple(map(str, range(len(first)))),
        Selection(captions, first, offsets),
        Selection(captions, second, offsets),
        name=corpus.name,
    )
    return weighed_as(pairs, corpus)


def leave_one_out(corpus: Corpus, *, name: str = "human") -> Corpus:
    """Each reference as the candidate, against the other references of its image: how well people do.

    Images with one reference have nothing to compare it with and are left out. Every reference becomes an image of its
    own, whose id is the image's with the number of the reference.
    """
    references = corpus.references
    several = np.flatnonzero(references.per_image > 1)
    counts = references.per_image[several]
    candidate, _ = gather(references.image_offsets, several)
    image = np.repeat(several, counts)
    place = candidate - references.image_offsets[image]
    others = references.per_image[image] - 1
    offsets = offsets_of(others)
    # The k-th of the others is the k-th reference, or the one after it from the held-out one on.
    step = np.arange(offsets[-1], dtype=np.int64) - np.repeat(offsets[:-1], others)
    step += step >= np.repeat(place, others)
    held_out = np.repeat(references.image_offsets[image], others) + step
    ids = tuple(f"{corpus.ids[i]}#{k}" for i, k in zip(image.tolist(), place.tolist()))
    out = Corpus(
        ids,
        Selection(references, candidate, np.arange(len(candidate) + 1, dtype=np.int64)),
        Selection(references, held_out, offsets),
        name=name,
    )
    return weighed_as(out, corpus)


def references_as_candidates(corpus: Corpus, *, name: str = "human") -> Corpus:
    """The reference sets in the place of a system's, with the same document frequencies."""
    out = Corpus(corpus.ids, corpus.references, corpus.references, name=name, left_out=corpus.left_out)
    return weighed_as(out, corpus)


def with_selected(corpus: Corpus, index: IntArray, counts: IntArray, *, name: str | None = None) -> Corpus:
    """The same images with some of their candidates: ``counts[i]`` of them for image i."""
    chosen = Selection(corpus.candidates, index, offsets_of(counts))
    return Corpus(corpus.ids, chosen, corpus.references, name=name or corpus.name, left_out=corpus.left_out)


def of_images(corpus: Corpus, images: IntArray) -> Corpus:
    """Some of the images, still weighed by the references of all."""
    sides = []
    for captions in (corpus.candidates, corpus.references):
        index, offsets = gather(captions.image_offsets, images)
        sides.append(Selection(captions, index, offsets))
    ids = tuple(corpus.ids[i] for i in images.tolist())
    out = Corpus(ids, sides[0], sides[1], name=corpus.name, left_out=corpus.left_out + len(corpus) - len(ids))
    return weighed_as(out, corpus)


def weighed_as(corpus: Corpus, original: Corpus) -> Corpus:
    """Let CIDEr weigh the n-grams of a rearranged corpus by the references of the original one."""
    if len(original.references) and len(original) > 1:
        corpus.references.cached("reference frequencies", lambda: frequencies_of(original))
    return corpus


def frequencies_of(corpus: Corpus) -> ReferenceFrequencies:
    """Document frequencies of the references of a corpus (which :class:`captious.metrics.cider.Cider` shares)."""
    return corpus.references.cached("reference frequencies", lambda: ReferenceFrequencies(corpus.references))
