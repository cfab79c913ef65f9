"""Soft alignment of tokens with the nearest token of another caption (as in BERTScore, Zhang et al. 2020).

All captions of an image are compared in one matrix product, or in pieces of it if they are very long. Means
over tokens are plain, or weighted by the rarity of a token in captions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.core.memo import Product
from captious.core.progress import track
from captious.core.ragged import IntArray, offsets_of, runs, stretches
from captious.core.threads import one_blas_thread
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray
from captious.metrics.captions.alignment_kernels import maxima, mutual_means, pair_means
from captious.metrics.captions.encoded_captions import token_vectors
from captious.metrics.captions.vocabulary_vectors import vocabulary_vectors
from captious.vectors import WordVectors
from captious.vectors.sentence_map import SentenceMap
from captious.vectors.sentence_vectors import SentenceEncoder, load_pieces

Floats = NDArray[np.float32]
T = TypeVar("T")

#: Tokens whose vectors are in memory at a time, and products of two of them.
_TOKENS = 1 << 13
_CELLS = 1 << 20


class Tokens(NamedTuple):
    """Captions as sequences of unit vectors with weights. Caption i is the sequence ``sequence[i]``."""

    sequence: IntArray
    offsets: IntArray
    #: Weight of each token, and its row among the vectors.
    weights: Floats
    place: NDArray[np.int32]
    rows: NDArray[np.float16] | Floats
    #: Applied to the rows of some images at a time: rows of all tokens in single precision take much memory.
    map_rows: Callable[[Floats], Floats] | None = None


class Reader(NamedTuple):
    """Function from captions to sequences of vectors, and a digest that identifies it."""

    digest: str
    read: Callable[[Captions], Tokens]


def by_encoder(encoder: SentenceEncoder, own_map: SentenceMap | None = None) -> Reader:
    """Return a reader of word pieces in context, from the last layer of a sentence encoder, mapped or not."""
    map_rows = None if own_map is None else own_map.apply

    def read(captions: Captions) -> Tokens:
        vectors = token_vectors(captions, encoder)
        weights = load_pieces().weights(encoder.pieces)[vectors.ids]
        own_rows = np.arange(len(vectors.ids), dtype=np.int32)
        return Tokens(vectors.sequence, vectors.offsets, weights, own_rows, vectors.rows, map_rows)

    return Reader(encoder.digest + ("" if own_map is None else f" {own_map.digest}"), read)


def by_words(vectors: WordVectors) -> Reader:
    """Return a reader of words by a table of word vectors. Words that the table lacks are left out."""

    def make(captions: Captions) -> Tokens:
        table, has_vector = vocabulary_vectors(captions.encoding, vectors)
        weigh = captions.encoding.per_word(
            "rarity", lambda words: np.array([load_pieces().weight(word) for word in words], np.float32)
        )
        first, inverse = captions.unique
        positions, offsets = runs(captions.token_offsets, first)
        tokens = captions.tokens[positions]
        keep = has_vector[tokens]
        # Each word once, not each of its occurrences.
        said, place = np.unique(tokens[keep], return_inverse=True)
        rows = table[said]
        # Rounded like the encoder's vectors, but stored in single precision for the products: words are few,
        # and tokens many.
        rows = (
            (rows / np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-12)[:, None])
            .astype(np.float16)
            .astype(np.float32)
        )
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
        return Tokens(inverse, before[offsets], weigh[tokens[keep]], place.astype(np.int32), rows)

    return Reader(
        f"words {vectors.digest}",
        lambda captions: captions.cached(("words as tokens", vectors), lambda: make(captions)),
    )


class TokenAlignment(NamedTuple):
    """Precision and recall of each pair, and of each candidate with all its references at once."""

    #: One value per pair (:attr:`captious.corpus.Corpus.pairs`); 0 where either caption is empty.
    precision: FloatArray
    recall: FloatArray
    weighted_precision: FloatArray
    weighted_recall: FloatArray
    #: One value per candidate: each of its tokens with the nearest one in any reference.
    union_precision: FloatArray
    weighted_union_precision: FloatArray
    #: Loss of the match of the least supported token, times its weight.
    worst: FloatArray


class Agreement(NamedTuple):
    """Scores of the references of each image against each other, NaN where there is only one."""

    recall: FloatArray
    weighted_recall: FloatArray
    #: Each reference against all others at once.
    union_precision: FloatArray
    weighted_union_precision: FloatArray


class _Block(NamedTuple):
    """Captions with tokens of some images, and these tokens."""

    #: Numbers of the captions, and their indices within their images.
    captions: IntArray
    places: IntArray
    #: First caption of each image, and first token of each caption.
    first: IntArray
    tokens: IntArray
    rows: Floats
    weights: Floats
    #: Equal for tokens with the same vector.
    vector: NDArray[np.int32]

    @property
    def per_image(self) -> IntArray:
        """Tokens per image."""
        return np.diff(self.tokens[self.first])


def _block(captions: Captions, tokens_of: Tokens, images: IntArray) -> _Block:
    rows, bounds = runs(captions.image_offsets, images)
    sequence = tokens_of.sequence[rows]
    some = tokens_of.offsets[sequence + 1] > tokens_of.offsets[sequence]
    positions, tokens = runs(tokens_of.offsets, sequence[some])
    places = rows - np.repeat(captions.image_offsets[images], np.diff(bounds))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(some)])
    vector = tokens_of.place[positions]
    vectors = tokens_of.rows[vector].astype(np.float32, copy=False)
    return _Block(
        rows[some],
        places[some],
        before[bounds],
        tokens,
        vectors if tokens_of.map_rows is None else tokens_of.map_rows(vectors),
        tokens_of.weights[positions],
        vector,
    )


def _distinct(block: _Block) -> tuple[_Block, IntArray]:
    """Return the same captions with each vector once, and the vector of every token."""
    caption = np.repeat(np.arange(len(block.captions), dtype=np.int64), np.diff(block.tokens))
    _, index, inverse = np.unique(caption << 32 | block.vector, return_index=True, return_inverse=True)
    tokens = np.searchsorted(caption[index], np.arange(len(block.captions) + 1))
    return block._replace(
        tokens=tokens, rows=block.rows[index], weights=block.weights[index], vector=block.vector[index]
    ), inverse


def _blocks(tokens: IntArray, label: str) -> Iterable[tuple[int, int]]:
    """Group images so that the vectors of a group fit into the processor's cache."""
    return track(list(stretches(offsets_of(tokens), _TOKENS)), label)


