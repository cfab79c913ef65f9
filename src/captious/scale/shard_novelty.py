"""N-gram novelty: what share of a caption's n-grams a training set does not have, by a filter of hashes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from captious.core.errors import InputError, MissingInputError
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Need, Resource, as_statistics
from captious.metrics.corpus.corpus_measure import word_keys
from captious.scale.sketches import Bloom, Keys, mixed
from captious.text.ngrams import ngram_positions

MAX_N = 4


def gram_keys(captions: Captions, n: int) -> tuple[Keys, Any]:
    """A key for every n-gram where it stands, made from the words themselves, and where each caption's run of
    them starts.
    """
    positions, starts = ngram_positions(captions.token_offsets, n)
    words = word_keys(captions)[captions.tokens]
    keys = np.full(len(positions), n, dtype=np.uint64)
    for k in range(n):
        keys = mixed(keys ^ words[positions + k], k)
    return keys, starts


class SeenNgrams:
    """The n-grams of training captions, as a resource."""

    label = "training"

    def __init__(self, bloom: Bloom) -> None:
        self.bloom = bloom

    @property
    def digest(self) -> str:
        return str(self.bloom.meta.get("digest") or self.bloom.digest)


class NgramNovelty(Measure):
    """The share of a caption's n-grams that are not in the training captions.

    A false find of the filter makes a new n-gram look old, so that the share comes out too low by the factor
    1 − rate; it is never too high. Captions of fewer than n words have none.
    """

    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False

    def __init__(self, n: int, filter: str | Path | None) -> None:
        self.n = n
        self.name = f"Novel-{n}"
        self.summary = f"share of a caption's {n}-grams that the training captions do not have"
        self.seen = SeenNgrams(Bloom.load(filter)) if filter is not None else None

    def check(self, corpus: Corpus | None = None) -> None:
        if self.seen is None:
            raise MissingInputError(
                f"{self.name} compares captions with the training captions: give them (--train FILE, train=…)"
            )
        if corpus is not None and corpus.tokenizer != self.seen.bloom.meta.get("tokenizer"):
            raise InputError(
                f"the filter was made with the tokenizer '{self.seen.bloom.meta.get('tokenizer')}', and the "
                f"captions with '{corpus.tokenizer}'"
            )

    @property
    def fixed(self) -> Mapping[str, str]:  # type: ignore[override]
        return {"n": str(self.n), "false": f"{self.seen.bloom.rate:g}" if self.seen is not None else "–"}

    def resources(self) -> dict[str, Resource]:
        return {} if self.seen is None else {"train": self.seen}

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        assert self.seen is not None
        captions = corpus.candidates
        keys, starts = gram_keys(captions, self.n)
        old = np.concatenate([[0], np.cumsum(self.seen.bloom.has(keys))])
        counts = np.diff(starts)
        new = counts - (old[starts[1:]] - old[starts[:-1]])
        return as_statistics(np.divide(new, counts, out=np.full(len(counts), np.nan), where=counts > 0))
