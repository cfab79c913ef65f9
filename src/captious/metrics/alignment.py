"""Soft alignment of tokens: every token of one caption with its nearest token in another (as in BERTScore, Zhang et al. 2020).

All captions of an image are compared in one matrix product. Means over tokens are plain or weighted by how rare a token is in
captions (:mod:`captious.vectors.pieces`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.measures.base import FloatArray
from captious.metrics.encoded import token_vectors
from captious.metrics.word_tables import vocabulary_vectors
from captious.progress import track
from captious.ragged import IntArray, offsets_of
from captious.threads import one_blas_thread
from captious.vectors import WordVectors, pieces
from captious.vectors.sentences import SentenceEncoder

Floats = NDArray[np.float32]
T = TypeVar("T")


class Tokens(NamedTuple):
    """Captions as sequences of unit vectors with weights; caption i is the sequence ``sequence[i]``."""

    sequence: IntArray
    offsets: IntArray
    rows: NDArray[np.float16]
    weights: Floats


class Reader(NamedTuple):
    """How captions become sequences of vectors, and what names that way."""

    digest: str
    read: Callable[[Captions], Tokens]


def by_encoder(encoder: SentenceEncoder) -> Reader:
    """Pieces of words as the last layer of a sentence encoder has them, each in its context."""

    def read(captions: Captions) -> Tokens:
        made = token_vectors(captions, encoder)
        table = pieces.load().weights(encoder.pieces)
        return Tokens(made.sequence, made.offsets, made.rows, table[made.ids])

    return Reader(encoder.digest, read)


def by_words(vectors: WordVectors) -> Reader:
    """Words as a table of word vectors has them; words that it does not have are left out."""

    def read(captions: Captions) -> Tokens:
        table, found = vocabulary_vectors(captions.encoding, vectors)
        weigh = captions.encoding.per_word("rarity", lambda words: np.array([pieces.load().weight(word) for word in words], np.float32))
        first, inverse = captions.unique
        keep = found[captions.tokens]
        starts = captions.token_offsets
        chosen = [captions.tokens[a:b][keep[a:b]] for a, b in zip(starts[first].tolist(), starts[first + 1].tolist())]
        flat = np.concatenate([np.zeros(0, np.int64), *chosen]).astype(np.int64)
        # Each word once, not each time that it is said.
        said, place = np.unique(flat, return_inverse=True)
        rows = table[said]
        rows = (rows / np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-12)[:, None]).astype(np.float16)
        return Tokens(inverse, offsets_of([len(own) for own in chosen]), rows[place], weigh[flat])

    return Reader(f"words {vectors.digest}", read)


class Alignment(NamedTuple):
    """Precision and recall of each pair of candidate and reference, and of each candidate with all its references at once."""

    #: One value per pair (:attr:`captious.corpus.Corpus.pairs`); 0 where either caption is empty.
    precision: FloatArray
    recall: FloatArray
    weighted_precision: FloatArray
    weighted_recall: FloatArray
    #: One value per candidate: each of its tokens with the nearest one in any reference.
    union_precision: FloatArray
    weighted_union_precision: FloatArray
    #: The token that the references support least, as the loss of its match times its weight.
    worst: FloatArray
    #: Each reference's tokens with the nearest in the candidate, weighted by how far the other references have them, too.
    shared_recall: FloatArray


class Agreement(NamedTuple):
    """What the references of each image would score against each other; not a number where there is only one."""

    recall: FloatArray
    weighted_recall: FloatArray
    #: Each reference against all the others at once.
    union_precision: FloatArray
    weighted_union_precision: FloatArray


class _Group(NamedTuple):
    """The tokens of the captions of one image that have any."""

    #: Which of the image's captions they are.
    places: IntArray
    #: Where the tokens of each start.
    starts: IntArray
    lengths: IntArray
    rows: Floats
    weights: Floats
    #: The weights of each caption, summed.
    totals: Floats


def _sequences(captions: Captions, made: Tokens, image: int) -> IntArray:
    """The captions of an image, equal ones with equal numbers."""
    found: IntArray = made.sequence[captions.image_offsets[image] : captions.image_offsets[image + 1]]
    return found


def _group(captions: Captions, made: Tokens, image: int) -> _Group | None:
    sequence = _sequences(captions, made, image)
    lengths = made.offsets[sequence + 1] - made.offsets[sequence]
    places = np.flatnonzero(lengths)
    if not len(places):
        return None
    lengths = lengths[places]
    chosen = [slice(made.offsets[k], made.offsets[k + 1]) for k in sequence[places].tolist()]
    own = np.concatenate([made.weights[part] for part in chosen])
    starts = offsets_of(lengths)[:-1]
    rows = np.concatenate([made.rows[part] for part in chosen]).astype(np.float32)
    return _Group(places, starts, lengths, rows, own, np.maximum(np.add.reduceat(own, starts), np.float32(1e-6)))


def _alone(make: Callable[[], T]) -> T:
    """The products are small: threads would mostly wait for each other."""
    with one_blas_thread():
        return make()


def alignment(corpus: Corpus, reader: Reader) -> Alignment:
    """Align every candidate with its references; kept with the corpus."""
    return corpus.cached(("alignment", reader.digest), lambda: _alone(lambda: _alignment(corpus, reader)))


def _alignment(corpus: Corpus, reader: Reader) -> Alignment:
    candidates, references = corpus.candidates, corpus.references
    ours, theirs = reader.read(candidates), reader.read(references)
    pairs, n = int(corpus.pair_offsets[-1]), len(candidates)
    by_pair = np.zeros((4, pairs))
    by_caption = np.zeros((4, n))
    # A caption of nothing is as wrong as a word that no caption has.
    by_caption[2] = pieces.load().weight("")
    last: tuple[bytes, _Group | None, Floats | None] = (b"-", None, None)
    for image in track(range(candidates.n_images), "aligning tokens", total=candidates.n_images):
        place = int(corpus.images[image])
        # An image that was judged several times stands there as often, with the same references.
        key = _sequences(references, theirs, place).tobytes()
        if key != last[0]:
            group = _group(references, theirs, place)
            last = key, group, None if group is None else group.weights * _support(group)
        a, b, support = _group(candidates, ours, image), last[1], last[2]
        if a is None or b is None or support is None:
            continue
        similar = a.rows @ b.rows.T
        # For each of our tokens the nearest one in each reference; for each of theirs the nearest one in each candidate.
        near = np.maximum.reduceat(similar, b.starts, axis=1)
        found = np.maximum.reduceat(similar, a.starts, axis=0)
        first = int(candidates.image_offsets[image])
        at = corpus.pair_offsets[first + a.places][:, None] + b.places
        by_pair[0, at] = np.add.reduceat(near, a.starts, axis=0) / a.lengths[:, None]
        by_pair[1, at] = np.add.reduceat(found, b.starts, axis=1) / b.lengths
        by_pair[2, at] = np.add.reduceat(near * a.weights[:, None], a.starts, axis=0) / a.totals[:, None]
        by_pair[3, at] = np.add.reduceat(found * b.weights, b.starts, axis=1) / b.totals
        best = near.max(axis=1)
        mine = first + a.places
        by_caption[0, mine] = np.add.reduceat(best, a.starts) / a.lengths
        by_caption[1, mine] = np.add.reduceat(best * a.weights, a.starts) / a.totals
        by_caption[2, mine] = np.maximum.reduceat((1 - best) * a.weights, a.starts)
        by_caption[3, mine] = found @ support / max(float(support.sum()), 1e-6)
    return Alignment(*by_pair, *by_caption)


def _support(group: _Group) -> Floats:
    """How far the other captions of an image have each token: the mean of the best matches there; 1 for a caption alone."""
    if len(group.places) < 2:
        return np.ones(len(group.rows), np.float32)
    near = np.maximum.reduceat(group.rows @ group.rows.T, group.starts, axis=1)
    others = (near.sum(axis=1) - 1.0) / (len(group.places) - 1)
    support: Floats = np.maximum(others, 0.0).astype(np.float32)
    return support


def agreement(references: Captions, reader: Reader) -> Agreement:
    """What references score against each other; kept with them."""
    return references.cached(("alignment of references", reader.digest), lambda: _alone(lambda: _agreement(references, reader)))


def _agreement(references: Captions, reader: Reader) -> Agreement:
    made = reader.read(references)
    table = np.full((4, references.n_images), np.nan)
    known: dict[bytes, int] = {}
    for image in track(range(references.n_images), "aligning references", total=references.n_images):
        first = known.setdefault(_sequences(references, made, image).tobytes(), image)
        if first != image:
            table[:, image] = table[:, first]
            continue
        group = _group(references, made, image)
        if group is None or len(group.places) < 2:
            continue
        count = len(group.places)
        near = np.maximum.reduceat(group.rows @ group.rows.T, group.starts, axis=1)
        own = np.repeat(np.arange(count), group.lengths)
        near[np.arange(len(near)), own] = -np.inf
        best = near.max(axis=1)
        near[np.arange(len(near)), own] = 0.0
        others = near.sum(axis=1) / (count - 1)
        table[0, image] = (np.add.reduceat(others, group.starts) / group.lengths).mean()
        table[1, image] = (np.add.reduceat(others * group.weights, group.starts) / group.totals).mean()
        table[2, image] = (np.add.reduceat(best, group.starts) / group.lengths).mean()
        table[3, image] = (np.add.reduceat(best * group.weights, group.starts) / group.totals).mean()
    return Agreement(*table)