def _tokens_of(captions: Captions, tokens: Tokens) -> IntArray:
    """Return the tokens of each image."""
    before = offsets_of(np.diff(tokens.offsets)[tokens.sequence])
    return np.diff(before[captions.image_offsets])


class _Matches(NamedTuple):
    """Best matches of two blocks of the same images, and the offsets of each image's matches.

    See :func:`captious.metrics.captions.alignment_kernels.maxima`.
    """

    near_at: IntArray
    back_at: IntArray
    near: Floats
    back: Floats


def _matches(a: _Block, b: _Block) -> _Matches:
    """Return the best matches of all tokens. Repeated words of very long captions are multiplied once."""
    if int((a.per_image * b.per_image).max(initial=0)) <= _CELLS:
        return _multiplied(a, b)
    (few, which), (others, of_them) = _distinct(a), _distinct(b)
    distinct = _multiplied(few, others)
    near = [
        _spread(distinct.near, distinct.near_at, which, few, a, image) for image in range(len(a.first) - 1)
    ]
    back = [
        _spread(distinct.back, distinct.back_at, of_them, others, b, image)
        for image in range(len(a.first) - 1)
    ]
    return _Matches(
        offsets_of([len(part) for part in near]),
        offsets_of([len(part) for part in back]),
        np.concatenate(near),
        np.concatenate(back),
    )


def _spread(values: Floats, at: IntArray, which: IntArray, few: _Block, block: _Block, image: int) -> Floats:
    """Expand an image's matches of distinct vectors to all tokens, a row per caption of the other side."""
    start, end = few.tokens[few.first[image : image + 2]].tolist()
    own = which[slice(*block.tokens[block.first[image : image + 2]])] - start
    rows = (
        values[at[image] : at[image + 1]].reshape(-1, end - start)
        if end > start
        else np.zeros((0, 0), np.float32)
    )
    return rows[:, own].ravel()


