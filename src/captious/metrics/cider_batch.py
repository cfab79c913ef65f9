"""CIDEr of a small batch against many references: what a training loop asks for at every step.

The measure itself works through tables of whole corpora, which is quick for thousands of captions and slow for a few
hundred. Here one kernel does all for one n: it finds a caption's n-grams among those of the references, weighs them and
compares them. The values are the same, but for single precision in the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.frequencies import DocumentFrequencies, ReferenceFrequencies
from captious.kernels import is_often, kernel
from captious.statistics import FloatArray
from captious.text.ngrams import _MULTIPLIER, BITS

#: Longer captions are left to the tables: a caption's words are compared with each other here.
LONGEST = 200


class Known(NamedTuple):
    """What the references know of n-grams of one length, by open addressing: three views of one table.

    A row has the key (64 bits; 0 is free), the number and the inverse document frequency: finding an n-gram reads memory in one
    place, and waiting for memory is most of the work. For single words the row is the word, and there is no key.
    """

    keys: NDArray[np.uint64]
    numbers: NDArray[np.int32]
    idf: NDArray[np.float32]


@kernel
def batch_products(  # type: ignore[no-untyped-def]
    tokens, offsets, n, words, keys, numbers, idf, multiplier, half, bits, one, unknown,
    r_number, r_weight, r_offsets, r_norm, references, pair_offsets, clip, out,
):  # fmt: skip
    """Add the cosine for one n of each caption with its references to ``out``, one place per pair."""
    longest = 0
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    number = np.empty(longest + 1, np.int32)
    weight = np.empty(longest + 1, np.float64)
    mask = keys.shape[0] - 1
    for i in range(offsets.shape[0] - 1):
        low, high = offsets[i], offsets[i + 1] - n + 1
        found = 0
        squares = 0.0
        for p in range(low, high):
            # Each n-gram counts where it stands first.
            count = 1
            word = tokens[p]
            for q in range(low, high):
                if tokens[q] != word or q == p:
                    continue
                same = True
                for k in range(1, n):
                    if tokens[p + k] != tokens[q + k]:
                        same = False
                        break
                if same:
                    if q < p:
                        count = 0
                        break
                    count += 1
            if count == 0:
                continue
            at = -1
            inside = True
            for k in range(n):
                if tokens[p + k] >= words:
                    inside = False
            if inside and n == 1:
                at = tokens[p]
            elif inside:
                key = np.uint64(tokens[p]) + one
                shift = bits
                for k in range(1, n):
                    key |= (np.uint64(tokens[p + k]) + one) << shift
                    shift += bits
                place = int(((key ^ (key >> half)) * multiplier) >> half) & mask
                while keys[place, 0] != 0:
                    if keys[place, 0] == key:
                        at = place
                        break
                    place = (place + 1) & mask
            if at < 0:
                squares += (count * unknown) ** 2
                continue
            known = numbers[at, 2]
            value = count * idf[at, 3]
            squares += value * value
            number[found] = known
            weight[found] = value
            found += 1
        norm = np.sqrt(squares)
        for p in range(pair_offsets[i], pair_offsets[i + 1]):
            r = references[p]
            first, size = r_offsets[r], r_offsets[r + 1] - r_offsets[r]
            total = 0.0
            # Searching by halves has no branch that cannot be foreseen, which a walk along both lists has.
            for k in range(found if size > 0 else 0):
                wanted = number[k]
                j, left = first, size
                while left > 1:
                    middle = left >> 1
                    j += middle if r_number[j + middle] <= wanted else 0
                    left -= middle
                if r_number[j] == wanted:
                    own = weight[k]
                    if clip and r_weight[j] < own:
                        own = r_weight[j]
                    total += own * r_weight[j]
            if norm * r_norm[r] > 0:
                out[p] += total / (norm * r_norm[r])


def fits(corpus: Corpus, frequencies: DocumentFrequencies) -> bool:
    """Whether a corpus is such a batch, against the references whose counts are the weights."""
    encoding = corpus.candidates.encoding
    return (
        is_often()
        and isinstance(frequencies, ReferenceFrequencies)
        and frequencies.references is corpus.references
        and corpus.references.rows is None
        and corpus.candidates.rows is None
        and encoding.base is corpus.references.encoding
        and int(corpus.candidates.lengths.max(initial=0)) <= LONGEST
    )


def known_ngrams(references: Captions, frequencies: ReferenceFrequencies, n: int) -> Known | None:
    """The references' n-grams, to look up; nothing where they are so many that their keys are hashes."""

    def make() -> Known | None:
        finder = references.encoding.numbered(n).finder
        if finder is not None and not finder.exact:
            return None
        counts = frequencies.all_counts(n).astype(np.float64)
        idf = np.log(float(frequencies.images)) - np.log(np.maximum(1.0, counts))
        table = np.zeros((len(idf) if finder is None else len(finder.places), 2), np.uint64)
        known = Known(table, table.view(np.int32), table.view(np.float32))
        if finder is None:
            known.numbers[:, 2] = np.arange(len(idf))
            known.idf[:, 3] = idf
        else:
            used = np.flatnonzero(finder.places)
            numbers = finder.places[used] - 1
            table[used, 0] = finder.keys[numbers]
            known.numbers[used, 2] = numbers
            known.idf[used, 3] = idf[numbers]
        return known

    return references.cached(("n-grams to look up", frequencies, n), make)


def similarities(corpus: Corpus, known: list[Known], weighted: Sequence[tuple[NDArray[np.int32], FloatArray, NDArray[np.int64], FloatArray]], images: int, *, clip: bool) -> FloatArray:
    """The sum over n of the cosines of each pair."""
    candidates, references = corpus.candidates, corpus.references
    out = np.zeros(int(corpus.pair_offsets[-1]))
    run = batch_products.compiled
    for n, (table, (number, weight, offsets, norm)) in enumerate(zip(known, weighted), start=1):
        run(
            candidates.tokens, candidates.token_offsets, n, len(references.vocabulary), table.keys, table.numbers,
            table.idf, _MULTIPLIER, np.uint64(32), np.uint64(BITS), np.uint64(1), np.log(float(images)),
            number, weight, offsets, norm, corpus.pairs[1], corpus.pair_offsets, clip, out,
        )  # fmt: skip
    return out