def _multiplied(a: _Block, b: _Block) -> _Matches:
    """Multiply the tokens of each image, piece by piece, and return the best matches."""
    ours, theirs = a.per_image, b.per_image
    near_at, back_at = offsets_of(ours * np.diff(b.first)), offsets_of(np.diff(a.first) * theirs)
    near, back = np.zeros(near_at[-1], np.float32), np.full(back_at[-1], -np.inf, np.float32)
    products = np.empty(max(_CELLS, int(theirs.max(initial=0))), np.float32)
    items: list[tuple[int, int, int, int]] = []
    used = 0

    def reduce() -> None:
        if items:
            maxima(
                products,
                np.array(items, np.int64),
                a.first,
                a.tokens,
                b.first,
                b.tokens,
                near_at,
                back_at,
                near,
                back,
            )
            items.clear()

    a_bounds, b_bounds = a.tokens[a.first].tolist(), b.tokens[b.first].tolist()
    for image, (low, high, start, end) in enumerate(zip(a_bounds, a_bounds[1:], b_bounds, b_bounds[1:])):
        width = end - start
        step = max(_CELLS // width, 1) if width else high - low + 1
        for t in range(low, high if width else low, step):
            stop = min(t + step, high)
            size = (stop - t) * width
            if used + size > len(products):
                reduce()
                used = 0
            np.matmul(
                a.rows[t:stop], b.rows[start:end].T, out=products[used : used + size].reshape(stop - t, width)
            )
            items.append((image, t, stop, used))
            used += size
    reduce()
    return _Matches(near_at, back_at, near, back)


def _alone(make: Callable[[], T]) -> T:
    """Limit products to one thread. They are small, and threads would mostly wait for each other."""
    with one_blas_thread():
        return make()


def alignment(corpus: Corpus, reader: Reader) -> TokenAlignment:
    """Return the alignment of every candidate with its references, cached with the corpus."""
    return corpus.cached(("alignment", reader.digest), lambda: _alone(lambda: _alignment(corpus, reader)))


def _alignment(corpus: Corpus, reader: Reader) -> TokenAlignment:
    candidates, references = corpus.candidates, corpus.references
    ours, theirs = reader.read(candidates), reader.read(references)
    by_pair = np.zeros((4, int(corpus.pair_offsets[-1])))
    by_caption = np.zeros((3, len(candidates)))
    # An empty caption is as wrong as a word that no caption has.
    by_caption[2] = load_pieces().weight("")
    sizes = _tokens_of(candidates, ours) + _tokens_of(references, theirs)[corpus.images]
    for low, high in _blocks(sizes, "aligning tokens"):
        a, b = (
            _block(candidates, ours, np.arange(low, high, dtype=np.int64)),
            _block(references, theirs, corpus.images[low:high]),
        )
        matches = _matches(a, b)
        room = np.empty(max(len(a.weights), len(b.weights), 1), np.float32)
        pair_means(
            a.first,
            a.tokens,
            a.weights,
            corpus.pair_offsets[a.captions],
            b.first,
            b.tokens,
            b.weights,
            b.places,
            *matches,
            room,
            by_pair,
            by_caption,
            a.captions,
        )
    return TokenAlignment(*by_pair, *by_caption)


def shared_recall(corpus: Corpus, reader: Reader) -> FloatArray:
    """Return each candidate's recall, with tokens weighted by their support in the other references."""
    return _alone(lambda: _shared_recall(corpus, reader))


def _shared_recall(corpus: Corpus, reader: Reader) -> FloatArray:
    candidates, references = corpus.candidates, corpus.references
    ours, theirs = reader.read(candidates), reader.read(references)
    values = np.zeros(len(candidates))
    sizes = _tokens_of(candidates, ours) + _tokens_of(references, theirs)[corpus.images]
    for low, high in _blocks(sizes, "aligning tokens"):
        a, b = (
            _block(candidates, ours, np.arange(low, high, dtype=np.int64)),
            _block(references, theirs, corpus.images[low:high]),
        )
        matches, among = _matches(a, b), _matches(b, b)
        for image in range(high - low):
            mine, count = (
                a.captions[a.first[image] : a.first[image + 1]],
                int(b.first[image + 1] - b.first[image]),
            )
            if not len(mine) or not count:
                continue
            support = b.weights[slice(*b.tokens[b.first[image : image + 2]])].copy()
            if count > 1:
                # Support of each token: the mean of its best matches in the other captions.
                near = np.ascontiguousarray(
                    among.near[slice(*among.near_at[image : image + 2])].reshape(count, -1).T
                )
                support *= np.maximum((near.sum(axis=1) - 1.0) / (count - 1), 0.0).astype(np.float32)
            back = matches.back[slice(*matches.back_at[image : image + 2])].reshape(len(mine), -1)
            values[mine] = back @ support / max(float(support.sum()), 1e-6)
    return values


_AGREEMENT: Product[Agreement] = Product(
    "alignment of references",
    lambda scores: scores._asdict(),
    lambda arrays: Agreement(**{name: arrays[name] for name in Agreement._fields}),
)


def agreement(references: Captions, reader: Reader) -> Agreement:
    """Return the scores of references against each other, cached with them."""
    return references.product(
        _AGREEMENT,
        (reader.digest, load_pieces().digest),
        lambda: _alone(lambda: _agreement(references, reader)),
    )


def _agreement(references: Captions, reader: Reader) -> Agreement:
    tokens = reader.read(references)
    table = np.full((4, references.n_images), np.nan)
    # An image that was judged several times occurs as often, with the same references.
    first_image: dict[bytes, int] = {}
    bounds = references.image_offsets.tolist()
    first = np.array(
        [
            first_image.setdefault(tokens.sequence[a:b].tobytes(), image)
            for image, (a, b) in enumerate(pairwise(bounds))
        ],
        np.int64,
    )
    images = np.unique(first)
    for low, high in _blocks(_tokens_of(references, tokens)[images], "aligning references"):
        some = images[low:high]
        block = _block(references, tokens, some)
        matches = _matches(block, block)
        most_tokens, most_captions = (
            int(block.per_image.max(initial=1)),
            int(np.diff(block.first).max(initial=1)),
        )
        mutual_means(
            block.first,
            block.tokens,
            block.weights,
            matches.near_at,
            matches.near,
            np.empty(most_tokens, np.float32),
            np.empty(most_tokens, np.float32),
            np.empty(most_captions, np.float32),
            np.empty(most_captions),
            np.empty(most_captions, np.float32),
            some,
            table,
        )
    return Agreement(*table[:, first])
